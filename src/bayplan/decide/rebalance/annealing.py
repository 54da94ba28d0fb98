"""The project's own search, as a method to rebalance."""

import time

from bayplan.decide.rebalance.options import RebalanceOptions
from bayplan.model import Budget, Placement, Progress, Result
from bayplan.model.problem import Problem
from bayplan.search.answer import answer


def search(problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The best placement of the search over all objective terms and rules. It reads none of the `options`."""
    from bayplan.search import anneal

    started = time.perf_counter()
    placement = anneal.search(problem, budget=budget, seed=seed, progress=progress)
    return answer(problem, placement, seconds=time.perf_counter() - started)
