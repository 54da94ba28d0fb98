"""Admitters that decide on one request at a time: a whole stream through a live `Admission`."""

from typing import NamedTuple

from bayplan.decide.admit.admission import Admission
from bayplan.decide.admit.decision import Refusal, RefusalCause, RefusalKind, admission_result
from bayplan.decide.admit.options import AdmitOptions
from bayplan.errors import InputError
from bayplan.model import Acceptance, Budget, ClusterRequest, ClusterRequests, IntArray, Progress, Result, Tick
from bayplan.model.interrupt import stoppable

FITS_NOWHERE = "E2005"
TICKS = 100  # steps of the progress bar


def primal_dual(
    stream: ClusterRequests, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Acceptance]:
    """[Online clusters] Algorithm 4: prices lambda^(load / capacity) - 1, accept if value - cost / alpha > 0.

    Beyond it: members go where capacity is free (unless `literal`), and a request that does not fit in every slot is refused,
    whatever its size; the paper's proof that this never happens needs small requests.
    """
    return admit_stream(stream, options, "primal-dual", budget=budget, seed=seed, progress=progress).result


def learned(
    stream: ClusterRequests, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Acceptance]:
    """Beyond [Online clusters]: Algorithm 4 with the alpha that has earned most in rehearsals of the stream so far."""
    return admit_stream(stream, options, "learned", budget=budget, seed=seed, progress=progress).result


def available(
    stream: ClusterRequests, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Acceptance]:
    """A_r of [Online clusters] §VI: every request that fits is accepted, in the first placement found, zones in their order."""
    return admit_stream(stream, options, "available", budget=budget, seed=seed, progress=progress).result


def swmoa(stream: ClusterRequests, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Acceptance]:
    """SWMOA, a baseline that [Online clusters] does not define; reconstructed: Algorithm 4, base 2 (|M| T U + 1), alpha 1."""
    return admit_stream(stream, options, "swmoa", budget=budget, seed=seed, progress=progress).result


class AdmissionRun(NamedTuple):
    """The result, and the admission at the end of the stream: its prices, parameters and running requests."""

    result: Result[Acceptance]
    admission: Admission


def admit_stream(
    stream: ClusterRequests, options: AdmitOptions, method: str, *, budget: Budget, seed: int, progress: Progress
) -> AdmissionRun:
    """A stream through a live admission. The budget limits the requests examined; the others are refused for that reason."""
    clock, admission = budget.clock(), Admission(stream.zones, options, method, seed)
    zone_of: list[IntArray | None] = []
    refused: list[Refusal] = []
    total = len(stream.requests)
    with stoppable() as stop:
        for number, request in enumerate(stream.requests):
            if stop.requested or clock.expired(number):
                kind = RefusalKind.STOPPED if stop.requested else RefusalKind.OUT_OF_BUDGET
                refused += [Refusal(unseen.name, kind, RefusalCause(kind=kind)) for unseen in stream.requests[number:]]
                break
            if number % max(1, total // TICKS) == 0:
                progress(Tick(stage="admitting", done=number / total, score=admission.value))
            zone = _offer(admission, request)
            zone_of.append(None if isinstance(zone, Refusal) else zone)
            if isinstance(zone, Refusal):
                refused.append(zone)
    zone_of += [None] * (total - len(zone_of))
    result = admission_result(stream, zone_of, left_out=tuple(refused), seconds=clock.seconds)
    return AdmissionRun(result, admission)


def _offer(admission: Admission, request: ClusterRequest) -> IntArray | Refusal:
    """Its zones, or why it is refused. In a stream a member that fits nowhere is a reason to refuse, not an input error."""
    try:
        decision = admission.offer(request)
    except InputError as error:
        if any(fault.code != FITS_NOWHERE for fault in error.faults):
            raise
        admission.advance(request.arrival)
        fault = error.faults[0]
        return Refusal(
            request.name, f"{fault.problem} ({fault.value}; {fault.expected})", RefusalCause(kind=RefusalKind.TOO_LARGE)
        )
    if decision.zone is not None:
        return decision.zone
    assert decision.cause is not None
    return Refusal(request.name, decision.why, decision.cause)
