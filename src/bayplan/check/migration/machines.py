"""Machines that may overflow while the steps of a batch run: capacity, transient resources, confidence.

A machine is checked in the batches that create something on it: without a create it only gets emptier.
"""

from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from bayplan.check.migration.batch_state import BatchState, Instances, distinct, load_of
from bayplan.check.migration.context import PlanContext
from bayplan.check.migration.plan_check import PlanViolation
from bayplan.check.violation import TOLERANCE, amount, real_amount
from bayplan.model import UNPLACED, Confidence, FloatArray, IntArray, Resource, TransientMode


def _of(limit: int, has: int, resource: Resource) -> str:
    """'16', or '16 (17 at the worse end)' where an end of the migration violates the limit already."""
    return amount(has, resource) + (f" ({amount(limit, resource)} at the worse end)" if limit > has else "")


class CapacityCheck:
    """Requests stay within a machine."""

    def __init__(self, context: PlanContext) -> None:
        self.context = context
        self.resources = sorted({r for _, rule in context.rules("capacity") for r in rule.resources})

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Machines that would need more than they have."""
        loads, receiving = self.context.loads, distinct(batch.creates.m)
        for r in self.resources:
            over = receiving[loads.high[receiving, r] > loads.limit[receiving, r]]
            yield from _overfull(self.context, batch, over, r, loads.high[:, r], "capacity")


def _overfull(
    context: PlanContext, batch: BatchState, machines: IntArray, r: int, need: IntArray, rule: str
) -> Iterator[PlanViolation]:
    has, limit, resource = context.cluster.machines.capacity[:, r], context.loads.limit[:, r], context.cluster.resources[r]
    verb = "would need" if rule == "capacity" else "would be charged"
    for m in machines.tolist():
        name = context.cluster.machines.name[m]
        sentence = (
            f"batch {batch.number + 1}: machine '{name}' {verb} {amount(int(need[m]), resource)} {resource.name} "
            f"of {_of(int(limit[m]), int(has[m]), resource)} while its steps run"
        )
        yield PlanViolation(batch=batch.number, rule=rule, subject=(name, resource.name), sentence=sentence)


class SequentialTransientCheck:
    """While a container moves, both machines are charged for a transient resource.

    A surging container does so by running on both. For a replaced one, the machine where it was deleted and the one where it is
    created next are charged from the batch of its delete to that of its create; one that is not to run at the end, or is not
    created again, gives everything back with its delete.
    """

    def __init__(self, context: PlanContext) -> None:
        self.context = context
        self.resources = sorted(
            {rule.resource for _, rule in context.rules("transient") if rule.mode is TransientMode.SEQUENTIAL}
        )
        n_c = len(context.cluster.containers.name)
        self.held = np.full(n_c, UNPLACED)  # (container,) machine it was deleted from, while it is down
        self.order = np.argsort(context.created.c, kind="stable")  # creates by container, in the order of the plan
        self.next = np.searchsorted(context.created.c[self.order], np.arange(n_c))  # (container,) its next create in `order`
        self.last = np.searchsorted(context.created.c[self.order], np.arange(n_c), side="right")

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Machines that would be charged more than they have."""
        if not self.resources:
            return
        going_down = batch.deletes.where(
            batch.goes_down & (self.context.migration.target.machine_of[batch.deletes.c] != UNPLACED)
        )
        reserved = self._reserved(going_down, batch)
        loads, receiving = self.context.loads, distinct(np.r_[batch.creates.m, reserved.m])
        charged = loads.high + load_of(self.context.cluster, self._held_beside(batch)) + load_of(self.context.cluster, reserved)
        for r in self.resources:
            over = receiving[charged[receiving, r] > loads.limit[receiving, r]]
            yield from _overfull(self.context, batch, over, r, charged[:, r], "transient")
        self.held[going_down.c] = going_down.m
        self.held[batch.creates.c] = UNPLACED
        self.next[batch.creates.c] += 1

    def _reserved(self, going_down: Instances, batch: BatchState) -> Instances:
        """Where containers that are down, or go down now, are created next, unless that is now or where they were."""
        down_from = self.held.copy()
        down_from[batch.creates.c] = UNPLACED
        down_from[going_down.c] = going_down.m
        c = np.flatnonzero((down_from != UNPLACED) & (self.next < self.last))
        m = self.context.created.m[self.order[self.next[c]]]
        elsewhere = m != down_from[c]
        return Instances(c=c[elsewhere], m=m[elsewhere])

    def _held_beside(self, batch: BatchState) -> Instances:
        """What is held; but a container that comes back to the machine it left is charged there once."""
        held = self.held.copy()
        c, m = batch.creates
        held[c[held[c] == m]] = UNPLACED
        holds = np.flatnonzero(held != UNPLACED)
        return Instances(c=holds, m=held[holds])


