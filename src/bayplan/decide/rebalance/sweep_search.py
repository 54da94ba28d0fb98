"""Sweep&Search of 000 (Lv et al., FreeContainer), section V-B: Algorithms 2 and 3."""

from functools import partial

import numpy as np

from bayplan.decide.rebalance.options import RebalanceOptions
from bayplan.decide.rebalance.table import Table, table
from bayplan.kernels.search.neighbours import SELECTED, Hunt, search
from bayplan.kernels.search.sweep import empty, measure, relieve
from bayplan.model import Budget, FloatArray, IntArray, Placement, Progress, Result
from bayplan.model.problem import Problem

PATIENCE = 2  # times that random selections would cover every pair of a hot and another server, without a gain


def sweep_search(
    problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Placement]:
    """The placement of both stages; the start if that is better and breaks no more rules.

    One iteration is one spare server emptied, one hot server relieved, or one round of Algorithm 3.
    """
    with table(problem, options, "sweep", budget=budget, seed=seed, progress=progress) as some:
        if len(some.movable):
            _sweep(some, options.safety)
            some.restart("search")
            _search(some, options.delta)
        return some.better_of_start_and_best()


def sweep_only(
    problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Placement]:
    """The placement after Algorithm 2, better than the start or not. For comparisons of the stages."""
    with table(problem, options, "sweep", budget=budget, seed=seed, progress=progress) as some:
        if len(some.movable):
            _sweep(some, options.safety)
            some.restart("sweep")
        return some.result()


def search_only(
    problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Placement]:
    """The placement after Algorithm 3 from the start. For comparisons of the stages."""
    with table(problem, options, "search", budget=budget, seed=seed, progress=progress) as some:
        if len(some.movable):
            _search(some, options.delta)
        return some.result()


def _sweep(some: Table, safety: float) -> None:
    """Algorithm 2. Servers change sides only here: hot, spare and normal are those of the start."""
    board, rounds = some.game.board, some.rounds
    heat = np.zeros(len(some.problem.cluster.machines.name))
    measure(board, heat)
    hot, spare, normal = sides(heat, safety)
    held = np.zeros(len(some.game.machine_of), dtype=np.int64)

    def clear(before: int, count: int) -> int:
        for h in spare[rounds.done - before :][:count].tolist():
            empty(board, h, normal, heat, some.book, held)
        return count

    def unload(before: int, count: int) -> int:
        for h in hot[rounds.done - before :][:count].tolist():
            relieve(board, h, spare, heat, some.book, held)
        return count

    rounds.run(partial(clear, rounds.done), len(spare))  # lines 5-8
    rounds.run(partial(unload, rounds.done), len(hot))  # lines 9-15


def sides(heat: FloatArray, safety: float) -> tuple[IntArray, IntArray, IntArray]:
    """Hot servers, the hottest first; as many spare ones that are not hot, the sparest first; the others.

    Lines 1-4. If more than half are hot there are fewer spare servers than hot ones, and no normal ones.
    """
    rank = np.argsort(-heat, kind="stable")  # line 1
    n = int((heat > safety).sum())  # lines 2-3
    hot, rest = rank[:n], rank[n:][::-1]
    return hot.copy(), rest[:n].copy(), rest[n:].copy()  # line 4


def _search(some: Table, delta: float) -> None:
    """Algorithm 3, until nothing is found any more."""
    n_m = len(some.problem.cluster.machines.name)
    top = min(n_m // 2, max(1, int(np.ceil(delta * n_m))))  # line 4
    if top == 0:
        return
    heat = np.zeros(n_m)
    measure(some.game.board, heat)
    rank = np.argsort(-heat, kind="stable")
    hunt = Hunt(heat, rank, top, some.chance, some.book, np.zeros(4, dtype=np.int64), np.zeros(1))
    patience = 1 if n_m - top <= SELECTED else PATIENCE * -(-top // SELECTED) * -(-n_m // SELECTED)
    some.rounds.run(partial(_iterate, some, hunt, patience, np.zeros(1, dtype=np.int64)))


def _iterate(some: Table, hunt: Hunt, patience: int, stale: IntArray, rounds: int) -> int:
    return int(search(some.game.board, hunt, rounds, patience, stale))
