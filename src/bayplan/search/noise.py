"""Guided noise: for a while the load of all resources but one costs more or less than it truly does."""

import numpy as np

from bayplan.kernels.search.delta_cost import LoadPrices, reweight
from bayplan.search.array_layout import view
from bayplan.search.state import SearchState

LOUD, LOUDEST = 3.0, 6.0  # standard deviation and bound of the binary logarithm of a price's factor


def load_prices(state: SearchState) -> LoadPrices:
    """What load truly costs: copies of the state's blocks."""
    n_m, n_r = state.cluster.machines.capacity.shape
    lengths = {"overload": n_r, "mean": n_r, "square": n_m * n_r}
    return LoadPrices(**{name: view(state.arrays, name, length).copy() for name, length in lengths.items()})


class Noise:
    """The prices of load on a state, false or true.

    Factors are powers of two: where prices and amounts are whole numbers, as in GMRP, the total is exact under noise, too, and so
    it is afterwards.
    """

    def __init__(self, state: SearchState, *, seed: int) -> None:
        self.arrays, self.true = state.arrays, load_prices(state)
        self.rng = np.random.default_rng(seed)
        square = self.true.square.reshape(len(state.cluster.machines.name), len(self.true.overload))
        self.priced = np.flatnonzero((self.true.overload > 0) | (square > 0).any(axis=0))
        self.turn = 0

    @property
    def possible(self) -> bool:
        """With the load of one resource alone, or of none, there is nothing to weigh against each other."""
        return len(self.priced) > 1

    def begin(self) -> None:
        """Change the prices of all resources but one; which one is kept, goes in turn."""
        factor = np.exp2(np.clip(np.rint(LOUD * self.rng.standard_normal(len(self.true.overload))), -LOUDEST, LOUDEST))
        factor[self.priced[self.turn % len(self.priced)]] = 1.0
        self.turn += 1
        reweight(self.arrays, self.true, factor)

    def end(self) -> None:
        """The true prices again."""
        reweight(self.arrays, self.true, np.ones(len(self.true.overload)))
