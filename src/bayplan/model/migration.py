"""A migration: from where containers run to where they shall run, and what must hold on the way."""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from bayplan.errors import ModelError
from bayplan.model.arrays import BoolArray, IntArray, ints
from bayplan.model.cluster import Cluster
from bayplan.model.placement import UNPLACED, Placement
from bayplan.model.running import Running


class Way(StrEnum):
    """How a container moves."""

    REPLACE = "replace"  # delete, then create: it is down for a while (004 section IV-E)
    SURGE = "surge"  # create, then delete: it is charged on both machines for a while (000 section III-C)
    AUTO = "auto"  # replace; but surge where a delete would break the alive share, spread or dependency
    EITHER = "either"  # whichever suits


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """At most so many steps in one batch; None is no limit."""

    batch: int | None = None  # altogether
    machine: int | None = None  # on one machine
    service: int | None = None  # of one service's containers
    zone: int | None = None  # in one group of `level`
    level: int = 0  # index into the cluster's levels

    def __post_init__(self) -> None:
        for name in ("batch", "machine", "service", "zone"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ModelError(f"at most {value} steps per {name}: expected 1 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What must hold on the way, beside the rules of the cluster."""

    alive: float = 0.75  # share of each workload that runs at any time
    way: tuple[Way, ...] = ()  # (workload,) AUTO for all if empty
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not 0.0 <= self.alive <= 1.0:
            raise ModelError(f"an alive share of {self.alive}: expected 0 to 1")

    def way_of(self, workload: int) -> Way:
        """How containers of a workload move."""
        return self.way[workload] if self.way else Way.AUTO


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Migration:
    """The question of `migrate`."""

    cluster: Cluster
    start: Running
    after: Placement  # UNPLACED: the container shall end
    terms: Terms = field(default_factory=Terms)
    whole: IntArray | None = None  # (workload,) how many containers a whole workload has; None: as many as run at both ends

    def __post_init__(self) -> None:
        n_c, n_m = len(self.cluster.containers.name), len(self.cluster.machines.name)
        for what, machine in (("start", self.start.machine_of), ("second", self.start.second), ("after", self.after.machine_of)):
            if machine.shape != (n_c,) or machine.max(initial=UNPLACED) >= n_m:
                raise ModelError(f"the {what} of a migration does not fit {n_c} containers and {n_m} machines")
        if self.terms.way and len(self.terms.way) != len(self.cluster.workloads.name):
            raise ModelError("a way per workload, or none")

    @property
    def least_alive(self) -> IntArray:
        """(workload,) containers that must run at any time.

        The stated share, rounded up, of those that run at both ends: a workload that grew or shrank is held to its smaller
        size. Where fewer run at the start already, those are enough.
        """
        before = self._count(self.start.machine_of)
        whole = np.minimum(before, self._count(self.after.machine_of)) if self.whole is None else self.whole
        wanted = np.ceil(self.terms.alive * whole - 1e-9).astype(np.int64)
        return ints(np.minimum(before, wanted))

    def _count(self, machine_of: IntArray) -> IntArray:
        placed = self.cluster.containers.workload[machine_of != UNPLACED]
        return np.bincount(placed, minlength=len(self.cluster.workloads.name))

    @property
    def moving(self) -> BoolArray:
        """(container,) does not run where it shall, or runs elsewhere too."""
        moves: BoolArray = (self.start.machine_of != self.after.machine_of) | (self.start.second != UNPLACED)
        return moves
