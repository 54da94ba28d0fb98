"""The project's own search, in the form that every way to rebalance has."""

import time

from bayplan.decide.rebalance.options import RebalanceOptions
from bayplan.model import Budget, Placement, Progress, Result
from bayplan.model.problem import Problem
from bayplan.search.answer import answer


def search(problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The best placement of the search over all objective terms and rules. `options` are the published method's, not read."""
    from bayplan.search import drive

    started = time.perf_counter()
    placement = drive.search(problem, budget=budget, seed=seed, progress=progress)
    return answer(problem, placement, seconds=time.perf_counter() - started)
