"""Admit a stream: read it, ask a method, compare with what is proven, write who was let in and where."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bayplan.api.admit_refusals import Refusals, refusals
from bayplan.api.admit_use import UseOverTime, use_over_time
from bayplan.api.decide import chosen
from bayplan.decide.admit import ADMITTERS, Admission, AdmitOptions, admit_stream
from bayplan.decide.admit.offline import offline_bound
from bayplan.decide.admit.one_shot import ONE_SHOTS
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotOptions
from bayplan.decide.admit.parameters import LIVE
from bayplan.errors import UsageError
from bayplan.formats.solutions import write_accepted
from bayplan.formats.streams import Stream, read_stream
from bayplan.model import Acceptance, Budget, Clock, ClusterRequests, Progress, Result, Status
from bayplan.model.interrupt import stoppable
from bayplan.model.result import OPTIMAL_GAP

EACH_REQUEST = 2e-5  # seconds to judge it, to count what it takes and to write it
PRICED = ("learned", "primal-dual", "swmoa")  # methods that have prices
AT_LEAST, AT_MOST = 0.05, 0.25  # seconds that this takes in any case; share of a user's seconds that is kept for it


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitWishes:
    """As they stand on the command line; None: not said."""

    method: str = "learned"
    oneshot: str | None = None
    value_ratio: float | None = None
    alpha: float | None = None
    slot: float = 1.0
    slots: int | None = None
    epsilon: float | None = None
    samples: int | None = None
    literal: bool = False
    bound: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Admitted:
    """What became of a stream."""

    stream: Stream
    options: AdmitOptions
    result: Result[Acceptance]
    admission: Admission | None  # as it is at the end of the stream; None if the method does not go through it
    use: UseOverTime
    refusals: Refusals
    interrupted: bool

    @property
    def requests(self) -> ClusterRequests:
        """All that were offered."""
        return self.stream.admission

    @property
    def accepted(self) -> int:
        """How many were let in."""
        return 0 if self.result.solution is None else len(self.result.solution.accepted)

    @property
    def offered_value(self) -> float:
        """Of all requests together."""
        return sum(request.value for request in self.requests.requests)

    @property
    def ratio(self) -> float | None:
        """The proven bound by the value accepted: the best possible is at most so many times as good."""
        value, bound = self.result.score.get("value", 0.0), self.result.bound
        return None if bound is None or not value else bound / value


def options_of(wishes: AdmitWishes) -> AdmitOptions:
    """The wishes as the methods take them; UsageError if one makes no sense, or would have no effect."""
    chosen(ADMITTERS, wishes.method)
    oneshot = "local" if wishes.oneshot is None else wishes.oneshot
    if oneshot not in ONE_SHOTS:
        raise UsageError(f"no one-shot method '{oneshot}'; expected one of {', '.join(ONE_SHOTS)}")
    for option, said, least, takes in _ranges(wishes):
        if said is not None and not least <= said < float("inf"):
            raise UsageError(f"--{option} {said:g}: expected a number of {least:g} or more")
        if said is not None and not takes:
            raise UsageError(f"--{option} has no effect on --method {wishes.method} with --oneshot {oneshot}")
    if not 0 < wishes.slot < float("inf"):
        raise UsageError(f"--slot {wishes.slot:g}: expected a length above 0")
    if wishes.epsilon is not None and wishes.epsilon == 0:
        raise UsageError("--epsilon 0: expected a number above 0")
    if wishes.oneshot is not None and wishes.method in ("available", "offline"):
        raise UsageError(f"--oneshot has no effect on --method {wishes.method}, which places requests in its own way")
    if wishes.literal and wishes.method not in PRICED:
        raise UsageError(f"--literal has no effect on --method {wishes.method}, which has no prices")
    placing = OneShotOptions(samples=wishes.samples)
    if wishes.epsilon is not None:
        placing = replace(placing, epsilon=wishes.epsilon)
    return AdmitOptions(
        one_shot=oneshot,
        one_shot_options=placing,
        value_ratio=wishes.value_ratio,
        alpha=wishes.alpha,
        slot=wishes.slot,
        slots=wishes.slots,
        literal=wishes.literal,
    )


def _ranges(wishes: AdmitWishes) -> tuple[tuple[str, float | None, float, bool], ...]:
    """Option, what was said, the least that makes sense, and has it an effect here?"""
    method, sampling = wishes.method, wishes.oneshot == "sampling"
    return (
        ("value-ratio", wishes.value_ratio, 1, method in PRICED),
        ("alpha", wishes.alpha, 1, method == "primal-dual"),
        ("slots", wishes.slots, 1, method == "swmoa"),
        ("samples", wishes.samples, 1, sampling),
        ("epsilon", wishes.epsilon, 0, sampling),
    )


def load(file: Path, zones: Path | None = None, *, keep_going: bool = False) -> Stream:
    """The stream in a file; with `keep_going`, without the requests that have faults."""
    return read_stream(file, zones=zones, keep_going=keep_going)


def budget_for(stream: Stream, *, seconds: float, used: float) -> Budget:
    """What a method may use of a user's seconds: those that are left, less what it takes to judge and write the answer."""
    finish = min(AT_LEAST + EACH_REQUEST * len(stream.admission.requests), AT_MOST * seconds)
    return Budget(seconds=max(0.0, seconds - used - finish))


