"""Timed requests, the machines that may serve them, and which are served where ([Cradle])."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.errors import ModelError
from bayplan.model.arrays import FloatArray, IntArray, floats, ints
from bayplan.model.cluster import Resource
from bayplan.model.placement import UNPLACED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimedRequests:
    """Requests that each need one machine during (start, end], and one machine's capacity.

    How many machines there are, and of which other sizes, the fleet says.
    """

    name: tuple[str, ...]  # (request,)
    resources: tuple[Resource, ...]
    capacity: IntArray  # (resource,) of one machine
    start: FloatArray  # (request,)
    end: FloatArray  # (request,)
    demand: IntArray  # (request, resource)
    value: FloatArray  # (request,)
    priority: tuple[str, ...] = ()  # (request,) the class it is in; empty: there are no classes

    def __post_init__(self) -> None:
        for field in ("capacity", "demand"):
            object.__setattr__(self, field, ints(getattr(self, field)))
        for field in ("start", "end", "value"):
            object.__setattr__(self, field, floats(getattr(self, field)))
        n, k = len(self.name), len(self.resources)
        shapes = [self.start.shape, self.end.shape, self.value.shape, self.demand.shape, self.capacity.shape]
        if shapes != [(n,), (n,), (n,), (n, k), (k,)]:
            raise ModelError(f"timed requests: arrays of shapes {shapes} for {n} requests and {k} resources")
        if not (np.isfinite(self.start) & np.isfinite(self.end) & (self.start < self.end)).all():
            raise ModelError("timed requests: an interval is empty or not finite")
        if (self.demand < 0).any() or not (np.isfinite(self.value) & (self.value >= 0)).all():
            raise ModelError("timed requests: a demand or value is negative or not finite")
        if self.priority and len(self.priority) != n:
            raise ModelError(f"timed requests: {len(self.priority)} priorities for {n} requests")
        if (self.capacity < 0).any():
            raise ModelError("timed requests: a capacity is negative")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Schedule:
    """One machine index per request, `UNPLACED` where a request is not served."""

    machine_of: IntArray  # (request,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "machine_of", ints(self.machine_of))
        if self.machine_of.ndim != 1 or self.machine_of.min(initial=0) < UNPLACED:
            raise ModelError("a schedule is one machine index or -1 per request")

    @property
    def served(self) -> IntArray:
        """Requests that have a machine."""
        return ints(np.flatnonzero(self.machine_of != UNPLACED))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fleet:
    """Machines by kind: those of the first kind are numbered 0, 1, ..., then come those of the next."""

    kind: tuple[str, ...]  # (kind,)
    machines: IntArray  # (kind,) how many
    capacity: IntArray  # (kind, resource)

    def __post_init__(self) -> None:
        for field in ("machines", "capacity"):
            object.__setattr__(self, field, ints(getattr(self, field)))
        if self.machines.shape != (len(self.kind),) or self.capacity.shape[:1] != (len(self.kind),) or self.capacity.ndim != 2:
            shapes = [self.machines.shape, self.capacity.shape]
            raise ModelError(f"fleet: arrays of shapes {shapes} for {len(self.kind)} kinds of machines")
        if (self.machines < 0).any() or (self.capacity < 0).any():
            raise ModelError("fleet: a number of machines or a capacity is negative")

    @classmethod
    def alike(cls, machines: int, capacity: IntArray | Sequence[int]) -> "Fleet":
        """The stated number of machines of one kind."""
        return cls(kind=("machine",), machines=ints([machines]), capacity=ints([list(capacity)]))

    @property
    def size(self) -> int:
        """All machines."""
        return int(self.machines.sum())

    @property
    def kind_of(self) -> IntArray:
        """(machine,) index of its kind."""
        return ints(np.repeat(np.arange(len(self.kind)), self.machines))
