"""A migration: from where containers run to where they are to run, and what must hold on the way."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from bayplan.errors import ModelError
from bayplan.model.arrays import BoolArray, IntArray, ints
from bayplan.model.cluster import Cluster
from bayplan.model.placement import UNPLACED, Placement
from bayplan.model.plan import Running


class Way(StrEnum):
    """How a container moves."""

    REPLACE = "replace"  # delete, then create: it is down for a while ([RASA] §IV-E)
    SURGE = "surge"  # create, then delete: it is charged on both machines for a while ([FreeContainer] §III-C)
    AUTO = "auto"  # replace; but surge where a delete would violate a rule, or where plans have fewer batches that way
    EITHER = "either"  # whichever suits


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLimits:
    """The most steps that one batch may have; None is no limit."""

    batch: int | None = None  # altogether
    machine: int | None = None  # on one machine
    service: int | None = None  # of one service's containers
    group: int | None = None  # in one group of `level`
    level: int = 0  # index into the cluster's levels

    def __post_init__(self) -> None:
        for name in ("batch", "machine", "service", "group"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ModelError(f"at most {value} steps per {name}: expected 1 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationPolicy:
    """What must hold on the way, beside the rules of the cluster."""

    alive: float = 0.75  # share of each workload that runs at any time
    needed: tuple[int, ...] = ()  # (workload,) containers that run at any time, where that is more; none if empty
    way: tuple[Way, ...] = ()  # (workload,) AUTO for all if empty
    limits: StepLimits = field(default_factory=StepLimits)

    def __post_init__(self) -> None:
        if not 0.0 <= self.alive <= 1.0:
            raise ModelError(f"an alive share of {self.alive}: expected 0 to 1")

    def way_of(self, workload: int) -> Way:
        """How containers of a workload move."""
        return self.way[workload] if self.way else Way.AUTO


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Migration:
    """The problem of `migrate`."""

    cluster: Cluster
    start: Running
    target: Placement  # UNPLACED: the container is to be deleted
    policy: MigrationPolicy = field(default_factory=MigrationPolicy)
    full_size: IntArray | None = None  # (workload,) what alive shares are shares of; None: what runs at both ends

    def __post_init__(self) -> None:
        n_c, n_m = len(self.cluster.containers.name), len(self.cluster.machines.name)
        parts = {"start": self.start.machine_of, "second": self.start.second, "target": self.target.machine_of}
        for name, machine in parts.items():
            if machine.shape != (n_c,) or machine.max(initial=UNPLACED) >= n_m:
                raise ModelError(f"the {name} of a migration does not fit {n_c} containers and {n_m} machines")
        for name in ("way", "needed"):
            if getattr(self.policy, name) and len(getattr(self.policy, name)) != len(self.cluster.workloads.name):
                raise ModelError(f"a {name} per workload, or none")

    @property
    def size(self) -> IntArray:
        """(workload,) what alive shares are shares of: `full_size`, or the containers that run at both ends."""
        if self.full_size is not None:
            return self.full_size
        return ints(np.minimum(self._count(self.start.machine_of), self._count(self.target.machine_of)))

    @property
    def least_alive(self) -> IntArray:
        """(workload,) containers that must run at any time.

        The stated share of `size`, rounded up: a workload that grew or shrank is held to its smaller size. What is needed by
        number counts where it is more. Where fewer run at the start already, those are enough.
        """
        needed = np.ceil(self.policy.alive * self.size - 1e-9).astype(np.int64)
        if self.policy.needed:
            needed = np.maximum(needed, np.minimum(self.policy.needed, self.size))
        return ints(np.minimum(self._count(self.start.machine_of), needed))

    def _count(self, machine_of: IntArray) -> IntArray:
        placed = self.cluster.containers.workload[machine_of != UNPLACED]
        return np.bincount(placed, minlength=len(self.cluster.workloads.name))

    @property
    def moving(self) -> BoolArray:
        """(container,) does not run on its target, or runs elsewhere too."""
        moves: BoolArray = (self.start.machine_of != self.target.machine_of) | (self.start.second != UNPLACED)
        return moves

    def stranded(self, dead: Sequence[int]) -> IntArray:
        """Containers whose target is one of the dead machines: they need a new target."""
        return ints(np.flatnonzero(np.isin(self.target.machine_of, dead)))

    def remaining(self, running: Running, dead: Sequence[int] = ()) -> "Migration":
        """The migration from the state that a part of a plan has reached to the same target, to be planned anew.

        - It starts where containers run now: some twice (created, not yet deleted), some not at all.
        - Alive shares keep their base (`size`): what is down now does not make a workload smaller.
        - A dead machine keeps its name and its groups, but has no capacity.
        - Containers whose target died (`stranded`) stay where they run, or stay down if they do not run. They do not keep the
          target: a place is held to the worse of both ends, so a target on a dead machine would permit its use. If the target,
          thus changed, violates a rule, then a new one is needed: decide anew on the cluster of this migration, and replace
          `target`.
        - A container that was deleted and not yet created gives back what it still held of transient resources.
        """
        target = self.target.machine_of.copy()
        stranded = self.stranded(dead)
        target[stranded] = running.machine_of[stranded]
        return replace(
            self,
            cluster=_without_capacity(self.cluster, dead),
            start=running,
            target=Placement(machine_of=ints(target)),
            full_size=self.size,
        )


def _without_capacity(cluster: Cluster, dead: Sequence[int]) -> Cluster:
    """The same cluster, in which some machines have no capacity."""
    if not dead:
        return cluster
    alive = ~np.isin(np.arange(len(cluster.machines.name)), dead)[:, None]
    machines = cluster.machines
    return replace(
        cluster, machines=replace(machines, capacity=ints(machines.capacity * alive), safety=ints(machines.safety * alive))
    )
