"""The two passes of [Cradle] Algorithm 1 over one class of requests, in n log n.

Requests are in order of finish time. `share[j] / divisor[i]` is what a unit of weight pushed for i takes from a later j that
meets it: (a_j + b_j) / (2k - a_i - b_i) for narrow requests ([Cradle] (4)), 1 / k for wide ones ([Cradle] (3)).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.schedule.free_tree import NO_MACHINE, add_free, first_fit_now

NEGLIGIBLE = 1e-12  # of its weight: a residual weight up to this is none


class RequestClass(NamedTuple):
    """Requests of one class, by finish time, then by the order given."""

    start: npt.NDArray[np.float64]  # (request,)
    end: npt.NDArray[np.float64]  # (request,)
    weight: npt.NDArray[np.float64]  # (request,)
    share: npt.NDArray[np.float64]  # (request,)
    divisor: npt.NDArray[np.float64]  # (request,)
    demand: npt.NDArray[np.int64]  # (request, resource) what it takes of a machine
    ended: npt.NDArray[np.int64]  # (request,) number of requests that finish no later than it starts
    latest: npt.NDArray[np.int64]  # (request,) requests by start, the latest first


@kernel
def push(requests, taken, rounding, residual_out):
    """Lines 2-5: residual weights, 0 for those that are dropped. `taken`, `rounding`: (request + 1,) scratch.

    What is taken from j is share[j] times the sum over pushed i that finish after j starts: a difference of two prefix sums.
    These are kept in two parts, `taken` and the rounding error `rounding`, so that the difference is as good as the sum itself.
    """
    taken[0], rounding[0] = 0.0, 0.0
    for j in range(len(requests.weight)):
        i = requests.ended[j]
        left = requests.weight[j] - requests.share[j] * ((taken[j] - taken[i]) + (rounding[j] - rounding[i]))
        residual_out[j] = left if left > NEGLIGIBLE * requests.weight[j] else 0.0
        more = residual_out[j] / requests.divisor[j]
        total = taken[j] + more
        part = total - taken[j]
        taken[j + 1] = total
        rounding[j + 1] = rounding[j] + ((taken[j] - (total - part)) + (more - part))


@kernel
def unwind(requests, residual, tree, machine_out):
    """Lines 6-8: from the last finish to the first, each pushed request goes to the lowest-index machine that it fits on.

    All that was accepted ends no earlier than j does. So what meets j also runs when j ends, and a machine's load during j is
    highest then: its free amount at that time, kept in `tree`, decides. What starts later has left the tree.
    """
    ended_later = 0
    for j in range(len(residual) - 1, -1, -1):
        machine_out[j] = NO_MACHINE
        while ended_later < len(requests.latest) and requests.start[requests.latest[ended_later]] >= requests.end[j]:
            i = requests.latest[ended_later]
            if machine_out[i] != NO_MACHINE:
                add_free(tree, machine_out[i], requests.demand, i, 1)
            ended_later += 1
        if residual[j] > 0.0:
            m = first_fit_now(tree, requests.demand, j)
            machine_out[j] = m
            if m != NO_MACHINE:
                add_free(tree, m, requests.demand, j, -1)
