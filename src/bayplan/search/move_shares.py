"""How the moves of a walk share its work: shifts, swaps, and ejections of few or many victims.

Each kind of move has a share of the *work*, not of the steps: how long a step takes depends on how crowded machines are and how
many victims it needs, and is measured on the way. Of these shares, what gains more for its work of late gets more. Work is
counted in tests of capacity, so the same seed and steps give the same walk.
"""

import numpy as np

from bayplan.kernels.search.walk import Mixture, new_mixture

VICTIMS = (0, 0, 1, 3, 31)  # of a shift, a swap, and three ejections
WORK = np.array([0.15, 0.1, 0.45, 0.2, 0.1])  # shares of the work where all gain the same
POWER = 0.25  # of a move's gain for its work against the mean of all; small, since moves that rarely gain prepare others' gains
LIMIT = 3.0  # times that its share grows or falls at most
MEMORY = 4e6  # units of work after which what a move has gained counts for 1 / e
FIRST_WORK = 30.0  # of a step, before it is known


class MoveShares:
    """The shares of a walk, which follow what its moves cost and gain."""

    def __init__(self) -> None:
        self.mixture: Mixture = new_mixture(np.array(VICTIMS))
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
        steps = WORK * better * (self.steps + 1.0) / (self.work + FIRST_WORK)
        self.mixture.up_to[:] = np.cumsum(steps) / steps.sum()
