"""Plans, the state that one is made for, and what runs while it is carried out: containers on none, one or two machines.

Applying a step is written once, here: `add_instance`, `remove_instance` and `apply_step`. Only the referee of plans has its own.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from hashlib import blake2b
from typing import TypeAlias

import numpy as np

from bayplan.errors import ModelError
from bayplan.model.arrays import IntArray, ints
from bayplan.model.cluster import Cluster
from bayplan.model.placement import UNPLACED, Placement
from bayplan.model.rules import Rule

MachineList: TypeAlias = IntArray | list[int]  # (container,) that may be written to


class Action(StrEnum):
    """What a step does."""

    CREATE = "create"
    DELETE = "delete"

    @property
    def opposite(self) -> "Action":
        """The action that takes this one back."""
        return Action.DELETE if self is Action.CREATE else Action.CREATE


@dataclass(frozen=True, slots=True)
class Step:
    """Create or delete one container on one machine."""

    action: Action
    container: int
    machine: int


# ---- the state that a plan is made for ----------------------------------------------------------------------------------------

SIZE = 4  # bytes of a digest
CAPACITY, RUNNING = slice(0, 2 * SIZE), slice(2 * SIZE, 4 * SIZE)  # the two digests of a machine, in hexadecimal digits
OTHER = {CAPACITY.start: "has other capacities", RUNNING.start: "runs other containers"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """A state as short digests: enough to see that another state is another one, and what changed in it.

    What a plan's safety depends on counts: capacity, what runs where, requests, rules. Traffic, usage and objectives do not.
    """

    machines: Mapping[str, str]  # name -> digests of its capacity and of what runs there
    workloads: Mapping[str, str]  # name -> digest of what a container of it requests; those that run
    rules: str

    def changes(self, now: "Fingerprint") -> Iterator[str]:
        """What is different in the state `now`, one sentence each."""
        for name in self.machines.keys() | now.machines.keys():
            then, here = self.machines.get(name), now.machines.get(name)
            if then is None or here is None:
                yield f"machine '{name}' is {'new' if then is None else 'gone'}"
            elif then != here:
                part = RUNNING if then[CAPACITY] == here[CAPACITY] else CAPACITY
                yield f"machine '{name}' {OTHER[part.start]}"
        for name in self.workloads.keys() & now.workloads.keys():
            if self.workloads[name] != now.workloads[name]:
                yield f"workload '{name}' requests other amounts"
        if self.rules != now.rules:
            yield "the rules are others"


def fingerprint(cluster: Cluster, placement: Placement) -> Fingerprint:
    """The fingerprint of a cluster in which containers run where `placement` says."""
    on: dict[int, list[str]] = defaultdict(list)
    for name, m in zip(cluster.containers.name, placement.machine_of.tolist(), strict=True):
        on[m].append(name)
    amounts = zip(cluster.machines.capacity.tolist(), cluster.machines.safety.tolist(), strict=True)
    machines = {
        name: _digest(repr(amount)) + _digest("\n".join(sorted(on.get(m, ()))))
        for m, (name, amount) in enumerate(zip(cluster.machines.name, amounts, strict=True))
    }
    running = set(cluster.containers.workload[placement.machine_of != UNPLACED].tolist())
    request = cluster.workloads.request.tolist()
    workloads = {cluster.workloads.name[w]: _digest(repr(request[w])) for w in sorted(running)}
    rules = sorted(_written(rule, cluster, placement) for rule in cluster.rules)
    return Fingerprint(machines=machines, workloads=workloads, rules=_digest("\n".join(rules)))


def _written(rule: Rule, cluster: Cluster, placement: Placement) -> str:
    """A rule by names; of containers only those that run, since a plan may bring others."""
    parts = [rule.kind]
    for field in fields(rule):
        value = getattr(rule, field.name)
        if field.name == "containers":
            value = sorted(cluster.containers.name[c] for c in value if placement.machine_of[c] != UNPLACED)
        elif field.name in ("workloads", "counted"):
            value = sorted(cluster.workloads.name[w] for w in value)
        elif field.name == "workload":
            value = cluster.workloads.name[value]
        elif field.name == "machines" and value:  # of a skew rule without a set: all
            value = cluster.machine_sets[value].tolist()
        parts.append(f"{field.name}={value!r}")
    return " ".join(parts)


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=SIZE).hexdigest()


# ---- plans ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Batches of steps. The steps of a batch may run at the same time; a batch starts when the one before has ended."""

    batches: tuple[tuple[Step, ...], ...]
    made_for: Fingerprint | None = None  # the state that it starts from, where that is known

    def steps(self) -> Iterator[Step]:
        """All steps, batch by batch."""
        for batch in self.batches:
            yield from batch

    def __len__(self) -> int:
        return sum(map(len, self.batches))

    def inverse(self, batches_done: int | None = None) -> "Plan":
        """The plan that leads back to the start when the first batches have been carried out, or all of them.

        As safe as the plan: the worst states of a batch are the same from either side.
        """
        done = self.batches if batches_done is None else self.batches[:batches_done]
        return Plan(
            batches=tuple(
                tuple(Step(step.action.opposite, step.container, step.machine) for step in batch) for batch in reversed(done)
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Running:
    """A placement in which a container may run on a second machine too, because it is about to leave one of them."""

    machine_of: IntArray  # (container,) UNPLACED where it runs nowhere
    second: IntArray  # (container,) the other machine, UNPLACED where there is none

    def __post_init__(self) -> None:
        object.__setattr__(self, "machine_of", ints(self.machine_of))
        object.__setattr__(self, "second", ints(self.second))
        if self.machine_of.shape != self.second.shape or self.machine_of.ndim != 1:
            raise ModelError("the first and the second machines are one each per container")
        twice = self.second != UNPLACED
        if (self.machine_of[twice] == UNPLACED).any() or (self.machine_of[twice] == self.second[twice]).any():
            raise ModelError("a container with a second machine runs on a first, another one")

    @classmethod
    def of(cls, placement: Placement) -> "Running":
        """Every container on its one machine."""
        return cls(machine_of=placement.machine_of, second=ints(np.full(len(placement.machine_of), UNPLACED)))

    @property
    def placement(self) -> Placement:
        """The first machine of each container."""
        return Placement(machine_of=self.machine_of)

    @property
    def doubled(self) -> IntArray:
        """Containers that run twice."""
        return ints(np.flatnonzero(self.second != UNPLACED))

    def pairs(self) -> IntArray:
        """(instance, 2) container and machine of everything that runs."""
        first, twice = np.flatnonzero(self.machine_of != UNPLACED), np.flatnonzero(self.second != UNPLACED)
        machine = np.r_[self.machine_of[first], self.second[twice]]
        return ints(np.column_stack([np.r_[first, twice], machine]))

    def after(self, plan: Plan) -> "Running":
        """What runs when all steps of a plan have been made; ModelError if one of them cannot be."""
        first, second = self.machine_of.copy(), self.second.copy()
        for step in plan.steps():
            if not apply_step(step, first, second):
                c, m = step.container, step.machine
                if step.action is Action.DELETE:
                    raise ModelError(f"container {c} is to be deleted on machine {m}, where it does not run")
                raise ModelError(f"container {c} is to be created on machine {m}, but runs on {(int(first[c]), int(second[c]))}")
        return Running(machine_of=ints(first), second=ints(second))


def apply_step(step: Step, first: MachineList, second: MachineList) -> bool:
    """Make a step in place, if it can be made: `first` and `second` are the machines of each container, as in `Running`."""
    c, m = step.container, step.machine
    runs_there = m in (first[c], second[c])
    if step.action is Action.DELETE:
        if runs_there:
            remove_instance(first, second, c, m)
        return runs_there
    if runs_there or second[c] != UNPLACED:
        return False
    add_instance(first, second, c, m)
    return True


def add_instance(first: MachineList, second: MachineList, c: int, m: int) -> None:
    """A container that runs on at most one machine comes to machine `m`."""
    if first[c] == UNPLACED:
        first[c] = m
    else:
        second[c] = m


def remove_instance(first: MachineList, second: MachineList, c: int, m: int) -> None:
    """A container leaves machine `m`, where it runs; its other machine, if there is one, becomes the first."""
    if first[c] == m:
        first[c] = second[c]
    second[c] = UNPLACED
