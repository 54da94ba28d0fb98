"""Machines that may overflow while the steps of a batch run: capacity, transient resources, confidence.

A machine is judged in the batches that create something on it: without a create it only gets emptier.
"""

from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from bayplan.check import TOLERANCE
from bayplan.check.migration.batch_state import Instances, Wave, distinct
from bayplan.check.migration.context import Case
from bayplan.check.migration.loads import load_of
from bayplan.check.migration.verdict import Breach
from bayplan.check.violation import amount, real_amount
from bayplan.model import UNPLACED, FloatArray, IntArray, Resource, TransientMode
from bayplan.model import Confidence as Confident


def _of(limit: int, has: int, resource: Resource) -> str:
    """'16', or '16 (17 at the worse end)' where an end of the migration breaks the limit already."""
    return amount(has, resource) + (f" ({amount(limit, resource)} at the worse end)" if limit > has else "")


class Capacity:
    """Requests stay within a machine."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.judged = sorted({r for _, rule in case.rules("capacity") for r in rule.resources})

    def __call__(self, wave: Wave) -> Iterator[Breach]:
        """Machines that would need more than they have."""
        loads, takes = self.case.loads, distinct(wave.creates.m)
        for r in self.judged:
            over = takes[loads.high[takes, r] > loads.limit[takes, r]]
            yield from _overfull(self.case, wave, over, r, loads.high[:, r], "capacity")


def _overfull(case: Case, wave: Wave, machines: IntArray, r: int, need: IntArray, rule: str) -> Iterator[Breach]:
    has, limit, resource = case.cluster.machines.capacity[:, r], case.loads.limit[:, r], case.cluster.resources[r]
    doing = "would need" if rule == "capacity" else "would be charged"
    for m in machines.tolist():
        name = case.cluster.machines.name[m]
        sentence = (
            f"batch {wave.number + 1}: machine '{name}' {doing} {amount(int(need[m]), resource)} {resource.name} "
            f"of {_of(int(limit[m]), int(has[m]), resource)} while its steps run"
        )
        yield Breach(batch=wave.number, rule=rule, subject=(name, resource.name), sentence=sentence)


class Sequential:
    """While a container moves, both machines are charged for a transient resource.

    A surging container does so by running on both. For a replaced one, the machine where it was deleted and the one where it is
    created next are charged from the batch of its delete to that of its create; one that shall end, or is not created
    again, gives everything back with its delete.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.judged = sorted({rule.resource for _, rule in case.rules("transient") if rule.mode is TransientMode.SEQUENTIAL})
        n_c = len(case.cluster.containers.name)
        self.held = np.full(n_c, UNPLACED)  # (container,) machine it was deleted on, while it is down
        self.order = np.argsort(case.coming.c, kind="stable")  # creates by container, in the order of the plan
        self.next = np.searchsorted(case.coming.c[self.order], np.arange(n_c))  # (container,) its next create in `order`
        self.last = np.searchsorted(case.coming.c[self.order], np.arange(n_c), side="right")

    def __call__(self, wave: Wave) -> Iterator[Breach]:
        """Machines that would be charged more than they have."""
        if not self.judged:
            return
        going = wave.deletes.where(wave.goes_down & (self.case.migration.after.machine_of[wave.deletes.c] != UNPLACED))
        booked = self._booked(going, wave)
        loads, takes = self.case.loads, distinct(np.r_[wave.creates.m, booked.m])
        charged = loads.high + load_of(self.case.cluster, self._held_beside(wave)) + load_of(self.case.cluster, booked)
        for r in self.judged:
            over = takes[charged[takes, r] > loads.limit[takes, r]]
            yield from _overfull(self.case, wave, over, r, charged[:, r], "transient")
        self.held[going.c] = going.m
        self.held[wave.creates.c] = UNPLACED
        self.next[wave.creates.c] += 1

    def _booked(self, going: Instances, wave: Wave) -> Instances:
        """Where containers that are down, or go down now, are created next, unless that is now or where they were."""
        waits = self.held.copy()
        waits[wave.creates.c] = UNPLACED
        waits[going.c] = going.m
        c = np.flatnonzero((waits != UNPLACED) & (self.next < self.last))
        m = self.case.coming.m[self.order[self.next[c]]]
        elsewhere = m != waits[c]
        return Instances(c=c[elsewhere], m=m[elsewhere])

    def _held_beside(self, wave: Wave) -> Instances:
        """What is held; but a container that comes back to the machine it left is charged there once."""
        held = self.held.copy()
        c, m = wave.creates
        held[c[held[c] == m]] = UNPLACED
        holds = np.flatnonzero(held != UNPLACED)
        return Instances(c=holds, m=held[holds])


