"""Machines that share their processor: n visits each get 1/n of it.

All visits of a machine have had the same service since each came, so a machine keeps one number, the service that a visit present
from the start would have had. A visit ends when that number reaches its own: what it was at its arrival plus its size.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel


class Sharing(NamedTuple):
    """The visits on each machine."""

    served: npt.NDArray[np.float64]  # (machine,) service that each present visit has had since the machine was new
    since: npt.NDArray[np.float64]  # (machine,) time up to which `served` and `busy` are right
    visits: npt.NDArray[np.int64]  # (machine,) visits
    target: npt.NDArray[np.float64]  # (machine, place) `served` at which a visit ends
    request: npt.NDArray[np.int64]  # (machine, place) place of the request; -1 of others
    finish: npt.NDArray[np.float64]  # (machine,) time at which the next visit ends; infinite without visits
    busy: npt.NDArray[np.float64]  # (machine,) time with visits


@kernel
def advance(sharing, m, now):
    """Serve the visits of a machine up to a time."""
    n = sharing.visits[m]
    if n > 0:
        sharing.served[m] += (now - sharing.since[m]) / n
        sharing.busy[m] += now - sharing.since[m]
    sharing.since[m] = now


@kernel
def next_end(sharing, m):
    """The place of the visit that ends next, the first of equals; its time is kept."""
    n = sharing.visits[m]
    sharing.finish[m] = np.inf
    if n == 0:
        return -1
    best = 0
    for place in range(1, n):
        if sharing.target[m, place] < sharing.target[m, best]:
            best = place
    sharing.finish[m] = sharing.since[m] + max(0.0, sharing.target[m, best] - sharing.served[m]) * n
    return best


@kernel
def start_visit(sharing, m, now, size, request):
    """A visit comes; false if the machine has no place for it."""
    if sharing.visits[m] == sharing.target.shape[1]:
        return False
    advance(sharing, m, now)
    place = sharing.visits[m]
    sharing.target[m, place] = sharing.served[m] + size
    sharing.request[m, place] = request
    sharing.visits[m] += 1
    next_end(sharing, m)
    return True


@kernel
def end_visit(sharing, m):
    """The next visit of a machine ends, at its time; its request."""
    place = next_end(sharing, m)
    advance(sharing, m, sharing.finish[m])
    request = sharing.request[m, place]
    last = sharing.visits[m] - 1
    sharing.target[m, place], sharing.request[m, place] = sharing.target[m, last], sharing.request[m, last]
    sharing.visits[m] = last
    next_end(sharing, m)
    return request
