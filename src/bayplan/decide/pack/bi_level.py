"""Machines in the order of their uncertainty, services in that of theirs (003 section 5.2, Algorithm 2).

Readings: line 6 has the variance of the machine inside of the root, w mu_j + D sqrt(w b_j + B_i) <= V - C_i; line 10 is left out,
its sigma is defined nowhere.
"""

import numpy as np

from bayplan.decide.pack.answer import packed
from bayplan.decide.pack.bins import bins_of, copied, sizes_of
from bayplan.decide.pack.problem import PackProblem
from bayplan.decide.pack.signature import PackOptions
from bayplan.kernels.pack.fill import Bins, Sizes, fill_in_order
from bayplan.model import Budget, IntArray, Placement, Progress, Result


def bi_level(problem: PackProblem, options: PackOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Algorithm 2. It draws no random numbers."""
    clock = budget.clock()
    return packed(problem, fill_by_uncertainty(sizes_of(problem), bins_of(problem), problem.waiting), seconds=clock.seconds)


def fill_by_uncertainty(sizes: Sizes, bins: Bins, waiting: IntArray) -> IntArray:
    """(bin, service) how many containers go where; ties go to the first."""
    mean, variance = sizes.mean[0], sizes.variance[0]
    machines = np.argsort(-bins.variance[:, 0], kind="stable")  # line 1
    services = np.argsort(-variance / np.maximum(mean, 1e-300), kind="stable")  # line 2
    count = np.zeros(bins.most.shape, dtype=np.int64)
    fill_in_order(sizes, copied(bins), machines, services, waiting.copy(), count)  # lines 3 to 9
    return count
