"""A dozen services of a web shop on twelve machines, valid but far from good: for demos.

Machines a1, a2, a3 and b1 run above their safety capacity while the west is half empty; the services that talk
most run apart; one frontend and one ranker have no machine.
"""

from dataclasses import replace

import numpy as np

from bayplan.generate.boutique_data import LAYOUT, MACHINE_SETS, MACHINES, TRAFFIC, VIOLATING, WORKLOADS, Machine
from bayplan.generate.generator import require
from bayplan.model import (
    UNPLACED,
    Allow,
    AntiAffinity,
    Capacity,
    Cluster,
    CoLocate,
    Confidence,
    Containers,
    Dependency,
    IntArray,
    Interference,
    Level,
    Machines,
    Objective,
    Pinned,
    Placement,
    Progress,
    Resource,
    Rule,
    Services,
    Skew,
    Snapshot,
    Spread,
    Traffic,
    Transient,
    TransientMode,
    Workloads,
    floats,
    ints,
    machine_level,
    silent,
)

ALPHA = 0.999
CPU, MEMORY, GPU = 0, 1, 2


def shop_rules(cluster: Cluster) -> tuple[Rule, ...]:
    """All rules, by the names of the tables."""
    workload = {name: w for w, name in enumerate(cluster.workloads.name)}
    service = {name: s for s, name in enumerate(cluster.services.name)}
    container = {name: c for c, name in enumerate(cluster.containers.name)}
    rack, zone = cluster.level_index("rack"), cluster.level_index("zone")
    payments, agents = range(cluster.replicas[workload["payment"]]), range(cluster.replicas[workload["log-agent"]])
    return (
        Capacity(resources=(CPU, MEMORY, GPU)),
        AntiAffinity(workloads=(workload["frontend"],), limit=3),
        AntiAffinity(workloads=(workload["payment"],), limit=1),
        AntiAffinity(workloads=(workload["cart-redis"], workload["catalogue-db"]), limit=1),  # both live on the disk
        AntiAffinity(workloads=(workload["catalogue-db"],), limit=1, level=rack),
        Spread(service=service["frontend"], minimum=2, level=zone),
        Spread(service=service["checkout"], minimum=2, level=zone),
        Spread(service=service["cart"], minimum=3, level=rack),
        Skew(workload=workload["payment"], level=zone, machines="hardened"),
        *(CoLocate(containers=(container[f"payment-{i}"], container[f"payment-vault-{i}"])) for i in payments),
        Allow(workloads=(workload["ranker"],), machines="gpu"),
        Allow(workloads=(workload["payment"], workload["payment-vault"]), machines="hardened"),
        Dependency(service=service["checkout"], on=service["currency"], level=zone),
        Dependency(service=service["frontend"], on=service["cart"], level=zone),
        Interference(a=workload["load-generator"], b=workload["checkout"], limit=0),
        Interference(a=workload["catalogue-db"], b=workload["search"], limit=1),
        Pinned(containers=tuple(container[f"log-agent-{i}"] for i in agents)),
        Confidence(resource=CPU, alpha=ALPHA),
        Transient(resource=MEMORY, mode=TransientMode.SEQUENTIAL),
    )


RESOURCES = (
    Resource(name="cpu", scale=1000, unit="cores"),
    Resource(name="memory", unit="bytes"),
    Resource(name="gpu", unit="gpus"),
)
GIB, MIB = 2**30, 2**20
SAFETY = 0.8  # of cpu and memory; a gpu is used or not
LIMIT = (2.0, 1.5, 1.0)  # limit over request
MEMORY_BUSY, MEMORY_SWING = 0.75, 0.05  # usage of memory over its request
USAGE_JITTER, TRAFFIC_JITTER = (0.9, 1.1), (0.8, 1.25)  # what the seed changes


