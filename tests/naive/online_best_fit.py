"""Best fit by UCaC for containers that arrive and depart one at a time ([UCaC] §5.1): the twin of `bf-ucac`."""

import numpy as np

from bayplan.decide.pack import PackProblem
from bayplan.decide.pack.heuristics import fullness
from bayplan.decide.pack.kernel_arrays import bins_of, copy_bins, sizes_of
from bayplan.errors import UsageError
from bayplan.kernels.pack.fill import Bins, Sizes, add_containers, max_containers
from bayplan.model import IntArray


class OnlineBestFit:
    """Machines that remember what runs on them. `arrive` is O(machines), and exactly best fit."""

    def __init__(self, problem: PackProblem) -> None:
        self.problem = problem
        self.sizes: Sizes = sizes_of(problem)
        self.bins: Bins = copy_bins(bins_of(problem))
        self.bins.max_count[:] = np.where(problem.allowed.T, np.iinfo(np.int64).max // 4, 0)  # later arrivals are not known
        self.running: IntArray = problem.running.copy()  # (machine, workload)

    def arrive(self, workload: int) -> int | None:
        """The machine for one more container: the fullest with it that can take it, the first of equal ones; None if none can."""
        for m in np.argsort(-fullness(self.sizes, self.bins, workload), kind="stable").tolist():
            if max_containers(self.sizes, self.bins, m, workload, 1) > 0:
                add_containers(self.sizes, self.bins, m, workload, 1)
                self.running[m, workload] += 1
                return int(m)
        return None

    def depart(self, workload: int, machine: int) -> None:
        """One container less on a machine. UsageError if none runs there."""
        if self.running[machine, workload] < 1:
            names = self.problem.cluster.workloads.name[workload], self.problem.cluster.machines.name[machine]
            raise UsageError(f"no container of '{names[0]}' runs on machine '{names[1]}'")
        self.running[machine, workload] -= 1
        add_containers(self.sizes, self.bins, machine, workload, -1)
        self._recompute(machine)

    def _recompute(self, machine: int) -> None:
        """Sums anew, so that no rounding adds up and the strictest workload may have gone."""
        here = self.running[machine]
        self.bins.free_mean[machine] = self.bins.capacity[machine] - self.sizes.mean @ here
        self.bins.variance[machine] = self.sizes.variance @ here
        self.bins.d[machine] = np.where(here > 0, self.sizes.d, 0.0).max(axis=1, initial=0.0)
