"""Admitters that see one request at a time: a whole stream through a live `Admission`."""

from typing import NamedTuple

from bayplan.decide.admit.admission import Admission
from bayplan.decide.admit.answer import admitted
from bayplan.decide.admit.causes import Cause, Kind, Refusal
from bayplan.decide.admit.signature import AdmitOptions
from bayplan.errors import InputError
from bayplan.model import Acceptance, Budget, ClusterRequest, ClusterRequests, IntArray, Progress, Result, Tick
from bayplan.model.interrupt import stoppable

FITS_NOWHERE = "E2005"
TICKS = 100  # steps of the progress bar


def primal_dual(
    stream: ClusterRequests, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Acceptance]:
    """001 Algorithm 4: prices lambda^(load / capacity) - 1, accept if value - cost / alpha > 0.

    Beyond it: members go where there is room (unless `literal`), and what does not fit in every slot is refused, whatever its
    size; the proof that nothing ever does needs small requests.
    """
    return run(stream, options, "primal-dual", budget=budget, seed=seed, progress=progress).result


def learned(
    stream: ClusterRequests, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Acceptance]:
    """Beyond 001: Algorithm 4 with the alpha that has earned most in rehearsals of the stream so far."""
    return run(stream, options, "learned", budget=budget, seed=seed, progress=progress).result


def available(
    stream: ClusterRequests, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Acceptance]:
    """A_r of 001 section VI: whatever fits is let in, in the first placement found, zones in their order."""
    return run(stream, options, "available", budget=budget, seed=seed, progress=progress).result


def swmoa(stream: ClusterRequests, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Acceptance]:
    """SWMOA, which 001 compares with but does not define; reconstructed as Algorithm 4 with base 2 (|M| T U + 1) and alpha 1."""
    return run(stream, options, "swmoa", budget=budget, seed=seed, progress=progress).result


class Run(NamedTuple):
    """The answer, and the admission at the end of the stream: its prices, parameters and what still runs."""

    result: Result[Acceptance]
    admission: Admission


def run(stream: ClusterRequests, options: AdmitOptions, method: str, *, budget: Budget, seed: int, progress: Progress) -> Run:
    """A stream through a live admission. A budget is of requests looked at; the others are refused, and it is said that so."""
    clock, admission = budget.clock(), Admission(stream.zones, options, method, seed)
    zone_of: list[IntArray | None] = []
    refused: list[Refusal] = []
    total = len(stream.requests)
    with stoppable() as stop:
        for number, request in enumerate(stream.requests):
            if stop.requested or clock.expired(number):
                kind = Kind.STOPPED if stop.requested else Kind.OUT_OF_BUDGET
                refused += [Refusal(left.name, kind, Cause(kind=kind)) for left in stream.requests[number:]]
                break
            if number % max(1, total // TICKS) == 0:
                progress(Tick(stage="admitting", done=number / total, score=admission.value))
            answer = _asked(admission, request)
            zone_of.append(None if isinstance(answer, Refusal) else answer)
            if isinstance(answer, Refusal):
                refused.append(answer)
    zone_of += [None] * (total - len(zone_of))
    result = admitted(stream, zone_of, left_out=tuple(refused), seconds=clock.seconds)
    return Run(result, admission)


def _asked(admission: Admission, request: ClusterRequest) -> IntArray | Refusal:
    """Its zones, or why it is refused. In a stream a member that fits nowhere is a reason, not a fault of the file."""
    try:
        verdict = admission.offer(request)
    except InputError as error:
        if any(fault.code != FITS_NOWHERE for fault in error.faults):
            raise
        admission.advance(request.arrival)
        fault = error.faults[0]
        return Refusal(request.name, f"{fault.problem} ({fault.value}; {fault.expected})", Cause(kind=Kind.TOO_LARGE))
    if verdict.zone is not None:
        return verdict.zone
    assert verdict.cause is not None
    return Refusal(request.name, verdict.why, verdict.cause)
