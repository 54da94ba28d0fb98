"""The search: one annealing walk per thread, in rounds, then exact improvements of the best placement that any of them saw."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from bayplan.check import check
from bayplan.model import Budget, Clock, Placement, Progress, Tick, silent
from bayplan.model.interrupt import stoppable
from bayplan.model.problem import Problem
from bayplan.search.cooling import FURTHER_ROUND, annealing_rounds
from bayplan.search.deadline import Deadline
from bayplan.search.repair import repair
from bayplan.search.state import SearchState, new_search_state
from bayplan.search.verify_state import verify_state
from bayplan.search.walker import Walker
from bayplan.search.window_mip.polish import polish

PREPARING = "preparing"  # the first stage, in reports of progress
STEPS_PER_ITEM = 2_000  # where no budget is given
AFTERWARDS = 0.1, 0.7  # seconds kept for the answer: at least, and in times of setting up the state
POLISH = 0.12  # of the seconds, for integer programs over a few machines at the end ...
FEW_ITEMS = 500  # ... where there are so few items that enough of them can be solved


def search(
    problem: Problem,
    *,
    budget: Budget,
    seed: int,
    progress: Progress = silent,
    already: float = 0.0,
    further: bool = False,
) -> Placement:
    """The best placement found. It violates no rule more than the start; if the start is valid, it never costs more.

    `further`: the start is what an earlier search found. The walk is one round that begins cooler, so that it is not lost.
    """
    if not len(problem.cluster.machines.name) or not len(problem.cluster.containers.name):
        return problem.start  # there is nothing to decide
    clock = budget.clock(already)
    progress(Tick(stage=PREPARING, done=0.0))
    before = time.perf_counter()
    state = new_search_state(problem)
    keep = max(AFTERWARDS[0], AFTERWARDS[1] * (time.perf_counter() - before))
    if check(problem.cluster, problem.start, problem.before):
        repair(state, problem)
    polishes = budget.seconds is not None and len(state.items.kind_of) <= FEW_ITEMS
    polishing = POLISH * budget.seconds if polishes and budget.seconds else 0.0
    with stoppable() as stop:
        deadline = Deadline(
            clock=clock, stop=stop, progress=progress, keep=keep + polishing, steps=_steps(budget, len(state.items.kind_of))
        )
        placement = _best_walk(state, problem, deadline, seed, further=further)
        if not polishing or stop.requested:
            return placement
        assert budget.seconds is not None
        rest = replace(budget, seconds=max(0.0, budget.seconds - keep))
        return polish(problem, placement, clock=Clock(budget=rest, started=clock.started), seed=seed, progress=progress)


def _best_walk(state: SearchState, problem: Problem, deadline: Deadline, seed: int, *, further: bool) -> Placement:
    """The best placement of as many walks as there are threads. They wait for each other after each round: with the same seed,
    steps and threads the answer is the same."""
    threads = deadline.clock.budget.threads
    walkers = [Walker(state if n == 0 else state.copy(), seed=seed * 1_000 + n) for n in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda walker: walker.measure_pace(deadline), walkers))
        for part in [FURTHER_ROUND] if further else annealing_rounds(min(walker.ease for walker in walkers)):
            if part.number:
                _restart(walkers)
            list(pool.map(partial(Walker.anneal, deadline=deadline, part=part), walkers))
    if os.environ.get("BAYPLAN_DEBUG"):
        verify_state(state, problem)
    return state.placement(min(walkers, key=lambda walker: walker.best).answer())


def _restart(walkers: Sequence[Walker]) -> None:
    """All go on from the best placement that any of them has seen."""
    first = min(walkers, key=lambda walker: walker.best)
    best, best_of = first.best, first.answer().copy()
    for walker in walkers:
        walker.restart(best, best_of)


def _steps(budget: Budget, items: int) -> int | None:
    """How many steps a walk makes at most; None if only the clock says."""
    if budget.iterations is not None or budget.seconds is not None:
        return budget.iterations
    return STEPS_PER_ITEM * items
