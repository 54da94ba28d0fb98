"""A method to rebalance, walked from several starts that exchange what they have found."""

from dataclasses import replace
from functools import partial

from bayplan.decide.rebalance.baselines import nls
from bayplan.decide.rebalance.options import RebalanceOptions, Rebalancer
from bayplan.decide.rebalance.sweep_search import sweep_search
from bayplan.model import Budget, Placement, Progress, Result, silent
from bayplan.model.problem import Problem
from bayplan.search import anneal
from bayplan.search.answer import answer
from bayplan.search.multi_start import StartSettings, search_from_starts

SEARCH = "search"
OTHERS: dict[str, Rebalancer] = {"sweep-search": sweep_search, "nls": nls}  # draw random numbers, and go on from any start
KNOW_STARTS = (SEARCH, *OTHERS)  # `greedy` draws none: all of its walks would be the same


def rebalance_from_starts(
    problem: Problem,
    options: RebalanceOptions,
    *,
    method: str,
    settings: StartSettings,
    budget: Budget,
    seed: int,
    progress: Progress,
) -> Result[Placement]:
    """The answer of a method of `KNOW_STARTS` from several starts; an iteration is one of each walk."""
    clock, walk = budget.clock(), partial(walked, method=method, options=options)
    found = search_from_starts(problem, walk, settings, budget=budget, seed=seed, progress=progress)
    return replace(answer(problem, found.placement, seconds=clock.seconds), notes=found.notes)


def walked(problem: Problem, *, budget: Budget, seed: int, further: bool, method: str, options: RebalanceOptions) -> Placement:
    """What a method makes of a start."""
    if method == SEARCH:
        return anneal.search(problem, budget=budget, seed=seed, further=further)
    solution = OTHERS[method](problem, options, budget=budget, seed=seed, progress=silent).solution
    return problem.start if solution is None else solution
