"""One recipe for the four clusters of 004, Table II."""

import numpy as np

from bayplan.generate.rasa.machines import make_machine_sets, make_machines
from bayplan.generate.rasa.original import original_placement
from bayplan.generate.rasa.rules import make_rules
from bayplan.generate.rasa.settings import M1, M2, M3, M4, Settings
from bayplan.generate.rasa.traffic import make_traffic
from bayplan.generate.rasa.workloads import Drawn, make_workloads
from bayplan.model import (
    Cluster,
    Containers,
    Objective,
    Progress,
    Resource,
    Services,
    Snapshot,
    Tick,
    Traffic,
    Workloads,
    floats,
    ints,
    machine_level,
    silent,
)

RESOURCES = (Resource(name="cpu", scale=1000, unit="cores"), Resource(name="memory", scale=1, unit="bytes"))


def make(settings: Settings, seed: int, progress: Progress = silent) -> Snapshot:
    """A cluster with its ORIGINAL placement. Equal seeds give equal snapshots."""
    rng = np.random.default_rng(seed)
    progress(Tick(stage="generating", done=0.0))
    cluster = make_cluster(settings, rng)
    placement, rounds = original_placement(cluster, rng, progress)
    progress(Tick(stage="placing", done=1.0))
    notes = (f"generated: {settings.name}, seed {seed}", f"ORIGINAL placement by a kube-like first fit, rounds: {rounds}")
    return Snapshot(cluster=cluster, placement=placement, objective=Objective.default(cluster), notes=notes)


def make_cluster(settings: Settings, rng: np.random.Generator) -> Cluster:
    """Everything but the placement. A service of 004 is a workload here, alone in its service."""
    machines = make_machines(settings, rng)
    machine_sets = make_machine_sets(machines, rng)
    by_traffic = make_workloads(settings, ints(machines.capacity.sum(axis=0)), rng)
    shuffle = rng.permutation(settings.services)  # the number of a service says nothing about its traffic
    traffic = make_traffic(settings, rng)
    drawn = Drawn(replicas=ints(by_traffic.replicas[np.argsort(shuffle)]), request=ints(by_traffic.request[np.argsort(shuffle)]))
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


def rasa_m1(*, seed: int = 0, progress: Progress = silent) -> Snapshot:
    """5,904 services, 25,640 containers, 977 machines."""
    return make(M1, seed, progress)


def rasa_m2(*, seed: int = 0, progress: Progress = silent) -> Snapshot:
    """10,180 services, 152,833 containers, 5,284 machines."""
    return make(M2, seed, progress)


def rasa_m3(*, seed: int = 0, progress: Progress = silent) -> Snapshot:
    """547 services, 3,485 containers, 96 machines: the scale of the published cluster."""
    return make(M3, seed, progress)


def rasa_m4(*, seed: int = 0, progress: Progress = silent) -> Snapshot:
    """10,682 services, 113,261 containers, 4,365 machines."""
    return make(M4, seed, progress)
