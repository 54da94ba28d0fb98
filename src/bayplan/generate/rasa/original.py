"""The ORIGINAL placement: containers arrive in random order and a kube-like scheduler places each at once."""

import numpy as np

from bayplan.errors import ModelError
from bayplan.kernels.kube_scheduler import Filters, schedule
from bayplan.model import Allow, AntiAffinity, Cluster, IntArray, Placement, ints

MOST_ROUNDS = 50


def original_placement(cluster: Cluster, rng: np.random.Generator) -> tuple[Placement, int]:
    """All containers placed with every rule kept, and the number of rounds that took.

    If some container finds no machine, all arrive again, those that were left over first: as if they had
    been started before the others.
    """
    n_c = len(cluster.containers.name)
    order, tie = rng.permutation(n_c), rng.random(n_c)
    filters = filters_of(cluster)
    machine_of = np.empty(n_c, dtype=np.int64)
    for rounds in range(1, MOST_ROUNDS + 1):
        workloads = cluster.workloads
        schedule(order, tie, cluster.containers.workload, workloads.request, cluster.machines.capacity, filters, machine_of)
        left = machine_of[order] < 0
        if not left.any():
            return Placement(machine_of=ints(machine_of)), rounds
        order = np.r_[order[left], order[~left]]
    raise ModelError(f"cluster '{cluster.name}': {left.sum()} containers found no machine in {MOST_ROUNDS} rounds")


def filters_of(cluster: Cluster) -> Filters:
    """The allow and anti-affinity rules of a cluster as the scheduler's arrays."""
    n_w, n_m = len(cluster.workloads.name), len(cluster.machines.name)
    allow = [rule for rule in cluster.rules if isinstance(rule, Allow)]
    allow_row = np.zeros(n_w, dtype=np.int64)
    allowed = np.zeros((len(allow) + 1, n_m), dtype=np.bool_)
    allowed[0] = True
    for row, rule in enumerate(allow, start=1):
        allow_row[list(rule.workloads)] = row
        allowed[row, cluster.machine_sets[rule.machines]] = True
    apart = [rule for rule in cluster.rules if isinstance(rule, AntiAffinity)]
    set_start, set_of = _memberships([rule.workloads for rule in apart], n_w)
    return Filters(allow_row, allowed, set_start, set_of, ints([rule.limit for rule in apart]))


def _memberships(groups: list[tuple[int, ...]], n_w: int) -> tuple[IntArray, IntArray]:
    """(workload + 1,) starts and the groups of each workload, side by side."""
    member = ints([w for group in groups for w in group])
    group = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    start = np.r_[0, np.cumsum(np.bincount(member, minlength=n_w))]
    return ints(start), ints(group[np.argsort(member, kind="stable")])
