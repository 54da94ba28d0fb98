"""Blocks of services that are bounded one by one: heavy edges within, light ones between."""

import numpy as np

from bayplan.model import Cluster, IntArray, ints

SMALLEST, LARGEST = 25, 200  # services of a block: those of a large one take longer
A_SECOND = 500  # services of a block, times all services that talk, for which a second is enough


def block_size(cluster: Cluster, seconds: float) -> int:
    """How large blocks may become if all of them have to be bounded in time."""
    talking = len(np.union1d(cluster.traffic.a, cluster.traffic.b))
    return int(np.clip(A_SECOND * seconds / max(1, talking), SMALLEST, LARGEST))


def blocks(cluster: Cluster, largest: int) -> IntArray:
    """(workload,) its block: edges from heavy to light join the blocks at their ends, unless that becomes too large."""
    leader = np.arange(len(cluster.workloads.name))
    size = np.ones(len(leader), dtype=np.int64)

    def find(w: int) -> int:
        while leader[w] != w:
            leader[w] = leader[leader[w]]
            w = int(leader[w])
        return w

    traffic = cluster.traffic
    for e in np.argsort(-traffic.weight, kind="stable").tolist():
        a, b = find(int(traffic.a[e])), find(int(traffic.b[e]))
        if a != b and size[a] + size[b] <= largest:
            leader[b] = a
            size[a] += size[b]
    _, block = np.unique([find(w) for w in range(len(leader))], return_inverse=True)
    return ints(block)
