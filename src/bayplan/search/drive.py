"""The search: one long annealing walk per thread, and the best placement that any of them saw."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

from bayplan.model import Budget, Placement, Progress, silent
from bayplan.search.audit import audit
from bayplan.search.game import new_game
from bayplan.search.guide import Guide
from bayplan.search.problem import Problem
from bayplan.search.repair import repair
from bayplan.search.stop import stoppable
from bayplan.search.walker import Walker

STEPS_PER_ITEM = 2_000  # where no budget is given
AFTERWARDS = 0.1, 1.5  # seconds kept for the answer: at least, and in times of setting up the board


def search(problem: Problem, *, budget: Budget, seed: int, progress: Progress = silent, already: float = 0.0) -> Placement:
    """The best placement found. It breaks no rule more than the start; if the start is valid, it never costs more."""
    clock = budget.clock(already)
    before = time.perf_counter()
    game = new_game(problem)
    repair(game, problem)
    setting_up = time.perf_counter() - before
    walkers = [Walker(game if n == 0 else game.copy(), seed=seed * 1_000 + n) for n in range(budget.threads)]
    with stoppable() as stop:
        guide = Guide(
            clock=clock,
            stop=stop,
            progress=progress,
            keep=max(AFTERWARDS[0], AFTERWARDS[1] * setting_up),
            steps=_steps(budget, len(game.items.kind_of)),
        )
        with ThreadPoolExecutor(len(walkers)) as pool:
            list(pool.map(lambda walker: walker.run(guide), walkers))
    if os.environ.get("BAYPLAN_DEBUG"):
        audit(game, problem)
    return game.placement(min(walkers, key=lambda walker: walker.best).answer())


def _steps(budget: Budget, items: int) -> int | None:
    """How many steps a walk makes at most; None if only the clock says."""
    if budget.iterations is not None or budget.seconds is not None:
        return budget.iterations
    return STEPS_PER_ITEM * items
