"""Two data centres at the scale of FreeContainer's ([FreeContainer] §VI), and a new service for each.

The paper's Tables II and III (server and service sizes) are not in its text: the constants below stand
for them. What the text says of them is kept: several server types, the top of each resource is 1, DC_A
is more heterogeneous than DC_B, services are intensive in one resource and differ much in size.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bayplan.generate.freecontainer_services import MADE_OF, Shape, Template, draw_services, place_close_together
from bayplan.generate.generator import require
from bayplan.model import (
    AntiAffinity,
    Capacity,
    Cluster,
    CoLocate,
    Containers,
    IntArray,
    Level,
    Machines,
    Objective,
    Placement,
    Progress,
    Resource,
    Rule,
    Services,
    Snapshot,
    Spread,
    Tick,
    Traffic,
    Transient,
    TransientMode,
    Workloads,
    floats,
    ints,
    machine_level,
    silent,
)

SCALE = 10_000  # base units in the largest server
SAFETY = (0.6, 0.8, 0.8)  # cpu: latency grows above 60 % ([FreeContainer] §VII-C); memory and SSD: own choice
RACK, ZONE = 24, 10  # servers in a rack, racks in a zone: own choice, the paper states no topology
SPREAD_SHARE = 0.2  # M(S): a service uses at least as many servers as a fifth of its containers


class ServerType(NamedTuple):
    """A line of a table like [FreeContainer] Table II: relative to the largest server, and its share of the racks."""

    cpu: float
    memory: float
    ssd: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DataCentre:
    """The counts of [FreeContainer] §VI, and the server types that stand for Table II."""

    name: str
    servers: int
    shape: Shape
    types: tuple[ServerType, ...]


DC_A = DataCentre(
    name="freecontainer-dca",
    servers=2513,
    shape=Shape(services=25, containers=10_000, new=2_000),
    types=(
        ServerType(1.0, 1.0, 0.5, 0.12),
        ServerType(1.0, 0.5, 1.0, 0.15),
        ServerType(0.75, 0.5, 0.5, 0.23),
        ServerType(0.5, 0.75, 0.25, 0.15),
        ServerType(0.5, 0.25, 0.5, 0.20),
        ServerType(0.375, 0.25, 0.25, 0.15),
    ),
)
DC_B = DataCentre(
    name="freecontainer-dcb",
    servers=4361,
    shape=Shape(services=29, containers=25_000, new=5_000),
    types=(
        ServerType(1.0, 1.0, 1.0, 0.25),
        ServerType(0.8, 1.0, 0.75, 0.45),
        ServerType(0.8, 0.75, 0.75, 0.30),
    ),
)


def freecontainer_dca(*, transient: str = "joint", seed: int = 0, progress: Progress = silent) -> Snapshot:
    """DC_A: 2,513 servers, 10,000+ containers of 25 services, 2,000+ of a new one without machines."""
    return data_centre(DC_A, transient, seed, progress)


def freecontainer_dcb(*, transient: str = "joint", seed: int = 0, progress: Progress = silent) -> Snapshot:
    """DC_B: 4,361 servers, 25,000+ containers of 29 services, 5,000+ of a new one without machines."""
    return data_centre(DC_B, transient, seed, progress)


def data_centre(centre: DataCentre, transient: str, seed: int, progress: Progress) -> Snapshot:
    """A data centre of any size: what runs is placed close together, the new service has no machines."""
    modes = ", ".join(TransientMode)
    require(centre.name, (transient in tuple(TransientMode), f"transient is '{transient}'; expected one of {modes}"))
    rng = np.random.default_rng(seed)
    machines, levels = _servers(centre, rng)
    template = draw_services(centre.shape, machines.capacity, rng)
    progress(Tick(stage="placing", done=0.0))
    machine_of = place_close_together(template, machines.capacity, rng)
    progress(Tick(stage="placing", done=1.0))
    cluster = Cluster(
        name=centre.name,
        resources=tuple(Resource(name=name, scale=SCALE, unit="largest server") for name in MADE_OF),
        machines=machines,
        levels=levels,
        services=_services(centre.shape.services),
        workloads=Workloads.by_request(template.name, template.service, template.request),
        containers=Containers.replicas_of(template.name, template.replicas),
        traffic=Traffic.none(),
        rules=_rules(template, machine_of, TransientMode(transient)),
    )
    notes = ("server and service sizes are generated: Tables II and III of [FreeContainer] are not in its text",)
    paper = replace(Objective.default(cluster), explicit=True)
    return Snapshot(cluster=cluster, placement=Placement(machine_of=machine_of), objective=paper, notes=notes)


def _servers(centre: DataCentre, rng: np.random.Generator) -> tuple[Machines, tuple[Level, ...]]:
    """Racks of one server type each, and zones of neighbouring racks."""
    rack = np.arange(centre.servers) // RACK
    n_rack = int(rack[-1]) + 1
    share = np.array([kind.share for kind in centre.types])
    of_rack = rng.permutation(np.searchsorted(np.cumsum(share), (np.arange(n_rack) + 0.5) / n_rack * share.sum()))
    size = np.array([(kind.cpu, kind.memory, kind.ssd) for kind in centre.types])
    capacity = np.rint(size[of_rack[rack]] * SCALE).astype(np.int64)
    name = tuple(f"h{m:04d}" for m in range(centre.servers))
    zone = rack // ZONE
    levels = (
        machine_level(name),
        Level(name="rack", group=tuple(f"rack-{i:03d}" for i in range(n_rack)), group_of=ints(rack)),
        Level(name="zone", group=tuple(f"zone-{i:02d}" for i in range(int(zone[-1]) + 1)), group_of=ints(zone)),
    )
    return Machines(name=name, capacity=capacity, safety=np.rint(capacity * SAFETY).astype(np.int64)), levels


def _services(services: int) -> Services:
    """The running ones and the new one; every pair of a service's containers talks ([FreeContainer] (1))."""
    name = (*(f"S{s + 1:02d}" for s in range(services)), "new")
    return Services(name=name, clique=floats(np.ones(len(name))))


def _rules(template: Template, machine_of: IntArray, mode: TransientMode) -> tuple[Rule, ...]:
    every = range(len(MADE_OF))
    first = np.concatenate([[0], np.cumsum(template.replicas)])  # (workload + 1,) its first container
    conflict = [AntiAffinity(workloads=(w,), limit=1) for w in range(len(template.name)) if template.replicas[w] > 1]
    together = [
        CoLocate(containers=(int(first[w] + i), int(first[mate] + i)))
        for w, mate in template.sidecar
        for i in range(template.replicas[w])
    ]
    return (
        Capacity(resources=tuple(every)),  # [FreeContainer] (7)
        *conflict,  # [FreeContainer] (8)
        *_spread(template, machine_of),  # [FreeContainer] (9)
        *together,  # [FreeContainer] (10)
        *(Transient(resource=r, mode=mode) for r in every),  # [FreeContainer] (11)
    )


def _spread(template: Template, machine_of: IntArray) -> list[Spread]:
    """M(S), but never more than the servers that a running service has."""
    service = np.repeat(template.service, template.replicas)
    rules = []
    for s in range(int(template.service[-1]) + 1):
        runs_on = machine_of[service == s]
        used = len(np.unique(runs_on[runs_on >= 0]))
        wanted = int(np.ceil(SPREAD_SHARE * len(runs_on)))
        rules.append(Spread(service=s, minimum=min(wanted, used) if used else wanted))
    return rules
