"""Services in the manner of [FreeContainer] Table III, and a layout in the manner of its §I.

Workloads, replicas and requests are scaled to a utilisation. The containers of a service run close together, which makes hot
spots.
"""

from dataclasses import dataclass

import numpy as np

from bayplan.errors import ModelError
from bayplan.model import UNPLACED, FloatArray, IntArray, ints

MADE_OF = ("cpu", "memory", "ssd")  # [FreeContainer] §VI
UTILISATION = (0.5116, 0.48, 0.55)  # cpu: the mean that [FreeContainer] §VI-B states for DC_A; the others own choice
SIZE_SIGMA = 1.0  # lognormal sizes of services; section VII-B names 588 and 2,268 containers
REPLICAS = (3, 8, 20)  # mean of small, medium and large services (section VII-B has three types; numbers are ours)
DOMINANT = 2.5  # a cpu-, memory- or io-intensive service requests this much more of that resource
SERVICE_SIGMA, WORKLOAD_SIGMA = 0.6, 0.3  # lognormal request sizes between and within services
LARGEST = (0.45, 0.45, 0.45)  # of the largest server: no request is larger
SIDECAR = 0.15  # of its mate's request
OVER = 0.02  # the paper's "+": up to 2 % more, and the sidecars


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How many: the counts of [FreeContainer] §VI."""

    services: int
    containers: int
    new: int  # containers of the service that is to be placed
    largest: tuple[float, float, float] = LARGEST
    new_counts: bool = False  # is `UTILISATION` that of all containers, not of the running ones alone?


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Template:
    """All workloads; those of the new service come last."""

    name: tuple[str, ...]  # (workload,)
    service: IntArray  # (workload,) ascending
    replicas: IntArray  # (workload,)
    request: IntArray  # (workload, resource)
    sidecar: tuple[tuple[int, int], ...]  # (workload, mate): replica i of both runs on one server
    running: int  # services before the new one


def draw_services(shape: Shape, capacity: IntArray, rng: np.random.Generator) -> Template:
    """Workloads whose running containers, or all if `new_counts`, use `UTILISATION` of the summed capacity."""
    sizes = _service_sizes(shape, rng)
    counts = [_replicas(int(size), rng) for size in sizes]
    service = np.repeat(np.arange(len(counts)), [len(c) for c in counts])
    replicas = np.concatenate(counts)
    sidecar = _sidecars(service)
    raw = _raw_requests(service, sidecar, rng)
    counted = (service < shape.services) | shape.new_counts
    request = _scaled(raw, replicas * counted, capacity, shape.largest)
    rank = np.arange(len(service)) - np.searchsorted(service, service)
    label = [f"S{s + 1:02d}" for s in range(shape.services)] + ["new"]
    return Template(
        name=tuple(f"{label[s]}.{i:03d}" for s, i in zip(service, rank, strict=True)),
        service=ints(service),
        replicas=ints(replicas),
        request=ints(request),
        sidecar=sidecar,
        running=shape.services,
    )


def _service_sizes(shape: Shape, rng: np.random.Generator) -> IntArray:
    """Containers of each service; the new one last."""
    weight = np.exp(SIZE_SIGMA * rng.standard_normal(shape.services))
    total = rng.uniform(1 + OVER / 2, 1 + OVER) * shape.containers
    sizes = np.maximum(np.rint(weight / weight.sum() * total), 2 * REPLICAS[0]).astype(np.int64)
    return ints([*sizes, round(rng.uniform(1 + OVER / 2, 1 + OVER) * shape.new)])


def _replicas(containers: int, rng: np.random.Generator) -> IntArray:
    """Replicas of each workload of a service, two or more each; the last accompanies the first, so it has as many."""
    mean = REPLICAS[int(np.searchsorted((150, 600), containers))]
    workloads = max(2, round(containers / mean))
    counts = 2 + rng.multinomial(max(0, containers - 2 * workloads), rng.dirichlet(np.full(workloads, 2.0)))
    return ints([*counts, counts[0]])


def _sidecars(service: IntArray) -> tuple[tuple[int, int], ...]:
    """In every service the last workload accompanies the first."""
    first = np.searchsorted(service, np.unique(service))
    last = np.searchsorted(service, np.unique(service), side="right") - 1
    return tuple((int(w), int(mate)) for w, mate in zip(first, last, strict=True))


def _raw_requests(service: IntArray, sidecar: tuple[tuple[int, int], ...], rng: np.random.Generator) -> FloatArray:
    """(workload, resource) sizes before scaling."""
    n_s, n_r = int(service[-1]) + 1, len(MADE_OF)
    of_service = np.exp(SERVICE_SIGMA * rng.standard_normal((n_s, 1))) * np.exp(0.3 * rng.standard_normal((n_s, n_r)))
    of_service[-1] = np.median(of_service[:-1], axis=0)  # the new service is of middling size: it must fit
    of_service[np.arange(n_s), rng.permutation(np.arange(n_s) % n_r)] *= DOMINANT
    raw: FloatArray = of_service[service] * np.exp(WORKLOAD_SIGMA * rng.standard_normal((len(service), n_r)))
    for w, mate in sidecar:
        raw[mate] = SIDECAR * raw[w]
    return raw


def _scaled(raw: FloatArray, replicas: IntArray, capacity: IntArray, largest: tuple[float, ...]) -> IntArray:
    """`raw` times one factor per resource, capped, so that the replicas meet `UTILISATION`."""
    wanted = np.array(UTILISATION) * capacity.sum(axis=0)
    most = np.array(largest) * capacity.max(axis=0)
    request = raw
    for _ in range(50):  # the cap takes a little away each time
        request = np.minimum(request * (wanted / (replicas @ request)), most)
    return np.maximum(np.rint(request), 1).astype(np.int64)


OWN_SHARE = (0.15, 0.45)  # a service keeps to this much of a server (uniform per service) until nothing is free nearby


def place_close_together(template: Template, capacity: IntArray, rng: np.random.Generator) -> IntArray:
    """(container,) servers: each service fills the neighbourhood of a random home, largest workloads first.

    Neighbourhoods overlap, so some servers run hot while others idle. Keeps capacity, conflict and
    co-location. The new service stays without servers. O(W M).
    """
    layout = _Layout(template, capacity)
    for s in rng.permutation(template.running):
        members = np.flatnonzero(template.service == s)
        home = int(rng.integers(len(capacity)))
        layout.place_service(members, home, float(rng.uniform(*OWN_SHARE)))
    return ints(layout.machine_of)


class _Layout:
    """The layout while it grows; `free` always equals capacity minus what `machine_of` puts there."""

    def __init__(self, template: Template, capacity: IntArray) -> None:
        self.template = template
        self.capacity = capacity
        self.free = capacity.copy()  # (machine, resource)
        self.first = np.concatenate([[0], np.cumsum(template.replicas)])
        self.machine_of = np.full(int(self.first[-1]), UNPLACED)

    def place_service(self, members: IntArray, home: int, own_share: float) -> None:
        """Put all containers of a service around its home."""
        mate_of = dict(self.template.sidecar)
        lead = [w for w in members if w not in mate_of.values()]
        size = self.template.request[lead].max(axis=1)
        share = (self.capacity * own_share).astype(np.int64)  # what the service may still take, (machine, resource)
        for place in np.argsort(-size, kind="stable"):
            group = [w for w in (lead[place], mate_of.get(lead[place])) if w is not None]
            request = self.template.request[group].sum(axis=0)
            chosen = self._nearest(home, request, share, int(self.template.replicas[group[0]]))
            share[chosen] -= request
            self.free[chosen] -= request
            for w in group:
                self.machine_of[self.first[w] : self.first[w + 1]] = chosen

    def _nearest(self, home: int, request: IntArray, share: IntArray, count: int) -> IntArray:
        """The `count` servers nearest to home that fit: within the service's share first, then any."""
        fits = np.all(self.free >= request, axis=1)
        preferred = fits & np.all(share >= request, axis=1)
        index = np.arange(len(fits))
        distance = np.abs(index - home)
        distance = np.minimum(distance, len(fits) - distance)  # servers form a ring
        order = np.lexsort((distance, ~preferred, ~fits))[:count]
        if not fits[order].all() or len(order) < count:
            raise ModelError(f"only {int(fits.sum())} of {len(fits)} servers fit {request.tolist()}, {count} are needed")
        return order
