"""A plan as arrays: what each batch creates and deletes, what runs before it, and the loads while its steps run."""

from typing import NamedTuple

import numpy as np

from bayplan.model import UNPLACED, BoolArray, Cluster, IntArray, Placement, Running, Step


class Instances(NamedTuple):
    """Containers on machines: one entry per container and machine."""

    c: IntArray  # (instance,)
    m: IntArray  # (instance,)

    @classmethod
    def of(cls, running: Running) -> "Instances":
        """Everything that runs."""
        pairs = running.pairs()
        return cls(c=pairs[:, 0], m=pairs[:, 1])

    @classmethod
    def placed(cls, placement: Placement) -> "Instances":
        """Everything that has a machine."""
        return cls(c=placement.placed, m=placement.machine_of[placement.placed])

    def where(self, chosen: BoolArray) -> "Instances":
        """Those that `chosen` marks."""
        return Instances(c=self.c[chosen], m=self.m[chosen])


class StepArrays(NamedTuple):
    """The steps of one batch, well formed or not."""

    create: BoolArray  # (step,) else a delete
    c: IntArray  # (step,)
    m: IntArray  # (step,)

    @classmethod
    def of(cls, steps: tuple[Step, ...]) -> "StepArrays":
        """The same steps as arrays."""
        return cls(
            create=np.array([step.action == "create" for step in steps], dtype=np.bool_),
            c=np.array([step.container for step in steps], dtype=np.int64),
            m=np.array([step.machine for step in steps], dtype=np.int64),
        )

    def where(self, chosen: BoolArray) -> "StepArrays":
        """Those that `chosen` marks."""
        return StepArrays(create=self.create[chosen], c=self.c[chosen], m=self.m[chosen])


class BatchState(NamedTuple):
    """One batch of steps that can be made, and where containers run before it."""

    number: int
    first: IntArray  # (container,) before the batch
    second: IntArray  # (container,) before the batch
    creates: Instances
    deletes: Instances

    @property
    def goes_down(self) -> BoolArray:
        """(delete,) does the container run nowhere else?"""
        down: BoolArray = self.second[self.deletes.c] == UNPLACED
        return down

    def high(self) -> Instances:
        """All that may run while the steps do: everything from before, and every create."""
        before = Instances.of(Running(machine_of=self.first, second=self.second))
        return Instances(c=np.r_[before.c, self.creates.c], m=np.r_[before.m, self.creates.m])

    def after(self) -> Running:
        """What runs when the batch has ended."""
        first, second = self.first.copy(), self.second.copy()
        c, m = self.deletes
        first[c] = np.where(first[c] == m, second[c], first[c])
        second[c] = UNPLACED
        c, m = self.creates
        idle = first[c] == UNPLACED
        first[c[idle]], second[c[~idle]] = m[idle], m[~idle]
        return Running(machine_of=first, second=second)


def distinct(values: IntArray) -> IntArray:
    """Each value once, ascending. By sorting: numpy's own method, hashing, takes ten times as long on keys such as ours."""
    ordered = np.sort(values)
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]] if len(ordered) else ordered


def load_of(cluster: Cluster, instances: Instances) -> IntArray:
    """(machine, resource) requests of the given instances, exactly."""
    request, w = cluster.workloads.request, cluster.containers.workload[instances.c]
    load = np.zeros_like(cluster.machines.capacity)
    for r in range(len(cluster.resources)):
        np.add.at(load[:, r], instances.m, request[w, r])
    return load


class BatchLoads:
    """(machine, resource) requests. `high` counts everything from before the batch and every create of it."""

    def __init__(self, cluster: Cluster, start: Instances, end: Instances) -> None:
        self.cluster = cluster
        self.start, self.end = load_of(cluster, start), load_of(cluster, end)
        self.limit = np.maximum(cluster.machines.capacity, np.maximum(self.start, self.end))  # never worse than both ends
        self.high = self.after = self.start

    def advance(self, batch: BatchState) -> None:
        """On to the next batch."""
        self.high = self.after + load_of(self.cluster, batch.creates)
        self.after = self.high - load_of(self.cluster, batch.deletes)

    def peak(self) -> float:
        """Highest load / capacity while the steps run; machines without any of a resource are left out."""
        has = self.cluster.machines.capacity
        offered = has > 0
        return float((self.high[offered] / has[offered]).max(initial=0.0))