def boutique(*, broken: int = 0, seed: int = 0, progress: Progress = silent) -> Snapshot:
    """The shop. The seed varies usage and traffic a little; `broken=1` plants rule violations for `check`."""
    require("boutique", (broken in (0, 1), f"broken is {broken}; expected 0 or 1"))
    rng = np.random.default_rng(seed)
    cluster = _cluster(rng)
    machine_of = _machine_of(cluster)
    if broken:
        container = {name: c for c, name in enumerate(cluster.containers.name)}
        for name, machine in VIOLATING.items():
            machine_of[container[name]] = cluster.machines.name.index(machine)
    return Snapshot(cluster=cluster, placement=Placement(machine_of=machine_of), objective=Objective.default(cluster))


def _cluster(rng: np.random.Generator) -> Cluster:
    capacity = np.array([(1000 * m.kind.cores, GIB * m.kind.memory, m.kind.gpus) for m in MACHINES.values()])
    safety = np.rint(capacity * [SAFETY, SAFETY, 1.0]).astype(np.int64)
    service = tuple(dict.fromkeys(workload.service for workload in WORKLOADS.values()))
    machine = tuple(MACHINES)
    cluster = Cluster(
        name="boutique",
        resources=RESOURCES,
        machines=Machines(name=machine, capacity=capacity, safety=safety),
        levels=(machine_level(machine), _level("rack"), _level("zone")),
        services=Services(name=service, clique=floats(np.zeros(len(service)))),
        workloads=_workloads(service, rng),
        containers=Containers.replicas_of(tuple(WORKLOADS), [workload.replicas for workload in WORKLOADS.values()]),
        traffic=_traffic(rng),
        machine_sets={name: ints(sorted(machine.index(m) for m in members)) for name, members in MACHINE_SETS.items()},
    )
    return replace(cluster, rules=shop_rules(cluster))


def _level(name: str) -> Level:
    at = Machine._fields.index(name)
    of_machine = [str(machine[at]) for machine in MACHINES.values()]
    group = tuple(dict.fromkeys(of_machine))
    return Level(name=name, group=group, group_of=ints([group.index(g) for g in of_machine]))


def _workloads(service: tuple[str, ...], rng: np.random.Generator) -> Workloads:
    request = np.array([(w.cpu, MIB * w.memory, w.gpu) for w in WORKLOADS.values()])
    busy = np.array([(w.busy, MEMORY_BUSY, 1.0) for w in WORKLOADS.values()])
    swing = np.array([(w.swing, MEMORY_SWING, 0.0) for w in WORKLOADS.values()])
    jitter = np.ones(request.shape)
    jitter[:, :2] = rng.uniform(*USAGE_JITTER, size=(len(request), 2))
    return Workloads(
        name=tuple(WORKLOADS),
        service=ints([service.index(w.service) for w in WORKLOADS.values()]),
        request=ints(request),
        usage_mean=floats(np.rint(request * busy * jitter)),
        usage_std=floats(np.rint(request * swing * jitter)),
        limit=ints(np.rint(request * LIMIT)),
    )


def _traffic(rng: np.random.Generator) -> Traffic:
    index = {name: w for w, name in enumerate(WORKLOADS)}
    weight = np.round(np.array(list(TRAFFIC.values())) * rng.uniform(*TRAFFIC_JITTER, size=len(TRAFFIC)), 1)
    return Traffic.between(ints([index[a] for a, _ in TRAFFIC]), ints([index[b] for _, b in TRAFFIC]), floats(weight))


def _machine_of(cluster: Cluster) -> IntArray:
    """(container,) machines by `LAYOUT`: replicas are assigned in machine order, the others have none."""
    machine_of = np.full(len(cluster.containers.name), UNPLACED)
    first = np.concatenate([[0], np.cumsum(cluster.replicas)])
    dealt = np.zeros(len(cluster.workloads.name), dtype=np.int64)
    for m, machine in enumerate(cluster.machines.name):
        for name, count in {"log-agent": 1, **LAYOUT[machine]}.items():
            w = cluster.workloads.name.index(name)
            machine_of[first[w] + dealt[w] : first[w] + dealt[w] + count] = m
            dealt[w] += count
    return machine_of