class JointTransientCheck:
    """Nothing of a transient resource is given back before the end of the plan ([FreeContainer] (11), GMRP)."""

    def __init__(self, context: PlanContext) -> None:
        self.context = context
        self.resources = sorted({rule.resource for _, rule in context.rules("transient") if rule.mode is TransientMode.JOINT})
        self.charged = context.loads.start
        self.seen = self._key(context.start)

    def _key(self, instances: Instances) -> IntArray:
        return instances.c * len(self.context.cluster.machines.name) + instances.m

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Machines that would be charged more than they have: each container once per machine it ever ran on."""
        if not self.resources:
            return
        new = batch.creates.where(~np.isin(self._key(batch.creates), self.seen, assume_unique=True))
        self.seen = np.r_[self.seen, self._key(new)]
        self.charged = self.charged + load_of(self.context.cluster, new)
        receiving = distinct(batch.creates.m)
        for r in self.resources:
            over = receiving[self.charged[receiving, r] > self.context.loads.limit[receiving, r]]
            yield from _overfull(self.context, batch, over, r, self.charged[:, r], "transient")


class ConfidenceCheck:
    """Usage stays within a machine with the stated probability ([UCaC] (2)); checked for probabilities of a half or more.

    Sums of floats are made anew in every batch, so that no rounding piles up.
    """

    def __init__(self, context: PlanContext) -> None:
        self.context = context
        self.rules = [rule for _, rule in context.rules("confidence")]
        ends = [np.maximum(self._need(context.start, rule), self._need(context.end, rule)) for rule in self.rules]
        has = context.cluster.machines.capacity
        self.limit = [np.maximum(has[:, rule.resource], end) for rule, end in zip(self.rules, ends, strict=True)]

    def _need(self, instances: Instances, rule: Confidence) -> FloatArray:
        """(machine,) the mean and as many deviations as the rule asks for."""
        r, alpha = rule.resource, rule.alpha
        workloads, n_m = self.context.cluster.workloads, len(self.context.cluster.machines.name)
        w = self.context.cluster.containers.workload[instances.c]
        mean = np.bincount(instances.m, weights=workloads.usage_mean[w, r], minlength=n_m)
        variance = np.bincount(instances.m, weights=workloads.usage_std[w, r] ** 2, minlength=n_m)
        need: FloatArray = mean + NormalDist().inv_cdf(alpha) * np.sqrt(variance)
        return need

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Machines that would need more than they have."""
        if not self.rules:
            return
        receiving, high = distinct(batch.creates.m), batch.high()
        for rule, limit in zip(self.rules, self.limit, strict=True):
            need, resource = self._need(high, rule), self.context.cluster.resources[rule.resource]
            for m in receiving[need[receiving] > limit[receiving] * (1 + TOLERANCE)].tolist():
                name = self.context.cluster.machines.name[m]
                sentence = (
                    f"batch {batch.number + 1}: machine '{name}' would need {real_amount(need[m], resource)} {resource.name} "
                    f"at {rule.alpha!r} of {real_amount(limit[m], resource)} while its steps run"
                )
                yield PlanViolation(batch=batch.number, rule="confidence", subject=(name, resource.name), sentence=sentence)
