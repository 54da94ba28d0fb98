"""The baselines that Sweep&Search is compared with: greedy, and noisy local search."""

from functools import partial

import numpy as np

from bayplan.decide.rebalance.options import RebalanceOptions
from bayplan.decide.rebalance.search_run import SearchRun, search_run
from bayplan.kernels.search.delta_cost import reweight
from bayplan.kernels.search.eject import new_lifted_set
from bayplan.kernels.search.incumbent import restore_best
from bayplan.kernels.search.noisy import VisitSettings, visit
from bayplan.kernels.search.sweep import (
    cool_down,
    item_size,
    list_movable,
    measure_utilisation,
    send_to_least_utilised,
    utilisation_of,
)
from bayplan.model import Budget, FloatArray, IntArray, Placement, Progress, Result
from bayplan.model.problem import Problem
from bayplan.search.array_layout import view
from bayplan.search.noise import load_prices

PREFIXES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)  # shares of the items, the largest first
VISITS = 3.0  # of each item of a prefix, on average
EJECTIONS = 0.95  # share of the visits in prefixes up to LARGE; beyond, the same number for ever more items
LARGE = 0.4
SWAPS = 0.4  # share of the other visits; what is left are shifts
LOOK = 200  # machines or swap partners that an item looks at
NOISE = 2.0  # standard deviation of the logarithm of a load weight's factor
PATIENCE = 10  # descents without a better placement before the search goes back to the best


