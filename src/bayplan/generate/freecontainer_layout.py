"""A layout in the manner of 000 section I: the containers of a service stand close together, which makes hot spots."""

import numpy as np

from bayplan.errors import ModelError
from bayplan.generate.freecontainer_services import Template
from bayplan.model import UNPLACED, IntArray, ints

OWN_SHARE = (0.15, 0.45)  # a service keeps to this much of a server (uniform per service) until it finds no room nearby


def close_together(template: Template, capacity: IntArray, rng: np.random.Generator) -> IntArray:
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
        room = (self.capacity * own_share).astype(np.int64)  # what the service may still take, (machine, resource)
        for place in np.argsort(-size, kind="stable"):
            group = [w for w in (lead[place], mate_of.get(lead[place])) if w is not None]
            request = self.template.request[group].sum(axis=0)
            chosen = self._nearest(home, request, room, int(self.template.replicas[group[0]]))
            room[chosen] -= request
            self.free[chosen] -= request
            for w in group:
                self.machine_of[self.first[w] : self.first[w + 1]] = chosen

    def _nearest(self, home: int, request: IntArray, room: IntArray, count: int) -> IntArray:
        """The `count` servers nearest to home that fit: within the service's share first, then any."""
        fits = np.all(self.free >= request, axis=1)
        preferred = fits & np.all(room >= request, axis=1)
        index = np.arange(len(fits))
        distance = np.abs(index - home)
        distance = np.minimum(distance, len(fits) - distance)  # servers stand in a ring
        order = np.lexsort((distance, ~preferred, ~fits))[:count]
        if not fits[order].all() or len(order) < count:
            raise ModelError(f"only {int(fits.sum())} of {len(fits)} servers fit {request.tolist()}, {count} are needed")
        return order
