"""Best fit: each container goes to the machine that is fullest with it, and can take it (003 section 5.1).

Containers of a service arrive one after the other. Where one of them has gone, the next one goes, too, while it fits: that
machine is now fuller still. So a whole service is packed by sorting machines once, and the result is that of one at a time.
"""

import numpy as np

from bayplan.decide.pack.answer import packed
from bayplan.decide.pack.bins import bins_of, copied, sizes_of
from bayplan.decide.pack.problem import PackProblem
from bayplan.decide.pack.signature import PackOptions
from bayplan.kernels.pack.fill import Bins, Sizes, fill_in_order
from bayplan.model import Budget, FloatArray, IntArray, Placement, Progress, Result


def bf_ucac(problem: PackProblem, options: PackOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Best fit by UCaC, services in the order of the input. It draws no random numbers."""
    clock = budget.clock()
    count = best_fit(sizes_of(problem), bins_of(problem), problem.waiting)
    return packed(problem, count, seconds=clock.seconds)


def bf_nsigma(problem: PackProblem, options: PackOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Best fit by a certain size of each container: its mean and n deviations, D(alpha) if n is not said (003 section 6).

    With fewer deviations than D(alpha) machines may break the chance constraint; the answer says on how many they do.
    """
    clock = budget.clock()
    sizes, bins = _certain(sizes_of(problem), bins_of(problem), problem.running, options.n_sigma)
    return packed(problem, best_fit(sizes, bins, problem.waiting), seconds=clock.seconds, may_break_chances=True)


def best_fit(sizes: Sizes, bins: Bins, waiting: IntArray) -> IntArray:
    """(bin, service) how many containers go where; ties go to the first machine."""
    bins, left = copied(bins), waiting.copy()
    count = np.zeros(bins.most.shape, dtype=np.int64)
    for k in np.flatnonzero(waiting).tolist():
        order = np.argsort(-fullness(sizes, bins, k), kind="stable")
        fill_in_order(sizes, bins, order, np.array([k]), left, count)
    return count


def fullness(sizes: Sizes, bins: Bins, k: int) -> FloatArray:
    """(bin,) UCaC of the main resource with one more container of service k, up to what all of them have in common."""
    d = np.maximum(bins.d[:, 0], sizes.d[0, k])
    used: FloatArray = sizes.mean[0, k] + d * np.sqrt(bins.variance[:, 0] + sizes.variance[0, k])
    return used + bins.full[:, 0] - bins.room[:, 0]


def _certain(sizes: Sizes, bins: Bins, running: IntArray, n: float | None) -> tuple[Sizes, Bins]:
    """The same problem, with certain sizes."""
    deviates = sizes.d if n is None else np.full(sizes.d.shape, n)
    mean, zero = sizes.mean + deviates * np.sqrt(sizes.variance), np.zeros(sizes.mean.shape)
    room = bins.full - running @ mean.T
    certain = bins._replace(room=room, variance=np.zeros(bins.variance.shape), d=np.zeros(bins.d.shape))
    return sizes._replace(mean=mean, variance=zero, d=zero), certain
