"""One walk of annealing in counts: containers drawn by what they can gain, steps at one temperature, the incumbent.

The *reach* of a container is the most affinity that it can gain; prices and temperatures are in units of its mean.
"""

import numpy as np

from bayplan.decide.collocate.annealing.count_state import NO_CAP, Int32Array, copied
from bayplan.kernels.collocate.anneal import EjectionSettings, new_ejected_set, walk
from bayplan.kernels.collocate.count_state import GAINED, MAX_MOVES, MOVES, PRICE, CountState, move_all
from bayplan.model import FloatArray

STYLE = EjectionSettings(near=0.7, back=0.0, max_ejected=3, samples=1, tries=8, finds=1)
BACK = 0.2  # share of the targets that are old machines, where moves have a price
STEPS = 20_000  # between two looks at the clock
TINY_PRICE = 1e-7  # of a move, in mean reaches, where it has none
RARE = 0.05  # how often a container that cannot gain is drawn, relative to one that can
FIRST_PRICE = 0.3  # of a move under a cap, in mean reaches
PRICE_STEP, MOST_PRICE_STEP = 1.5, 2.0  # how far the price follows the number of moves, in logarithms


class CountWalker:
    """A state of its own, walked over by one thread, and the best that it has reached."""

    def __init__(self, state: CountState, *, seed: int, price: float = 0.0) -> None:
        self.state = copied(state)
        self.random = np.random.default_rng(seed)
        self.random_state = self.random.integers(1, 2**63, size=1, dtype=np.uint64)
        self.lifted = new_ejected_set()
        self.reach = reach(state)
        self.talking = int((self.reach > 0).sum())
        self.scale = float(self.reach.sum()) / max(1, self.talking)  # the unit of temperatures
        self.rounds = 0.0  # that there is time for
        self.style = STYLE
        self.max_moves = int(state.tally[MAX_MOVES])
        if price > 0 or self.capped:
            self.style = STYLE._replace(near=STYLE.near - BACK / 2, back=BACK)
        self.price = price  # the true price of a move
        self.charged = max(price, FIRST_PRICE * self.scale) if self.capped else price  # under a cap the right one has to be found
        self.tried: list[tuple[float, float]] = []  # logarithms of a price, and of moves at it / moves allowed
        self.charge(self.charged)
        self.steps = 0
        self.passed: list[Int32Array] = []  # placements whose machines may be merged
        self.best, self.best_of = self.worth, self.state.machine_of.copy()  # of this round
        self.incumbent, self.incumbent_of = self.best, self.best_of  # of all rounds

    @property
    def capped(self) -> bool:
        """Is there a cap on moves that can bind?"""
        return self.max_moves < len(self.state.machine_of)

    @property
    def worth(self) -> float:
        """Gained affinity, less the true price of the moves."""
        return float(self.state.worth[GAINED] + (self.state.worth[PRICE] - self.price) * self.state.tally[MOVES])

    def charge(self, price: float) -> None:
        """Charge this price for each move from now on."""
        self.state.worth[GAINED] -= (price - self.state.worth[PRICE]) * self.state.tally[MOVES]
        self.state.worth[PRICE] = price

    def begin(self, machine_of: Int32Array) -> None:
        """Go on from these machines (item,)."""
        move_all(self.state, machine_of)

    def begin_round(self) -> None:
        """Begin a round: its best is the present state."""
        self.best = -np.inf
        self._remember()

    def walk(self, heat: float, least: float, steps: int) -> None:
        """Walk that many steps at a temperature; below `least`, containers are drawn as if it were that."""
        frequency = np.clip(np.sqrt(self.reach / (self.scale * max(heat, least))), RARE, 1.0)
        total = np.cumsum(frequency)
        drawn = np.searchsorted(total, self.random.random(steps) * total[-1], side="right")
        walk(self.state, np.minimum(drawn, len(total) - 1), self.style, self.random_state, self.scale * heat, steps, self.lifted)
        self.steps += steps
        self._remember()

    def enforce_cap(self, *, hard: bool, free: bool) -> None:
        """Where moves have a cap: `hard`: never above it from now on; `free`: moves cost no more than their true price."""
        if self.capped:
            self.state.tally[MAX_MOVES] = self.max_moves if hard else NO_CAP
            self.charge(self.price if free and self._within_cap else self.charged)

    def prefer_homes(self) -> None:
        """From now on all containers are drawn alike and most are sent to an old machine; a move has a tiny price."""
        self.reach = np.ones_like(self.reach)
        self.style = STYLE._replace(near=0.0, back=0.9, max_ejected=1)
        self.charge(TINY_PRICE * self.scale)

    def adjust_price(self) -> None:
        """Choose a price at which there will be as many moves as the cap allows: by how many there are at the present one."""
        self.tried.append((float(np.log(self.charged)), float(np.log(max(1, self.state.tally[MOVES]) / max(1, self.max_moves)))))
        (price, ratio), *further = sorted(self.tried, key=lambda pair: abs(pair[1]))  # the nearest to the cap first
        beyond = [pair for pair in further if pair[1] * ratio < 0]  # on the other side of the cap
        if beyond:
            other_price, other_ratio = beyond[0]
            target = price - ratio * (other_price - price) / (other_ratio - ratio)
        else:
            target = price + float(np.clip(PRICE_STEP * ratio, -MOST_PRICE_STEP, MOST_PRICE_STEP))
        self.charged = max(self.price, float(np.exp(target)))

    def _remember(self) -> None:
        """Keep the present state if it is the best of the round, or of all rounds."""
        if self.worth > self.best and self._within_cap:
            self.best, self.best_of = self.worth, self.state.machine_of.copy()
            if self.best > self.incumbent:
                self.incumbent, self.incumbent_of = self.best, self.best_of

    @property
    def _within_cap(self) -> bool:
        return bool(self.state.tally[MOVES] <= self.max_moves)


def reach(state: CountState) -> FloatArray:
    """(item,) the most affinity that one container of its workload can gain: T(s) / d."""
    n_w = len(state.one_over)
    end = np.repeat(np.arange(n_w), np.diff(state.edge_start))
    affinity = np.bincount(end, weights=state.weight, minlength=n_w)
    return np.asarray((affinity * state.one_over)[state.workload_of])
