"""The front: what could be gained with few moves, and with more.

First every point is decided on by itself; these are independent jobs. Then every point but the first is searched again from the
best of those before it, which are within its limit, too: independent jobs once more. At last each point is handed on to the next
one, so that none is worse than the one before it. With a budget of iterations the front is the same on every engine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bayplan.api.planning.plan_jobs import PlanJobs
from bayplan.api.planning.question import PlanQuestion
from bayplan.api.planning.target import Rank, best_target, rank, with_new_containers
from bayplan.engine import Job, Shared
from bayplan.engine.job_limits import JobLimits, equal_shares
from bayplan.model import Budget, Placement, Progress, Tick, ints
from bayplan.model.interrupt import stop_requested
from bayplan.model.problem import Problem
from bayplan.search.anneal import search

SHARES = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5)  # of the containers that run
ALONE = 0.6  # of the time, for points by themselves; what remains is for the searches from points before


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrontTarget:
    """The best placement found within a limit of moves."""

    limit: int
    placement: Placement


def front_targets(
    question: PlanQuestion,
    limits: Sequence[int],
    *,
    budget: Budget,
    seed: int,
    progress: Progress,
    jobs: PlanJobs | None = None,
) -> list[FrontTarget]:
    """One target for each limit, ascending; none is worse than the one before it. `jobs`: where they run, if not here.

    Points that are missing because of a stop, the end of the time or a lost engine are those before them.
    """
    front = _Front(question, limits, budget, seed, progress, jobs or PlanJobs())
    with front.jobs.engine:
        front.search(dict.fromkeys(range(len(limits))), ALONE)
        if len(limits) > 1 and not stop_requested():
            best = front.best()
            front.search({n: best[n - 1].placement.machine_of.astype(np.int32) for n in range(1, len(limits))}, 1.0)
    return [FrontTarget(limit=limit, placement=each.placement) for limit, each in zip(limits, front.best(), strict=True)]


def front_limits(running: int, also: Sequence[int] = ()) -> list[int]:
    """Numbers of moves, ascending: shares of what runs, and those that are asked for."""
    return sorted({max(1, int(share * running)) for share in SHARES if running} | {limit for limit in also if limit > 0})


Machines = npt.NDArray[np.int32]  # (container,)


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    rank: Rank
    placement: Placement


class _Front:
    """What was found for each limit so far."""

    def __init__(
        self, question: PlanQuestion, limits: Sequence[int], budget: Budget, seed: int, progress: Progress, jobs: PlanJobs
    ) -> None:
        self.question, self.limits, self.seed, self.progress, self.jobs = question, limits, seed, progress, jobs
        self.clock, self.shared = budget.clock(), Shared(question.problem)
        self.own: dict[int, list[_Point]] = {n: [] for n in range(len(limits))}
        self.still = self._point(with_new_containers(question.within(limits[0]) if limits else question.problem, seed))

    def best(self) -> list[_Point]:
        """The best point of each limit, none worse than the one before it."""
        best: list[_Point] = []
        for n in range(len(self.limits)):
            before = best[-1:] or ([] if self.own[n] else [self.still])
            best.append(min([*self.own[n], *before], key=lambda each: each.rank))
        return best

    def search(self, start_of: Mapping[int, Machines | None], end: float) -> None:
        """Search points, each by itself or from a start, until this share of the time is over."""
        shares, numbers = equal_shares(len(start_of), self.clock, end), list(start_of)

        def jobs() -> Iterator[Job[Machines]]:
            for position, n in enumerate(numbers):
                moves = self.question.within(self.limits[n]).max_moves
                arguments = (self.shared, moves, start_of[n], shares.of(position, self.jobs.slots), self.seed)
                yield Job(name=f"front: {self.limits[n]:,} moves", call=front_point, arguments=arguments)

        first = end < 1.0
        for done, (position, machines) in enumerate(self.jobs.stream(jobs(), seconds=shares.late), start=1):
            n = numbers[position]
            self.own[n].append(self._point(Placement(machine_of=ints(machines))))
            share = ALONE * done / len(numbers) if first else ALONE + (1.0 - ALONE) * done / len(numbers)
            self.progress(Tick(stage=f"front: {self.limits[n]:,} moves", done=share))

    def _point(self, placement: Placement) -> _Point:
        return _Point(rank(self.question.problem, placement), placement)


def front_point(problem: Problem, moves: int, start: Machines | None, limits: JobLimits, seed: int) -> Machines:
    """(container,) the best machines found within a number of moves, by itself or from a start that is within them."""
    within = replace(problem, max_moves=moves)
    if start is None:
        placement = best_target(within, budget=limits.budget, seed=seed)
    else:
        placement = search(
            replace(within, start=Placement(machine_of=ints(start))), budget=limits.budget, seed=seed, further=True
        )
    return placement.machine_of.astype(np.int32)
