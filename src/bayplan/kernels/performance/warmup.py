"""An example of a call of the simulation, with the types that the model uses."""

import numpy as np

from bayplan.kernels.performance.arrays import CellArrays, MachineArrays, SimulationSettings, Tally, WalkArrays
from bayplan.kernels.performance.simulate import simulate


def warm_up() -> None:
    """Call everything that a simulation calls."""
    none, one = np.zeros(0, dtype=np.int64), np.ones(1)
    walk = WalkArrays(one, np.zeros(2, dtype=np.int64), np.zeros(0), none, none, np.zeros(1, dtype=np.int64))
    cells = CellArrays(np.array([0, 1]), np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64))
    settings = SimulationSettings(0.1, 0.1, 1, 1.0, 0, 0, 0.1, 1.0, 0.0, 0.0, 0, 64)
    tally = Tally(np.zeros(1), np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.int64), np.zeros(1))
    simulate(walk, cells, MachineArrays(one, one, 0.0 * one), settings, 64, np.ones(1, dtype=np.uint64), tally)
