"""`offline`: the best answer to a stream that is known from the start, proven where the budget allows."""

from collections.abc import Callable, Sequence

from bayplan.decide.admit.answer import admitted
from bayplan.decide.admit.causes import Cause, Kind, Refusal
from bayplan.decide.admit.offline.ground import ground_of
from bayplan.decide.admit.offline.search import Search
from bayplan.decide.admit.signature import AdmitOptions
from bayplan.model import Acceptance, Budget, ClusterRequests, Progress, Result, silent
from bayplan.model.interrupt import stoppable


def offline(
    stream: ClusterRequests, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Acceptance]:
    """The most value that can be accepted (IP (1) of 001), all requests known from the start, with a bound in any case.

    Insertion, then column generation on the compact-exponential program (2), then the columns in whole numbers; where the plans
    that can be part of a better answer are few, all of them, which proves the optimum. Times are taken as they are, not in slots.
    """
    clock = budget.clock()
    with stoppable() as stop:
        search = Search(ground_of(stream), clock, stop, seed=seed, progress=progress)
        search.insert()
        _take(search, (search.improve, search.generate, search.choose, search.prove, search.improve))
    return admitted(stream, search.load.zone_of, left_out=_refusals(search), bound=search.bound, seconds=clock.seconds)


def offline_bound(stream: ClusterRequests, *, budget: Budget = Budget(), seed: int = 0, progress: Progress = silent) -> float:
    """No answer to the stream is worth more: proven. Any number of requests; the longer it may take, the closer it is."""
    with stoppable() as stop:
        search = Search(ground_of(stream), budget.clock(), stop, seed=seed, progress=progress, only_bound=True)
        steps = (search.insert, search.generate, search.choose, search.prove)
        _take(search, steps if search.few else ())
    return search.bound


def _take(search: Search, steps: Sequence[Callable[[], None]]) -> None:
    for step in steps:
        if not search.over:
            step()


def _refusals(search: Search) -> tuple[Refusal, ...]:
    requests, left = search.ground.stream.requests, [i for i, zone in enumerate(search.load.zone_of) if zone is None]
    kinds = [_kind(search, i) for i in left]
    return tuple(Refusal(requests[i].name, kind, Cause(kind=kind)) for i, kind in zip(left, kinds, strict=True))


def _kind(search: Search, i: int) -> Kind:
    if search.worth[i] > 0:
        return Kind.NOT_CHOSEN
    return Kind.ALONE if search.ground.value[i] > 0 else Kind.WORTHLESS
