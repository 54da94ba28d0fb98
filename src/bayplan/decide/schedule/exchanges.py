"""A search by exchanges: the state that its kernel works on."""

import numpy as np

from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.decide.schedule.timeline import profile_of
from bayplan.kernels.schedule.exchange import PASSES, Draft, Pool, exchanges
from bayplan.model import UNPLACED, FloatArray, IntArray

CHANGES = 4  # of one machine in one cell, if all machines are as busy
FEWEST_CELLS, MOST_CELLS = 4, 1024
MOST_PAIRS = 1 << 21  # of a machine and a cell
WINDOW = 3  # cells
MACHINES = 4  # in one exchange at most
MOST_OUT = 4096  # requests in one exchange
HOPELESS = 1.5  # strain: who pays more for its value is not looked at
FRUGAL = 0.5  # the part of the price of its room that a request's value is lowered by


class Exchanges:
    """A schedule, and what its machines have free over time: `go` keeps both in step."""

    def __init__(self, problem: ScheduleProblem, machine_of: IntArray, strain: FloatArray, seed: int) -> None:
        self.machine_of = machine_of.copy()
        self._profile = profile_of(problem, self.machine_of, cells=_cells(problem, machine_of))
        value = problem.requests.value
        member = np.flatnonzero(((strain <= HOPELESS) | (machine_of != UNPLACED)) & (value > 0))
        member = member[np.argsort(self._profile.first[member], kind="stable")]
        self._pool = Pool(
            request=member,
            first=self._profile.first[member],
            strain=strain,
            worth=np.where(np.isfinite(strain), (1.0 - FRUGAL * np.where(np.isfinite(strain), strain, 0.0)) * value, 0.0),
        )
        self._draft = Draft(
            machine=np.zeros(MACHINES, dtype=np.int64),
            out=np.zeros(MOST_OUT, dtype=np.int64),
            was=np.zeros(MOST_OUT, dtype=np.int64),
            into=np.zeros(len(member), dtype=np.int64),
            limit=np.zeros(PASSES),
        )
        self._chance = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)

    @property
    def possible(self) -> bool:
        """Is there anybody to exchange?"""
        return len(self._pool.request) > 0

    def go(self, steps: int) -> None:
        """So many steps, each kept if it is not worse."""
        exchanges(self._profile, self._pool, self._chance, WINDOW, 0.0, steps, self._draft, self.machine_of)


def _cells(problem: ScheduleProblem, machine_of: IntArray) -> int:
    """Cells in which a machine has a few changes."""
    machines = problem.fleet.size
    busy = 2 * int((machine_of != UNPLACED).sum()) // (machines * CHANGES)
    return max(FEWEST_CELLS, min(busy, MOST_CELLS, MOST_PAIRS // machines))
