"""Requests served as they come: what has ended is released first, then the next one gets a machine or is refused.

At a start the load is what runs now, and what runs now only becomes less: what fits now fits until its end. Machines are
the leaves of a tree of the most free amount of every resource below each node (see `free_tree`), so that one
that fits is found without trying all of them. The answer is that of trying one after the other.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.schedule.free_tree import NO_MACHINE, add_free, first_fit_after


class RequestStream(NamedTuple):
    """Requests, and the two orders in which things happen."""

    start: npt.NDArray[np.float64]  # (request,)
    end: npt.NDArray[np.float64]  # (request,)
    demand: npt.NDArray[np.int64]  # (request, resource)
    by_start: npt.NDArray[np.int64]  # (request,) in the order of decisions; equal starts: the order given
    by_end: npt.NDArray[np.int64]  # (request,)


@kernel
def release(stream, tree, ended, now, machine_of):
    """Release what ends up to `now`; the number of requests that have ended, of which `ended` had before."""
    while ended < len(stream.by_end) and stream.end[stream.by_end[ended]] <= now:
        j = stream.by_end[ended]
        if machine_of[j] != NO_MACHINE:
            add_free(tree, machine_of[j], stream.demand, j, 1)
        ended += 1
    return ended


@kernel
def serve_round_robin(stream, tree, machines, move_on, machine_of_out):
    """Serve every request on the first machine in a circle that it fits on ([Cradle] §V); `machine_of_out` begins as NO_MACHINE.

    The circle begins at the machine that was used last, or, with `move_on`, at the one after it. Refused: nothing changes.
    """
    ended, turn = 0, 0
    for j in stream.by_start:
        ended = release(stream, tree, ended, stream.start[j], machine_of_out)
        m = first_fit_after(tree, turn, stream.demand, j)
        if m == NO_MACHINE and turn > 0:
            m = first_fit_after(tree, 0, stream.demand, j)
        if m != NO_MACHINE:
            add_free(tree, m, stream.demand, j, -1)
            machine_of_out[j] = m
            turn = (m + 1) % machines if move_on else m
