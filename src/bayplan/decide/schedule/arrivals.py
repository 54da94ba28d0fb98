"""Requests in the order of their arrival, and machines as a tree of free amounts: shared by online schedulers."""

import numpy as np

from bayplan.kernels.schedule.stream import RequestStream
from bayplan.model import UNPLACED, Fleet, IntArray, TimedRequests


def stream_of(requests: TimedRequests) -> RequestStream:
    """The requests, with the order of their starts and of their ends; ties keep the given order."""
    return RequestStream(
        start=np.array(requests.start),
        end=np.array(requests.end),
        demand=np.array(requests.demand),
        by_start=np.argsort(requests.start, kind="stable"),
        by_end=np.argsort(requests.end, kind="stable"),
    )


def free_tree(fleet: Fleet) -> IntArray:
    """(2 * leaves, resource) the most that is free below a node while nothing runs: leaf m is machine m, or -1."""
    leaves = 1 << max(0, fleet.size - 1).bit_length()
    most = np.full((2 * leaves, fleet.capacity.shape[1]), -1, dtype=np.int64)
    most[leaves : leaves + fleet.size] = fleet.capacity[fleet.kind_of]
    for i in range(leaves - 1, 0, -1):
        most[i] = np.maximum(most[2 * i], most[2 * i + 1])
    return most


def none_served(requests: TimedRequests) -> IntArray:
    """(request,) `UNPLACED` for every request."""
    return np.full(len(requests.name), UNPLACED, dtype=np.int64)
