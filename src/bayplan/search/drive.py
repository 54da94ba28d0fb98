"""The search: one long annealing walk per thread, then exact improvements of the best placement that any of them saw."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from bayplan.model import Budget, Clock, Placement, Progress, silent
from bayplan.search.audit import audit
from bayplan.search.exact import polish
from bayplan.search.game import Game, new_game
from bayplan.search.guide import Guide
from bayplan.search.problem import Problem
from bayplan.search.repair import repair
from bayplan.search.stop import stoppable
from bayplan.search.walker import Walker

STEPS_PER_ITEM = 2_000  # where no budget is given
AFTERWARDS = 0.1, 0.7  # seconds kept for the answer: at least, and in times of setting up the board
POLISH = 0.12  # of the seconds, for integer programs over a few machines at the end ...
FEW_ITEMS = 6_000  # ... where there are so few items that enough of them can be solved


def search(problem: Problem, *, budget: Budget, seed: int, progress: Progress = silent, already: float = 0.0) -> Placement:
    """The best placement found. It breaks no rule more than the start; if the start is valid, it never costs more."""
    clock = budget.clock(already)
    before = time.perf_counter()
    game = new_game(problem)
    keep = max(AFTERWARDS[0], AFTERWARDS[1] * (time.perf_counter() - before))
    repair(game, problem)
    polishes = budget.seconds is not None and len(game.items.kind_of) <= FEW_ITEMS
    polishing = POLISH * budget.seconds if polishes and budget.seconds else 0.0
    with stoppable() as stop:
        guide = Guide(
            clock=clock, stop=stop, progress=progress, keep=keep + polishing, steps=_steps(budget, len(game.items.kind_of))
        )
        placement = _walked(game, problem, guide, seed)
        if not polishing or stop.asked:
            return placement
        assert budget.seconds is not None
        rest = replace(budget, seconds=max(0.0, budget.seconds - keep))
        return polish(problem, placement, clock=Clock(budget=rest, started=clock.started), seed=seed, progress=progress)


def _walked(game: Game, problem: Problem, guide: Guide, seed: int) -> Placement:
    """The best placement of as many walks as there are threads."""
    threads = guide.clock.budget.threads
    walkers = [Walker(game if n == 0 else game.copy(), seed=seed * 1_000 + n) for n in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda walker: walker.run(guide), walkers))
    if os.environ.get("BAYPLAN_DEBUG"):
        audit(game, problem)
    return game.placement(min(walkers, key=lambda walker: walker.best).answer())


def _steps(budget: Budget, items: int) -> int | None:
    """How many steps a walk makes at most; None if only the clock says."""
    if budget.iterations is not None or budget.seconds is not None:
        return budget.iterations
    return STEPS_PER_ITEM * items