class Joint:
    """Nothing of a transient resource is given back before the end of the plan (000 (11), GMRP)."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.judged = sorted({rule.resource for _, rule in case.rules("transient") if rule.mode is TransientMode.JOINT})
        self.charged = case.loads.start
        self.seen = self._key(case.begin)

    def _key(self, some: Instances) -> IntArray:
        return some.c * len(self.case.cluster.machines.name) + some.m

    def __call__(self, wave: Wave) -> Iterator[Breach]:
        """Machines that would be charged more than they have: each container once per machine it ever stood on."""
        if not self.judged:
            return
        new = wave.creates.where(~np.isin(self._key(wave.creates), self.seen, assume_unique=True))
        self.seen = np.r_[self.seen, self._key(new)]
        self.charged = self.charged + load_of(self.case.cluster, new)
        takes = distinct(wave.creates.m)
        for r in self.judged:
            over = takes[self.charged[takes, r] > self.case.loads.limit[takes, r]]
            yield from _overfull(self.case, wave, over, r, self.charged[:, r], "transient")


class Confidence:
    """Usage stays within a machine with the stated probability (003 (2)); judged for probabilities of a half or more.

    Sums of floats are made anew in every batch, so that no rounding piles up.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.rules = [rule for _, rule in case.rules("confidence")]
        ends = [np.maximum(self._need(case.begin, rule), self._need(case.end, rule)) for rule in self.rules]
        has = case.cluster.machines.capacity
        self.limit = [np.maximum(has[:, rule.resource], end) for rule, end in zip(self.rules, ends, strict=True)]

    def _need(self, some: Instances, rule: Confident) -> FloatArray:
        """(machine,) mean and so many deviations."""
        r, alpha = rule.resource, rule.alpha
        workloads, n_m = self.case.cluster.workloads, len(self.case.cluster.machines.name)
        w = self.case.cluster.containers.workload[some.c]
        mean = np.bincount(some.m, weights=workloads.usage_mean[w, r], minlength=n_m)
        variance = np.bincount(some.m, weights=workloads.usage_std[w, r] ** 2, minlength=n_m)
        need: FloatArray = mean + NormalDist().inv_cdf(alpha) * np.sqrt(variance)
        return need

    def __call__(self, wave: Wave) -> Iterator[Breach]:
        """Machines that would need more than they have."""
        if not self.rules:
            return
        takes, high = distinct(wave.creates.m), wave.high()
        for rule, limit in zip(self.rules, self.limit, strict=True):
            need, resource = self._need(high, rule), self.case.cluster.resources[rule.resource]
            for m in takes[need[takes] > limit[takes] * (1 + TOLERANCE)].tolist():
                name = self.case.cluster.machines.name[m]
                sentence = (
                    f"batch {wave.number + 1}: machine '{name}' would need {real_amount(need[m], resource)} {resource.name} "
                    f"at {rule.alpha!r} of {real_amount(limit[m], resource)} while its steps run"
                )
                yield Breach(batch=wave.number, rule="confidence", subject=(name, resource.name), sentence=sentence)
