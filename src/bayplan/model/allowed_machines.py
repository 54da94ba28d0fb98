"""Where workloads may run by all `allow` rules together, and which containers a rule names one by one."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayplan.model.arrays import BoolArray, IntArray, ints
from bayplan.model.cluster import Cluster
from bayplan.model.placement import UNPLACED, Placement
from bayplan.model.rules import Allow, CoLocate, Pinned


class AllowedMachines(NamedTuple):
    """One row of machines for all workloads with the same `allow` rules; row 0 is every machine."""

    row_of: IntArray  # (workload,) row
    row: BoolArray  # (row, machine) may run there

    def machines(self, workload: int) -> BoolArray:
        """(machine,) where a workload may run."""
        machines: BoolArray = self.row[self.row_of[workload]]
        return machines


def allowed(cluster: Cluster) -> AllowedMachines:
    """Every `allow` rule must hold, so a workload with several may run where all of them allow it."""
    names: list[set[str]] = [set() for _ in cluster.workloads.name]
    for rule in cluster.rules:
        if isinstance(rule, Allow):
            for w in rule.workloads:
                names[w].add(rule.machines)
    keys = [tuple(sorted(sets)) for sets in names]
    number = {key: row for row, key in enumerate(dict.fromkeys([(), *keys]))}
    row = np.ones((len(number), len(cluster.machines.name)), dtype=np.bool_)
    for key, index in number.items():
        for name in key:
            row[index] &= np.isin(np.arange(row.shape[1]), cluster.machine_sets[name])
    row.flags.writeable = False
    return AllowedMachines(row_of=ints([number[key] for key in keys]), row=row)


def co_located_groups(cluster: Cluster) -> Iterator[tuple[int, ...]]:
    """The containers that each co-locate rule keeps on one machine, each once, in the order of the rules."""
    for rule in cluster.rules:
        if isinstance(rule, CoLocate):
            yield tuple(dict.fromkeys(rule.containers))


def pinned_containers(cluster: Cluster) -> BoolArray:
    """(container,) named by a pinned rule."""
    pinned = np.zeros(len(cluster.containers.name), dtype=np.bool_)
    for rule in cluster.rules:
        if isinstance(rule, Pinned):
            pinned[list(rule.containers)] = True
    return pinned


def daemons(cluster: Cluster, placement: Placement) -> BoolArray:
    """(container,) those that come and go with their machine: of workloads whose replicas are all pinned, one on each machine."""
    pinned = pinned_containers(cluster)
    count = len(cluster.workloads.name)
    owner, machine = cluster.containers.workload, placement.machine_of
    runs = np.flatnonzero(pinned & (machine != UNPLACED))
    pairs = np.unique(np.column_stack([owner[runs], machine[runs]]), axis=0)[:, 0] if runs.size else np.zeros(0, dtype=np.int64)
    replicas = np.bincount(owner, minlength=count)
    whole = (np.bincount(owner[pinned], minlength=count) == replicas) & (np.bincount(pairs, minlength=count) == replicas)
    return np.asarray(pinned & whole[owner], dtype=np.bool_)


def singled_out(cluster: Cluster) -> BoolArray:
    """(container,) named by a pinned or co-locate rule: not interchangeable with the other replicas."""
    named = np.zeros(len(cluster.containers.name), dtype=np.bool_)
    for rule in cluster.rules:
        if isinstance(rule, Pinned | CoLocate):
            named[list(rule.containers)] = True
    named.flags.writeable = False
    return named
