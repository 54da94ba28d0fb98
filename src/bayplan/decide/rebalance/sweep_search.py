"""Sweep&Search of [FreeContainer] §V-B: Algorithms 2 and 3."""

from functools import partial

import numpy as np

from bayplan.decide.rebalance.options import RebalanceOptions
from bayplan.decide.rebalance.search_run import SearchRun, search_run
from bayplan.kernels.search.neighbours import SELECTED, NeighbourhoodSearch, local_search
from bayplan.kernels.search.sweep import empty_spare, measure_utilisation, relieve_hot
from bayplan.model import Budget, FloatArray, IntArray, Placement, Progress, Result
from bayplan.model.problem import Problem

PATIENCE = 2  # times that random selections would cover every pair of a hot and another machine, without a gain


def sweep_search(
    problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Placement]:
    """The placement of both stages; the start if that is better and violates no more rules.

    One iteration is one spare machine emptied, one hot machine relieved, or one round of Algorithm 3.
    """
    with search_run(problem, options, "sweep", budget=budget, seed=seed, progress=progress) as run:
        if len(run.movable):
            _sweep(run, options)
            run.restart("search")
            _search(run, options.delta)
        return run.better_of_start_and_best()


def sweep_only(
    problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Placement]:
    """The placement after Algorithm 2, better than the start or not. For comparisons of the stages."""
    with search_run(problem, options, "sweep", budget=budget, seed=seed, progress=progress) as run:
        if len(run.movable):
            _sweep(run, options)
            run.restart("sweep")
        return run.result()


def search_only(
    problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Placement]:
    """The placement after Algorithm 3 from the start. For comparisons of the stages."""
    with search_run(problem, options, "search", budget=budget, seed=seed, progress=progress) as run:
        if len(run.movable):
            _search(run, options.delta)
        return run.result()


def _sweep(run: SearchRun, options: RebalanceOptions) -> None:
    """Algorithm 2. Which machines are hot, spare or normal is decided once, at the start."""
    arrays, loop = run.state.arrays, run.loop
    utilisation = np.zeros(len(run.problem.cluster.machines.name))
    measure_utilisation(arrays, utilisation)
    hot, spare, normal = hot_spare_normal(utilisation, threshold(utilisation, options))
    scratch = np.zeros(len(run.state.machine_of), dtype=np.int64)

    def empty_next(before: int, count: int) -> int:
        for m in spare[loop.done - before :][:count].tolist():
            empty_spare(arrays, m, normal, utilisation, run.incumbent, scratch)
        return count

    def relieve_next(before: int, count: int) -> int:
        for m in hot[loop.done - before :][:count].tolist():
            relieve_hot(arrays, m, spare, utilisation, run.incumbent, scratch)
        return count

    loop.run(partial(empty_next, loop.done), len(spare))  # lines 5-8
    loop.run(partial(relieve_next, loop.done), len(hot))  # lines 9-15


def threshold(utilisation: FloatArray, options: RebalanceOptions) -> float:
    """The utilisation above which a machine is hot: a fixed one, or a multiple of the mean. The paper names none."""
    over_mean = options.safety_over_mean
    return options.safety if over_mean is None else over_mean * float(utilisation.mean())


def hot_spare_normal(utilisation: FloatArray, safety: float) -> tuple[IntArray, IntArray, IntArray]:
    """Hot machines, the hottest first; as many of the least utilised ones that are not hot; the others.

    Lines 1-4. If more than half are hot there are fewer spare machines than hot ones, and no normal ones.
    """
    rank = np.argsort(-utilisation, kind="stable")  # line 1
    n = int((utilisation > safety).sum())  # lines 2-3
    hot, others = rank[:n], rank[n:][::-1]
    return hot.copy(), others[:n].copy(), others[n:].copy()  # line 4


def _search(run: SearchRun, delta: float) -> None:
    """Algorithm 3, until no move gains any more."""
    n_m = len(run.problem.cluster.machines.name)
    top = min(n_m // 2, max(1, int(np.ceil(delta * n_m))))  # line 4
    if top == 0:
        return
    utilisation = np.zeros(n_m)
    measure_utilisation(run.state.arrays, utilisation)
    rank = np.argsort(-utilisation, kind="stable")
    neighbourhood = NeighbourhoodSearch(
        utilisation, rank, top, run.random_state, run.incumbent, np.zeros(4, dtype=np.int64), np.zeros(1)
    )
    patience = 1 if n_m - top <= SELECTED else PATIENCE * -(-top // SELECTED) * -(-n_m // SELECTED)
    stale = np.zeros(1, dtype=np.int64)
    run.loop.run(lambda rounds: int(local_search(run.state.arrays, neighbourhood, rounds, patience, stale)))
