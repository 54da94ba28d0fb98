"""Cradle's two passes (002 Algorithm 1) over one class of requests, in n log n.

Requests stand in order of finish time. `share[j] / below[i]` is what a unit of weight pushed for i takes from a later j that
meets it: (a_j + b_j) / (2k - a_i - b_i) for narrow requests (002 (4)), 1 / k for wide ones (002 (3)).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.schedule.rooms import NOBODY, change, first_room
from bayplan.kernels.search.compiled import kernel

NOTHING = 1e-12  # of its weight: a residual weight up to this is none


class Class(NamedTuple):
    """Requests of one class, by finish time, then by the order given."""

    start: npt.NDArray[np.float64]  # (request,)
    end: npt.NDArray[np.float64]  # (request,)
    weight: npt.NDArray[np.float64]  # (request,)
    share: npt.NDArray[np.float64]  # (request,)
    below: npt.NDArray[np.float64]  # (request,)
    demand: npt.NDArray[np.int64]  # (request, resource) what it takes of a machine's room
    ended: npt.NDArray[np.int64]  # (request,) how many finish no later than it starts
    latest: npt.NDArray[np.int64]  # (request,) requests by start, the latest first


@kernel
def push(of, taken, rest, residual_out):
    """Lines 2-5: residual weights, 0 for those that are dropped. `taken`, `rest`: (request + 1,) scratch.

    What is taken from j is share[j] times the sum over pushed i that finish after j starts: a difference of two prefix sums.
    These are kept in two parts, `taken` and the rounding error `rest`, so that the difference is as good as the sum itself.
    """
    taken[0], rest[0] = 0.0, 0.0
    for j in range(len(of.weight)):
        i = of.ended[j]
        left = of.weight[j] - of.share[j] * ((taken[j] - taken[i]) + (rest[j] - rest[i]))
        residual_out[j] = left if left > NOTHING * of.weight[j] else 0.0
        more = residual_out[j] / of.below[j]
        total = taken[j] + more
        part = total - taken[j]
        taken[j + 1] = total
        rest[j + 1] = rest[j] + ((taken[j] - (total - part)) + (more - part))


@kernel
def unwind(of, residual, most, machine_out):
    """Lines 6-8: from the last finish to the first, each pushed request goes to the lowest-index machine that has room.

    All that was accepted ends no earlier than j does. So what meets j also runs when j ends, and a machine's load during j is
    highest then: its free amount at that time, kept in the tree `most`, decides. What starts later has left the tree.
    """
    gone = 0
    for j in range(len(residual) - 1, -1, -1):
        machine_out[j] = NOBODY
        while gone < len(of.latest) and of.start[of.latest[gone]] >= of.end[j]:
            i = of.latest[gone]
            if machine_out[i] != NOBODY:
                change(most, machine_out[i], of.demand, i, 1)
            gone += 1
        if residual[j] > 0.0:
            m = first_room(most, of.demand, j)
            machine_out[j] = m
            if m != NOBODY:
                change(most, m, of.demand, j, -1)
