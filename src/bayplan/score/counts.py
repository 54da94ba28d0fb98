"""How much of what runs where. Containers without a machine are not counted anywhere.

All sums are int64 and exact; the model guarantees that they fit.
"""

from typing import TypeAlias

import numpy as np
from scipy.sparse import coo_array, csr_array

from bayplan.model import UNPLACED, Cluster, IntArray, Placement, Running

Counts: TypeAlias = "csr_array[np.int64, tuple[int, int]]"


def loads(cluster: Cluster, placement: Placement) -> IntArray:
    """(machine, resource) requests of the containers on each machine."""
    return _loads(cluster, placement.placed, placement.machine_of[placement.placed])


def running_loads(cluster: Cluster, running: Running) -> IntArray:
    """(machine, resource) requests of everything that runs; a container on two machines counts on both."""
    pairs = running.pairs()
    return _loads(cluster, pairs[:, 0], pairs[:, 1])


def _loads(cluster: Cluster, container: IntArray, machine: IntArray) -> IntArray:
    workload = cluster.containers.workload[container]
    load = np.zeros((len(cluster.resources), len(cluster.machines.name)), dtype=np.int64)
    for r in range(len(cluster.resources)):
        np.add.at(load[r], machine, cluster.workloads.request[workload, r])
    return np.ascontiguousarray(load.T)


def containers_on(cluster: Cluster, placement: Placement) -> IntArray:
    """(machine,) number of containers on each machine."""
    running = placement.machine_of != UNPLACED
    return np.bincount(placement.machine_of[running], minlength=len(cluster.machines.name))


def placed_replicas(cluster: Cluster, placement: Placement) -> IntArray:
    """(workload,) number of containers of each workload that have a machine."""
    running = placement.machine_of != UNPLACED
    return np.bincount(cluster.containers.workload[running], minlength=len(cluster.workloads.name))


def workload_counts(cluster: Cluster, placement: Placement, level: int = 0) -> Counts:
    """(workload, group of the level) number of containers, sparse; level 0 counts per machine."""
    return _counted(cluster, placement, level, cluster.containers.workload, len(cluster.workloads.name))


def service_counts(cluster: Cluster, placement: Placement, level: int = 0) -> Counts:
    """(service, group of the level) number of containers, sparse; level 0 counts per machine."""
    service = cluster.workloads.service[cluster.containers.workload]
    return _counted(cluster, placement, level, service, len(cluster.services.name))


def _counted(cluster: Cluster, placement: Placement, level: int, row: IntArray, rows: int) -> Counts:
    running = placement.machine_of != UNPLACED
    group = cluster.levels[level].group_of[placement.machine_of[running]]
    ones = np.ones(len(group), dtype=np.int64)
    # tocsr adds up equal pairs and leaves the columns of each row ascending
    return coo_array((ones, (row[running], group)), shape=(rows, len(cluster.levels[level].group))).tocsr()
