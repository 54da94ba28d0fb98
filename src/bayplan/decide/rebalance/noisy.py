"""Noisy local search, the baseline after the winner of the ROADEF/EURO challenge 2012."""

from functools import partial

import numpy as np

from bayplan.decide.rebalance.options import RebalanceOptions
from bayplan.decide.rebalance.table import Table, table
from bayplan.kernels.search.noisy import Tour, visit
from bayplan.kernels.search.party import party_of
from bayplan.kernels.search.restart import go_back, reweigh
from bayplan.model import Budget, FloatArray, IntArray, Placement, Progress, Result
from bayplan.model.problem import Problem
from bayplan.search.blocks import view
from bayplan.search.noise import load_weights

PREFIXES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)  # shares of the items, the biggest first
VISITS = 3.0  # of each item of a prefix, on average
EJECTIONS = 0.95  # share of the visits in prefixes up to BIG; beyond, the same number for ever more items
BIG = 0.4
SWAPS = 0.4  # share of the other visits; what is left are shifts
LOOK = 200  # machines or swap partners that an item looks at
NOISE = 2.0  # standard deviation of the logarithm of a load weight's factor
PATIENCE = 10  # rounds without a better placement before the search goes back to the best


def nls(problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The best placement of a noisy local search. One iteration is one visit of one item.

    Gavranović, Buljubašić, Demirović: Variable neighborhood search for Google machine reassignment problem, ENDM 39 (2012).
    Descents by shift, swap and ejection over growing prefixes of the items, the biggest first. Between two descents the
    load weights of all resources but one change for a while (in U of 000 too). Different from the paper: neighbourhoods are
    sampled, and one line of descent goes back to the best after a while, instead of several lines.
    """
    with table(problem, options, "noisy local search", budget=budget, seed=seed, progress=progress) as some:
        if len(some.movable):
            _Descents(some, np.random.default_rng(seed)).run()
        return some.result()


class _Descents:
    """Descents and noise in turn."""

    def __init__(self, some: Table, noise: np.random.Generator) -> None:
        self.some, self.noise = some, noise
        self.board = some.game.board
        self.tour = _tour(some)
        self.true = load_weights(some.game)

    def run(self) -> None:
        """Until the budget is used up."""
        rounds, stale = self.some.rounds, 0
        self.descend(PREFIXES)
        while not rounds.over:
            best = float(self.some.book.best[0])
            if stale >= PATIENCE:
                go_back(self.board, self.some.book)
                stale = 0
            self.shake()
            self.descend(PREFIXES)
            stale = 0 if self.some.book.best[0] < best else stale + 1

    def descend(self, prefixes: tuple[float, ...], *, quiet: bool = False) -> None:
        """Visits among the biggest, then among more and more."""
        n = len(self.tour.order)
        for part in prefixes:
            prefix = max(1, int(part * n))
            ejections = EJECTIONS * min(1.0, BIG / part)
            tour = self.tour._replace(quiet=quiet, eject_share=ejections, swap_share=(1 - ejections) * SWAPS)
            self.some.rounds.run(partial(visit, self.board, tour, prefix), max(1, int(VISITS * prefix)))

    def shake(self) -> None:
        """A short descent while the load of every resource but one weighs more or less."""
        n_r = len(self.true.over)
        factor = np.exp(NOISE * self.noise.standard_normal(n_r))
        factor[self.noise.integers(n_r)] = 1.0
        reweigh(self.board, self.true, factor)
        self.descend((float(self.noise.choice(PREFIXES)),), quiet=True)
        reweigh(self.board, self.true, np.ones(n_r))


def _tour(some: Table) -> Tour:
    party = party_of(len(some.problem.cluster.resources))
    return Tour(_by_size(some), some.chance, some.book, party, LOOK, 0.0, 0.0, False)


def _by_size(some: Table) -> IntArray:
    """Movable items, the biggest first: requests relative to all there is, summed over resources."""
    movable, cluster = some.movable, some.problem.cluster
    n_k = int(some.game.items.kind_of.max()) + 1
    n_r = len(cluster.resources)
    request = view(some.game.board, "request", n_k * n_r).reshape(n_k, n_r)
    size: FloatArray = (request / np.maximum(1, cluster.machines.capacity.sum(axis=0))).sum(axis=1)
    return np.array(movable[np.argsort(-size[some.game.items.kind_of[movable]], kind="stable")])
