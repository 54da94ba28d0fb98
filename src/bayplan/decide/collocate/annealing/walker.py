"""A walk over a hold: containers drawn by what they can gain, turns at one temperature, the best that was seen."""

import numpy as np

from bayplan.decide.collocate.annealing.count_state import NO_CAP, Int32Array, copied
from bayplan.kernels.collocate.anneal import Style, new_party, walk
from bayplan.kernels.collocate.hold import GAINED, MOST_MOVES, MOVES, PRICE, Hold, refill
from bayplan.model import FloatArray

STYLE = Style(near=0.7, back=0.0, ejected=3, looks=1, tries=8, finds=1)
BACK = 0.2  # share of the targets that are old machines, where moves have a price
TURN = 20_000  # steps between two looks at the clock
NEXT_TO_NOTHING = 1e-7  # price of a move, in mean reaches, where it has none
RARE = 0.05  # how often a container that cannot gain is drawn, beside one that can
FIRST_PRICE = 0.3  # of a move under a cap, in mean reaches
STRIDE, MOST_STRIDE = 1.5, 2.0  # how far the price follows the moves, in logarithms


class CountWalker:
    """One thread's hold."""

    def __init__(self, hold: Hold, *, seed: int, price: float = 0.0) -> None:
        self.hold = copied(hold)
        self.random = np.random.default_rng(seed)
        self.chance = self.random.integers(1, 2**63, size=1, dtype=np.uint64)
        self.party = new_party()
        self.reach = reach(hold)
        self.affine = int((self.reach > 0).sum())
        self.scale = float(self.reach.sum()) / max(1, self.affine)  # the unit of temperatures
        self.ease = 0.0  # rounds that there is time for
        self.style = STYLE
        self.max_moves = int(hold.tally[MOST_MOVES])
        if price > 0 or self.capped:
            self.style = STYLE._replace(near=STYLE.near - BACK / 2, back=BACK)
        self.price = price  # the true one
        self.charged = max(price, FIRST_PRICE * self.scale) if self.capped else price  # under a cap it is to be found
        self.tried: list[tuple[float, float]] = []  # logarithms of a price, and of the moves at it, in those that may be
        self.charge(self.charged)
        self.steps = 0
        self.passed: list[Int32Array] = []  # what may be put together anew
        self.best, self.best_of = self.worth, self.hold.machine_of.copy()  # of this round
        self.ever, self.ever_of = self.best, self.best_of

    @property
    def capped(self) -> bool:
        """Is there a cap on moves that could ever count?"""
        return self.max_moves < len(self.hold.machine_of)

    @property
    def worth(self) -> float:
        """Gained affinity, less the true price of the moves."""
        return float(self.hold.worth[GAINED] + (self.hold.worth[PRICE] - self.price) * self.hold.tally[MOVES])

    def charge(self, price: float) -> None:
        """Moves cost this from now on."""
        self.hold.worth[GAINED] -= (price - self.hold.worth[PRICE]) * self.hold.tally[MOVES]
        self.hold.worth[PRICE] = price

    def begin(self, machine_of: Int32Array) -> None:
        """Go on from there."""
        refill(self.hold, machine_of)

    def forget(self) -> None:
        """From here on the present is the best so far of a new round."""
        self.best = -np.inf
        self._judge()

    def turn(self, heat: float, least: float, steps: int) -> None:
        """So many steps at a temperature; below `least` containers are drawn as if it were that."""
        often = np.clip(np.sqrt(self.reach / (self.scale * max(heat, least))), RARE, 1.0)
        total = np.cumsum(often)
        bag = np.searchsorted(total, self.random.random(steps) * total[-1], side="right")
        walk(self.hold, np.minimum(bag, len(total) - 1), self.style, self.chance, self.scale * heat, steps, self.party)
        self.steps += steps
        self._judge()

    def guard(self, *, hard: bool, free: bool) -> None:
        """Where there is a cap on moves: `hard`: no more of them from now on, `free`: they cost their true price only."""
        if self.capped:
            self.hold.tally[MOST_MOVES] = self.max_moves if hard else NO_CAP
            self.charge(self.price if free and self._within else self.charged)

    def bring_home(self) -> None:
        """From now on all are drawn alike and most are sent to an old machine; a move costs next to nothing, but something."""
        self.reach = np.ones_like(self.reach)
        self.style = STYLE._replace(near=0.0, back=0.9, ejected=1)
        self.charge(NEXT_TO_NOTHING * self.scale)

    def learn(self) -> None:
        """Choose a price of moves at which there will be as many as may be: by how many there are at the present one."""
        self.tried.append((float(np.log(self.charged)), float(np.log(max(1, self.hold.tally[MOVES]) / max(1, self.max_moves)))))
        (low, few), *rest = sorted(self.tried, key=lambda pair: abs(pair[1]))
        others = [pair for pair in rest if pair[1] * few < 0]
        if others:
            high, many = others[0]
            target = low - few * (high - low) / (many - few)
        else:
            target = low + float(np.clip(STRIDE * few, -MOST_STRIDE, MOST_STRIDE))
        self.charged = max(self.price, float(np.exp(target)))

    def _judge(self) -> None:
        """Remember the present if it is the best of the round, or of all."""
        if self.worth > self.best and self._within:
            self.best, self.best_of = self.worth, self.hold.machine_of.copy()
            if self.best > self.ever:
                self.ever, self.ever_of = self.best, self.best_of

    @property
    def _within(self) -> bool:
        return bool(self.hold.tally[MOVES] <= self.max_moves)


def reach(hold: Hold) -> FloatArray:
    """(item,) the most affinity that one container of its service can gain: T(s) / d."""
    services = len(hold.one_over)
    end = np.repeat(np.arange(services), np.diff(hold.edge_start))
    whole = np.bincount(end, weights=hold.weight, minlength=services)
    return np.asarray((whole * hold.one_over)[hold.service_of])
