"""How the moves of a walk share its work: shifts, swaps, and ejections of few or many victims.

Each kind of move has a share of the *work*, not of the steps: how long a step takes depends on how crowded machines are and how
many victims it needs, and is measured on the way. Of these shares, what gains more for its work of late gets more. Work is
counted in tests of capacity, so the same seed and steps give the same walk.

Among hundreds of items on a machine, one victim is seldom what a big item needs, and one item in many thousands may be all that
still costs much: a random draw hardly ever meets it. So there, ejections of many victims have more of the work, and each is the
best of several random ones, by what it would gain if everything fitted.
"""

import numpy as np

from bayplan.kernels.search.walk import Mixture, new_mixture

VICTIMS = (0, 0, 1, 3, 31)  # of a shift, a swap, and three ejections
WORK = np.array([0.15, 0.1, 0.45, 0.2, 0.1])  # shares of the work where all gain the same ...
CROWDED_WORK = np.array([0.25, 0.25, 0.1, 0.1, 0.3])  # ... and where machines are crowded
CROWDED = 20.0, 200.0  # items per machine: up to the first number the shares are those of WORK, from the second on the others
ITEMS_PER_PAIR, MAX_PAIRS = 1_000, 16  # an ejection of most victims is the best of one pair per that many items, but at most
POWER = 0.25  # of a move's gain for its work against the mean of all; small, since moves that rarely gain prepare others' gains
LIMIT = 3.0  # times that its share grows or falls at most
MEMORY = 4e6  # units of work after which what a move has gained counts for 1 / e
FIRST_WORK = 30.0  # of a step, before it is known


class MoveShares:
    """The shares of a walk, which follow what its moves cost and gain."""

    def __init__(self, items: int, machines: int) -> None:
        pairs = np.ones(len(VICTIMS), dtype=np.int64)
        pairs[-1] = min(MAX_PAIRS, max(1, items // ITEMS_PER_PAIR))
        self.mixture: Mixture = new_mixture(np.array(VICTIMS), pairs)
        self.shares = work_shares(items / max(1, machines))
        self.steps, self.work, self.gain = np.ones(len(VICTIMS)), np.full(len(VICTIMS), FIRST_WORK), np.zeros(len(VICTIMS))
        self._set()

    def update(self) -> None:
        """Take in what the walk has counted since the last time, and set the shares of its next steps."""
        keep = np.exp(-self.mixture.work.sum() / MEMORY)
        for past, recent in zip((self.steps, self.work, self.gain), self._counted(), strict=True):
            past[:] = past * keep + recent
            recent[:] = 0
        self._set()

    def _counted(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.mixture.steps, self.mixture.work, self.mixture.gain

    def _set(self) -> None:
        mean = self.gain.sum() / self.work.sum()
        better = np.clip((self.gain / self.work / mean) ** POWER, 1 / LIMIT, LIMIT) if mean > 0 else np.ones(len(WORK))
        steps = self.shares * better * (self.steps + 1.0) / (self.work + FIRST_WORK)
        self.mixture.up_to[:] = np.cumsum(steps) / steps.sum()


def work_shares(crowd: float) -> np.ndarray:
    """(move,) the shares of the work where all gain the same, with that many items per machine."""
    few, many = CROWDED
    crowded = np.clip(np.log(max(crowd, few) / few) / np.log(many / few), 0.0, 1.0)
    shares: np.ndarray = (1.0 - crowded) * WORK + crowded * CROWDED_WORK
    return shares