def greedy(problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The best placement seen while the hottest machine is relieved, until none can be. One iteration is one move.

    U(h) is the largest utilisation over resources. The largest container of the hottest machine that can move goes to the
    least utilised machine that can take it, if both are then cooler than the hottest was: so the sorted list of
    utilisations falls and the loop ends. A machine that nothing can leave is skipped. It draws no random numbers: `seed` is
    not read.
    """
    with search_run(problem, options, "greedy", budget=budget, seed=seed, progress=progress) as run:
        state, n_m = run.state, len(problem.cluster.machines.name)
        if len(run.movable):
            utilisation, stuck = np.zeros(n_m), np.zeros(n_m + 1, dtype=np.int64)
            scratch = np.zeros(len(state.machine_of), dtype=np.int64)
            measure_utilisation(state.arrays, utilisation)
            run.loop.run(lambda moves: int(cool_down(state.arrays, moves, utilisation, stuck, run.incumbent, scratch)))
        return run.result()


def literal_greedy(
    problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Placement]:
    """The last placement of Greedy as [FreeContainer] §VI-B1 words it. For comparisons with `greedy`.

    Each time the hottest machine gives its largest container that can move to the least utilised machine of all, and to no
    other one. A machine that has nothing for it is set aside for good. Both machines are then cooler than the hottest was: the
    paper does not say so, but without it a container could go to and fro for ever.
    """
    with search_run(problem, options, "greedy", budget=budget, seed=seed, progress=progress) as run:
        if len(run.movable):
            hand_down = _HandDown(run)
            run.loop.run(hand_down.moves)
            run.restart("greedy")
        return run.result()


class _HandDown:
    """From the hottest machine that is not set aside to the least utilised one."""

    def __init__(self, run: SearchRun) -> None:
        self.run, self.arrays = run, run.state.arrays
        self.utilisation = np.zeros(len(run.problem.cluster.machines.name))
        self.set_aside = np.zeros(len(self.utilisation), dtype=np.bool_)
        self.scratch = np.zeros(len(run.state.machine_of), dtype=np.int64)
        measure_utilisation(self.arrays, self.utilisation)

    def moves(self, count: int) -> int:
        """At most `count` moves; their number. Fewer: all machines are set aside."""
        made = 0
        while made < count and not self.set_aside.all():
            h = int(np.argmax(np.where(self.set_aside, -1.0, self.utilisation)))
            moved = self._move_from(h)
            made += moved
            self.set_aside[h] = not moved
        return made

    def _move_from(self, h: int) -> bool:
        """One container of h goes to the least utilised machine, if one can."""
        least = np.array([int(np.argmin(self.utilisation))])
        items = self.scratch[: list_movable(self.arrays, h, self.scratch)].tolist()
        for i in sorted(items, key=lambda i: -item_size(self.arrays, i, h)):
            after = utilisation_of(self.arrays, int(least[0]), int(self.run.state.items.kind_of[i]), 1)
            if after < self.utilisation[h] and self._send(i, least):
                return True
        return False

    def _send(self, i: int, least: IntArray) -> bool:
        return bool(send_to_least_utilised(self.arrays, i, least, self.utilisation, self.run.incumbent))


def nls(problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The best placement of a noisy local search. One iteration is one visit of one item.

    After the winner of the ROADEF/EURO challenge 2012: Gavranović, Buljubašić, Demirović: Variable neighborhood search for
    Google machine reassignment problem, ENDM 39 (2012). Descents by shift, swap and ejection over growing prefixes of the
    items, the largest first. Between two descents the load weights of all resources but one change for a while (in U of
    [FreeContainer] too). Different from the paper: neighbourhoods are sampled, and one line of descent goes back to the best
    after a while, instead of several lines.
    """
    with search_run(problem, options, "noisy local search", budget=budget, seed=seed, progress=progress) as run:
        if len(run.movable):
            _NoisySearch(run, np.random.default_rng(seed)).run_to_the_end()
        return run.result()


class _NoisySearch:
    """Descents and noise in turn."""

    def __init__(self, run: SearchRun, random: np.random.Generator) -> None:
        self.run, self.random = run, random
        self.arrays = run.state.arrays
        self.visits = _visits(run)
        self.weights = load_prices(run.state)

    def run_to_the_end(self) -> None:
        """Until the budget is used up."""
        incumbent, stale = self.run.incumbent, 0
        self.descend(PREFIXES)
        while not self.run.loop.over:
            best = float(incumbent.best[0])
            if stale >= PATIENCE:
                restore_best(self.arrays, incumbent)
                stale = 0
            self.descend_with_noise()
            self.descend(PREFIXES)
            stale = 0 if incumbent.best[0] < best else stale + 1

    def descend(self, prefixes: tuple[float, ...], *, quiet: bool = False) -> None:
        """Visits among the largest items, then among more and more; `quiet`: nothing counts as the best."""
        n = len(self.visits.order)
        for share in prefixes:
            prefix = max(1, int(share * n))
            ejections = EJECTIONS * min(1.0, LARGE / share)
            visits = self.visits._replace(perturbed=quiet, eject_share=ejections, swap_share=(1 - ejections) * SWAPS)
            self.run.loop.run(partial(visit, self.arrays, visits, prefix), max(1, int(VISITS * prefix)))

    def descend_with_noise(self) -> None:
        """A short descent while the load of every resource but one weighs more or less."""
        n_r = len(self.weights.overload)
        factor = np.exp(NOISE * self.random.standard_normal(n_r))
        if n_r:
            factor[self.random.integers(n_r)] = 1.0
        reweight(self.arrays, self.weights, factor)
        self.descend((float(self.random.choice(PREFIXES)),), quiet=True)
        reweight(self.arrays, self.weights, np.ones(n_r))


def _visits(run: SearchRun) -> VisitSettings:
    lifted = new_lifted_set(len(run.problem.cluster.resources))
    return VisitSettings(_largest_first(run), run.random_state, run.incumbent, lifted, LOOK, 0.0, 0.0, False)


def _largest_first(run: SearchRun) -> IntArray:
    """Movable items, the largest first: requests relative to the cluster's capacity, summed over resources."""
    movable, cluster = run.movable, run.problem.cluster
    n_k = int(run.state.items.kind_of.max()) + 1
    n_r = len(cluster.resources)
    request = view(run.state.arrays, "request", n_k * n_r).reshape(n_k, n_r)
    size: FloatArray = (request / np.maximum(1, cluster.machines.capacity.sum(axis=0))).sum(axis=1)
    return np.array(movable[np.argsort(-size[run.state.items.kind_of[movable]], kind="stable")])
