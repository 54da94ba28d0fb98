"""Requests on machines: at both ends, and at the worst while the steps of a batch run."""

import numpy as np

from bayplan.check.migration.batch_state import Instances, Wave
from bayplan.model import Cluster, IntArray


def load_of(cluster: Cluster, some: Instances) -> IntArray:
    """(machine, resource) requests of some instances, exactly."""
    request, w = cluster.workloads.request, cluster.containers.workload[some.c]
    load = np.zeros_like(cluster.machines.capacity)
    for r in range(len(cluster.resources)):
        np.add.at(load[:, r], some.m, request[w, r])
    return load


class Loads:
    """(machine, resource) sums. `high` counts everything from before the batch and every create of it."""

    def __init__(self, cluster: Cluster, begin: Instances, end: Instances) -> None:
        self.cluster = cluster
        self.start, self.end = load_of(cluster, begin), load_of(cluster, end)
        self.limit = np.maximum(cluster.machines.capacity, np.maximum(self.start, self.end))  # never worse than both ends
        self.high = self.after = self.start

    def turn(self, wave: Wave) -> None:
        """On to the next batch."""
        self.high = self.after + load_of(self.cluster, wave.creates)
        self.after = self.high - load_of(self.cluster, wave.deletes)

    def peak(self) -> float:
        """Highest load / capacity while the steps run; machines without any of a resource are left out."""
        has = self.cluster.machines.capacity
        some = has > 0
        return float((self.high[some] / has[some]).max(initial=0.0))
