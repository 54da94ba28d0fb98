"""The ORIGINAL placement: containers arrive in random order, a kube-like first fit places each at once, a few leave."""

from typing import NamedTuple

import numpy as np

from bayplan.errors import ModelError
from bayplan.generate.rasa.machines import joining_order
from bayplan.generate.rasa.settings import DEPARTED, WINDOW
from bayplan.kernels.kube_scheduler import Filters, Jobs, nothing_placed, schedule
from bayplan.model import AntiAffinity, Cluster, FloatArray, IntArray, Placement, Progress, Tick, allowed, ints, silent

MOST_ROUNDS = 50
SLICE = 2_000  # containers between two ticks; Ctrl-C waits as long


class Arrivals(NamedTuple):
    """What the scheduler is told. Its machines are numbered as they joined."""

    jobs: Jobs  # the containers of the cluster, then those that leave
    capacity: IntArray  # (machine, resource)
    filters: Filters
    tie: FloatArray  # (container,)


def original_placement(cluster: Cluster, rng: np.random.Generator, progress: Progress = silent) -> tuple[Placement, int]:
    """All containers placed with every rule kept, and the number of rounds that took.

    If some container finds no machine, all arrive again, those that were left over first: as if they had
    been started before the others.
    """
    n_c = len(cluster.containers.name)
    joined = joining_order(cluster.machines, rng)
    arrivals = arrivals_at(cluster, joined, rng)
    order = rng.permutation(len(arrivals.tie))
    for rounds in range(1, MOST_ROUNDS + 1):
        number = placed(arrivals, order, progress)
        left = (number[order] < 0) & (order < n_c)
        if not left.any():
            return Placement(machine_of=ints(joined[number[:n_c]])), rounds
        order = np.r_[order[left], order[~left]]
    raise ModelError(f"cluster '{cluster.name}': {left.sum()} containers found no machine in {MOST_ROUNDS} rounds")


def placed(arrivals: Arrivals, order: IntArray, progress: Progress = silent) -> IntArray:
    """(container,) number of its machine among the joined, negative for none, when all arrive in this order."""
    jobs, capacity, filters, tie = arrivals
    state = nothing_placed(jobs, filters, capacity)
    window = max(1, round(WINDOW * len(capacity)))
    for start in range(0, len(order), SLICE):
        progress(Tick(stage="placing", done=start / len(order)))
        schedule(order[start : start + SLICE], tie, jobs, capacity, filters, window, state)
    return state.machine_of


def arrivals_at(cluster: Cluster, joined: IntArray, rng: np.random.Generator) -> Arrivals:
    """The containers of the cluster and, to leave again, more replicas of random ones; machines in the order of `joined`."""
    own = cluster.containers.workload
    leaving = rng.choice(own, round(DEPARTED * len(own)))
    request, kind_of = np.unique(cluster.workloads.request, axis=0, return_inverse=True)
    jobs = Jobs(workload_of=ints(np.r_[own, leaving]), kind_of=ints(kind_of.ravel()), request=ints(request))
    capacity = ints(cluster.machines.capacity[joined])
    return Arrivals(jobs=jobs, capacity=capacity, filters=filters_of(cluster, joined), tie=rng.random(len(jobs.workload_of)))


def filters_of(cluster: Cluster, joined: IntArray) -> Filters:
    """The allow and anti-affinity rules of a cluster as the scheduler's arrays; machines in the order of `joined`."""
    row_of, row = allowed(cluster)
    row = np.take(row, joined, axis=1)
    row.flags.writeable = False  # like all that goes in: numba compiles for it
    apart = [rule for rule in cluster.rules if isinstance(rule, AntiAffinity)]
    set_start, set_of = _memberships([rule.workloads for rule in apart], len(cluster.workloads.name))
    return Filters(allow_row=row_of, allowed=row, set_start=set_start, set_of=set_of, limit=ints([rule.limit for rule in apart]))


def _memberships(groups: list[tuple[int, ...]], n_w: int) -> tuple[IntArray, IntArray]:
    """(workload + 1,) starts and the groups of each workload, side by side."""
    member = ints([w for group in groups for w in group])
    group = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    start = np.r_[0, np.cumsum(np.bincount(member, minlength=n_w))]
    return ints(start), ints(group[np.argsort(member, kind="stable")])
