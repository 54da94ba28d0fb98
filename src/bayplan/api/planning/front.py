"""The front: what could be gained with few moves, and with more, each point from the one before."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bayplan.api.planning.question import PlanQuestion
from bayplan.api.planning.target import best_target, rank
from bayplan.model import Budget, Placement, Progress, Tick
from bayplan.search.anneal import search

SHARES = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5)  # of the containers that run
WARM = 0.4  # of the time of a point, for the search from the point before


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrontTarget:
    """The best placement found within a limit of moves."""

    limit: int
    placement: Placement


def front_targets(
    question: PlanQuestion, limits: Sequence[int], *, budget: Budget, seed: int, progress: Progress
) -> list[FrontTarget]:
    """One target for each limit, none worse than the one before it."""
    targets: list[FrontTarget] = []
    each = budget.share(1.0 / max(1, len(limits)))
    for number, limit in enumerate(limits):
        problem = question.within(limit)
        candidates = [best_target(problem, budget=each.share(1.0 - WARM if targets else 1.0), seed=seed)]
        if targets:
            last = targets[-1].placement
            warm = search(replace(problem, start=last), budget=each.share(WARM), seed=seed)
            candidates += [warm, last]
        targets.append(FrontTarget(limit=limit, placement=min(candidates, key=lambda each: rank(problem, each))))
        progress(Tick(stage=f"front: {limit:,} moves", done=(number + 1) / len(limits)))
    return targets


def front_limits(running: int, also: Sequence[int] = ()) -> list[int]:
    """Numbers of moves, ascending: shares of what runs, and those that are asked for."""
    return sorted({max(1, int(share * running)) for share in SHARES if running} | {limit for limit in also if limit > 0})
