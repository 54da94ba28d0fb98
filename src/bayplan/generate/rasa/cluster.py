"""One recipe for the four clusters of [RASA] Table II, with their ORIGINAL placement.

For it, containers arrive in random order, a kube-like first fit places each at once, and a few leave.
"""

from typing import NamedTuple

import numpy as np

from bayplan.errors import ModelError
from bayplan.generate.rasa.machines import joining_order, make_machine_sets, make_machines, make_rules
from bayplan.generate.rasa.settings import DEPARTED, M1, M2, M3, M4, WINDOW, ClusterSettings, scaled
from bayplan.generate.rasa.workloads import DrawnWorkloads, make_traffic, make_workloads
from bayplan.kernels.kube_scheduler import Filters, Jobs, nothing_placed, schedule
from bayplan.model import (
    AntiAffinity,
    Cluster,
    Containers,
    FloatArray,
    IntArray,
    Objective,
    Placement,
    Progress,
    Resource,
    Services,
    Snapshot,
    Tick,
    Traffic,
    Workloads,
    allowed,
    floats,
    ints,
    machine_level,
    silent,
)

MOST_ROUNDS = 50
SLICE = 2_000  # containers between two ticks; Ctrl-C waits as long


class Arrivals(NamedTuple):
    """What the scheduler gets. Its machines are numbered as they joined."""

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
        number = placed_in_order(arrivals, order, progress)
        left = (number[order] < 0) & (order < n_c)
        if not left.any():
            return Placement(machine_of=ints(joined[number[:n_c]])), rounds
        order = np.r_[order[left], order[~left]]
    raise ModelError(f"cluster '{cluster.name}': {left.sum()} containers found no machine in {MOST_ROUNDS} rounds")


def placed_in_order(arrivals: Arrivals, order: IntArray, progress: Progress = silent) -> IntArray:
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


RESOURCES = (Resource(name="cpu", scale=1000, unit="cores"), Resource(name="memory", scale=1, unit="bytes"))


def make(settings: ClusterSettings, seed: int, progress: Progress = silent, scale: float = 1.0) -> Snapshot:
    """A cluster `scale` times as large, with its ORIGINAL placement. Equal seeds give equal snapshots."""
    settings = scaled(settings, scale)
    rng = np.random.default_rng(seed)
    progress(Tick(stage="generating", done=0.0))
    cluster = make_cluster(settings, rng)
    placement, rounds = original_placement(cluster, rng, progress)
    progress(Tick(stage="placing", done=1.0))
    size = f", scale {scale:g}" if scale != 1 else ""
    notes = (f"generated: {settings.name}, seed {seed}{size}", f"ORIGINAL placement by a kube-like first fit, rounds: {rounds}")
    return Snapshot(cluster=cluster, placement=placement, objective=Objective.default(cluster), notes=notes)


def make_cluster(settings: ClusterSettings, rng: np.random.Generator) -> Cluster:
    """Everything but the placement. A service of [RASA] is a workload here, alone in its service."""
    machines = make_machines(settings, rng)
    machine_sets = make_machine_sets(machines, rng)
    by_traffic = make_workloads(settings, ints(machines.capacity.sum(axis=0)), rng)
    shuffle = rng.permutation(settings.services)  # the number of a service says nothing about its traffic
    traffic = make_traffic(settings, rng)
    drawn = DrawnWorkloads(
        replicas=ints(by_traffic.replicas[np.argsort(shuffle)]), request=ints(by_traffic.request[np.argsort(shuffle)])
    )
    names = tuple(f"svc-{w}" for w in range(settings.services))
    return Cluster(
        name=settings.name,
        resources=RESOURCES,
        machines=machines,
        levels=(machine_level(machines.name),),
        services=Services(name=names, clique=floats(np.zeros(len(names)))),
        workloads=Workloads.by_request(names, ints(np.arange(len(names))), drawn.request),
        containers=Containers.replicas_of(names, drawn.replicas),
        traffic=Traffic.between(ints(shuffle[traffic.a]), ints(shuffle[traffic.b]), traffic.weight),
        rules=make_rules(settings, drawn.replicas, machine_sets, rng),
        machine_sets=machine_sets,
    )


def rasa_m1(*, seed: int = 0, scale: float = 1.0, progress: Progress = silent) -> Snapshot:
    """5,904 services, 25,640 containers, 977 machines."""
    return make(M1, seed, progress, scale)


def rasa_m2(*, seed: int = 0, scale: float = 1.0, progress: Progress = silent) -> Snapshot:
    """10,180 services, 152,833 containers, 5,284 machines."""
    return make(M2, seed, progress, scale)


def rasa_m3(*, seed: int = 0, scale: float = 1.0, progress: Progress = silent) -> Snapshot:
    """547 services, 3,485 containers, 96 machines: the scale of the published cluster."""
    return make(M3, seed, progress, scale)


def rasa_m4(*, seed: int = 0, scale: float = 1.0, progress: Progress = silent) -> Snapshot:
    """10,682 services, 113,261 containers, 4,365 machines."""
    return make(M4, seed, progress, scale)