def admit(
    stream: Stream, wishes: AdmitWishes, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress
) -> Admitted:
    """The answer of a method, judged. Ctrl-C asks it to stop: what was decided so far counts, the others are not looked at."""
    clock = budget.clock()
    with stoppable() as stop:
        result, admission = _asked(stream.admission, wishes.method, options, budget=budget, seed=seed, progress=progress)
        if wishes.bound and result.bound is None and not stop.requested:
            result = _bounded(stream.admission, result, clock, seed=seed, progress=progress)
        interrupted = stop.requested
    acceptance = result.solution or Acceptance(zone_of=(None,) * len(stream.admission.requests))
    return Admitted(
        stream=stream,
        options=options,
        result=result,
        admission=admission,
        use=use_over_time(stream.admission, acceptance, options.slot),
        refusals=refusals(stream.admission, result.left_out),
        interrupted=interrupted,
    )


def _asked(
    requests: ClusterRequests, method: str, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress
) -> tuple[Result[Acceptance], Admission | None]:
    """Every method's answer has been judged by the referee before it comes back."""
    if method in LIVE:
        return admit_stream(requests, options, method, budget=budget, seed=seed, progress=progress)
    return ADMITTERS[method](requests, options, budget=budget, seed=seed, progress=progress), None


def _bounded(
    requests: ClusterRequests, result: Result[Acceptance], clock: Clock, *, seed: int, progress: Progress
) -> Result[Acceptance]:
    """The result with a proven bound: no choice is worth more, even if all requests were known from the start."""
    left = None if clock.budget.seconds is None else max(0.0, clock.budget.seconds - clock.seconds)
    value = result.score["value"]
    bound = max(value, offline_bound(requests, budget=Budget(seconds=left), seed=seed, progress=progress))  # rounding
    best = bound - value <= OPTIMAL_GAP * max(1.0, value)
    return replace(result, bound=bound, status=Status.OPTIMAL if best else result.status)


def admit_object(admitted: Admitted) -> Mapping[str, Any]:
    """What `admit` says as JSON beside what every decision says."""
    use, parameters = admitted.use, None if admitted.admission is None else admitted.admission.parameters
    return {
        "requests": len(admitted.requests.requests),
        "accepted": admitted.accepted,
        "refused": len(admitted.requests.requests) - admitted.accepted,
        "skipped": admitted.stream.skipped,
        "offered_value": admitted.offered_value,
        "ratio": admitted.ratio,
        "parameters": parameters,
        "utilisation": {name: {"mean": mean, "peak": peak} for name, mean, peak in use.totals()},
        "refusals": admitted.refusals.groups,
    }


def write_acceptance(admitted: Admitted, out: Path | None) -> None:
    """Write who was let in, and where each member runs."""
    if out is not None and admitted.result.solution is not None:
        write_accepted(out, admitted.result.solution, admitted.requests)
