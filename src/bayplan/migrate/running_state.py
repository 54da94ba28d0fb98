"""What runs where while a plan is constructed, and which step may come next.

Two views of the batch that is being filled: `high`, as if all its creates were done and none of its deletes, for what has an
upper limit; `low`, as if all its deletes were done and none of its creates, for what has a lower one. A step that both
views allow is safe in whatever order the batch is carried out. Between batches both are the same.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayplan.migrate.rule_counts import OUTSIDE, UNLIMITED, RuleCounts, load_limit, rule_counts, transient_resources
from bayplan.model import UNPLACED, Action, BoolArray, IntArray, Migration, Running, Step, TransientMode, allowed
from bayplan.model.plan import add_instance, remove_instance
from bayplan.score.counts import running_loads


class MadeStep(NamedTuple):
    """A step that was made, with what is needed to take it back."""

    step: Step
    held: int = UNPLACED  # of a create: the machine that the container was deleted from, which is charged until now
    reserved: int = UNPLACED  # the machine that is charged since its delete, because it is to be created there
    charged: bool = False  # was the machine charged for a joint resource for the first time?


class RunningState:
    """What runs where, changed step by step."""

    def __init__(self, migration: Migration) -> None:
        cluster = migration.cluster
        self.migration = migration
        self.workload: list[int] = cluster.containers.workload.tolist()
        self.request: IntArray = cluster.workloads.request  # (workload, resource)
        self.limit: IntArray = load_limit(migration)  # (machine, resource)
        self.high: IntArray = running_loads(cluster, migration.start)  # (machine, resource)
        self.first: list[int] = migration.start.machine_of.tolist()
        self.second: list[int] = migration.start.second.tolist()
        self.least: list[int] = migration.least_alive.tolist()
        self.alive: list[int] = [0] * len(self.least)  # (workload,) in the low view
        self.rules: RuleCounts = rule_counts(migration)
        self.allowed = allowed(cluster)
        self.ends: BoolArray = migration.target.machine_of == UNPLACED  # (container,) is to be deleted
        self.joint, self.sequential = (transient_resources(cluster, mode) for mode in TransientMode)
        self.charged: set[tuple[int, int]] = set()  # (container, machine) that joint resources are charged for
        self.held: dict[int, int] = {}  # container that is down -> the machine it left, still charged for it
        self.reserved: dict[int, int] = {}  # container that is down -> its next machine, already charged for it
        self.batch: list[MadeStep] = []  # steps of the batch that is being filled
        self.strict = True  # is spread kept even where a container that is down would excuse it?
        for c, m in migration.start.pairs().tolist():
            self._count_high(c, m, 1)
            self._count_low(c, m, 1, alone=self.first[c] == m)
        if len(self.joint):
            self.charged = {(c, m) for c, m in migration.start.pairs().tolist()}

    @property
    def running(self) -> Running:
        """What runs now; only between batches."""
        return Running(machine_of=np.array(self.first, dtype=np.int64), second=np.array(self.second, dtype=np.int64))

    # is a step allowed?

    def fits(self, c: int, m: int, kept_free: IntArray | None = None) -> bool:
        """Would the container fit, beside what runs there and what is to be kept free?"""
        free = self.limit[m] - self.high[m]
        if kept_free is not None:
            free = free - kept_free
        return bool((self.added_charge(c, m) <= free).all())

    def added_charge(self, c: int, m: int) -> IntArray:
        """(resource,) what its create on this machine would add to the charge."""
        request: IntArray = self.request[self.workload[c]]
        if not len(self.joint) and not self.held:
            return request
        request = request.copy()
        if len(self.joint) and (c, m) in self.charged:
            request[self.joint] = 0
        if c in self.held and m in (self.held[c], self.reserved.get(c)):
            request[self.sequential] = 0
        return request

    def shortage(self, c: int, m: int) -> IntArray:
        """(resource,) by how much the container is too big for what is free on the machine."""
        short: IntArray = np.maximum(0, self.added_charge(c, m) - (self.limit[m] - self.high[m]))
        return short

    def fitting_machines(self, c: int) -> BoolArray:
        """(machine,) where it fits and is allowed; rules that count are not looked at."""
        w = self.workload[c]
        fits: BoolArray = (self.limit - self.high >= self.request[w]).all(axis=1) & self.allowed.machines(w)
        return fits

    def may_create(self, c: int, m: int, kept_free: IntArray | None = None) -> bool:
        """May the container be created on the machine in this batch?"""
        return self.fits(c, m, kept_free) and self.may_join(c, m)

    def may_join(self, c: int, m: int) -> bool:
        """The same, if it fits."""
        w, rules = self.workload[c], self.rules
        if not self.allowed.row[self.allowed.row_of[w], m]:
            return False
        if c in self.held and m not in (self.held[c], self.reserved.get(c)):
            return False
        for at_most in rules.anti_affinity.get(w, ()):
            g = at_most.counts.group_of[m]
            if at_most.counts.high.get(g, 0) >= max(at_most.limit, at_most.worse.get(g, 0)):
                return False
        for pair in rules.interference.get(w, ()):
            g = pair.a.group_of[m]
            of_b = pair.b.high.get(g, 0) + (pair.b in rules.counted_in[w])
            present = pair.a.high.get(g, 0) + (pair.a in rules.counted_in[w])
            if present and of_b - pair.limit > pair.worse.get(g, 0):
                return False
        for need in rules.dependency.get(w, ()):
            g = need.service.group_of[m]
            if not need.on.low.get(g) and need.service.high.get(g, 0) >= need.worse.get(g, 0):
                return False
        if self.first[c] == UNPLACED:
            for spread in rules.spread.get(w, ()):
                new_group = not spread.counts.low.get(spread.counts.group_of[m])
                if spread.used + new_group < min(spread.minimum, spread.running + spread.changing + 1):
                    return False
        if not self._keeps_skew(w, m):
            return False
        for total in rules.confidence:
            mean, variance = total.mean[m] + total.mean_of[w], total.variance[m] + total.variance_of[w]
            if mean + total.d * np.sqrt(max(0.0, variance)) > total.limit[m]:
                return False
        return True

    def _keeps_skew(self, w: int, m: int) -> bool:
        """Are groups in which this batch creates what a skew rule judges within its limit, with one more of the workload on m?"""
        for skew in self.rules.skew.get(w, ()):
            g = skew.counts.group_of[m]
            if g != OUTSIDE and not skew.within(g, int(skew in self.rules.skew_counted.get(w, ()))):
                return False
        for skew in self.rules.skew_counted.get(w, ()):
            g = skew.counts.group_of[m]
            if skew.creating.get(g) and not skew.within(g, 1):
                return False
        return True

    def reserves(self, c: int, m: int, to: int) -> bool:
        """Does its delete charge the machine where it is to be created? A move is charged on both while it lasts."""
        alone = self.second[c] == UNPLACED and not self.ends[c]
        return len(self.sequential) > 0 and alone and to not in (UNPLACED, m)

    def may_delete(self, c: int, m: int, to: int) -> bool:
        """May the container be deleted on the machine in this batch, to be created on machine `to`?"""
        w, rules = self.workload[c], self.rules
        if self.reserves(c, m, to):
            free = (self.limit[to] - self.high[to])[self.sequential]
            if (self.request[w, self.sequential] > free).any():
                return False
        last = self.second[c] == UNPLACED  # the only machine where it runs
        if last and self.alive[w] <= self.least[w]:
            return False
        for need in rules.depended_on.get(w, ()):
            g = need.on.group_of[m]
            if need.on.low.get(g, 0) <= 1 and need.service.high.get(g, 0) > need.worse.get(g, 0):
                return False
        for skew in rules.skew_counted.get(w, ()):
            if skew.counts.group_of[m] != OUTSIDE and not skew.all_within(skew.counts.group_of[m]):
                return False
        for spread in rules.spread.get(w, ()):
            if spread.counts.low.get(spread.counts.group_of[m], 0) > 1:
                continue
            excused = UNLIMITED if self.strict and not self.ends[c] else spread.running + spread.changing - last
            if spread.used - 1 < min(spread.minimum, excused):
                return False
        return True

    # make a step, within a batch

    def create(self, c: int, m: int) -> MadeStep:
        """The container is created; the low view counts it at the end of the batch."""
        first_time = len(self.joint) > 0 and (c, m) not in self.charged
        held, reserved = self.held.get(c, UNPLACED), self.reserved.get(c, UNPLACED)
        made_step = MadeStep(Step(Action.CREATE, c, m), held, reserved, first_time)
        self.high[m] += self.added_charge(c, m)
        if made_step.charged:
            self.charged.add((c, m))
        self._count_high(c, m, 1)
        self._count_changing(c, self.first[c] == UNPLACED)
        self._count_creating(c, m, 1)
        self.batch.append(made_step)
        return made_step

    def delete(self, c: int, m: int, to: int) -> MadeStep:
        """The container is deleted, to be created on machine `to`; the high view counts that at the end of the batch."""
        made_step = MadeStep(Step(Action.DELETE, c, m), reserved=to if self.reserves(c, m, to) else UNPLACED)
        if made_step.reserved != UNPLACED:
            self.reserved[c] = to
            self._charge(c, to, 1)
        self._count_low(c, m, -1, alone=self.second[c] == UNPLACED)
        self._count_changing(c, self.second[c] == UNPLACED)
        self.batch.append(made_step)
        return made_step

    def withdraw(self) -> None:
        """Take back the last step of the batch that is being filled."""
        made_step = self.batch.pop()
        c, m = made_step.step.container, made_step.step.machine
        if made_step.step.action is Action.DELETE:
            if made_step.reserved != UNPLACED:
                del self.reserved[c]
                self._charge(c, made_step.reserved, -1)
            self._count_low(c, m, 1, alone=self.second[c] == UNPLACED)
            self._count_changing(c, -(self.second[c] == UNPLACED))
            return
        if made_step.charged:
            self.charged.discard((c, m))
        self.high[m] -= self.added_charge(c, m)
        self._count_high(c, m, -1)
        self._count_changing(c, -(self.first[c] == UNPLACED))
        self._count_creating(c, m, -1)

    def _count_creating(self, c: int, m: int, by: int) -> None:
        """Creates of the batch that skew rules judge."""
        for skew in self.rules.skew.get(self.workload[c], ()):
            g = skew.counts.group_of[m]
            if g != OUTSIDE:
                skew.creating[g] = skew.creating.get(g, 0) + by

    def _count_high(self, c: int, m: int, by: int) -> None:
        w = self.workload[c]
        for count in self.rules.counted_in.get(w, ()):
            g = count.group_of[m]
            count.high[g] = count.high.get(g, 0) + by
        for total in self.rules.confidence:
            total.mean[m] += by * total.mean_of[w]
            total.variance[m] += by * total.variance_of[w]

    def _count_low(self, c: int, m: int, by: int, *, alone: bool) -> None:
        """`alone`: does it run nowhere else?"""
        w = self.workload[c]
        for count in self.rules.counted_in.get(w, ()):
            g = count.group_of[m]
            count.low[g] = count.low.get(g, 0) + by
        if alone:
            self.alive[w] += by
            for spread in self.rules.spread.get(w, ()):
                spread.running += by

    def try_creates(self, containers: Sequence[int], m: int, kept_free: IntArray | None = None) -> list[MadeStep]:
        """Create all of them on a machine, or none."""
        made: list[MadeStep] = []
        for c in containers:
            if not self.may_create(c, m, kept_free):
                for _ in made:
                    self.withdraw()
                return []
            made.append(self.create(c, m))
        return made

    def try_deletes(self, containers: Sequence[int], m: int, to: int) -> list[MadeStep]:
        """Delete all of them on a machine, or none."""
        made: list[MadeStep] = []
        for c in containers:
            if not self.may_delete(c, m, to):
                for _ in made:
                    self.withdraw()
                return []
            made.append(self.delete(c, m, to))
        return made

    # the end of a batch, and taking back what came before it

    def end_batch(self) -> None:
        """All steps of the batch have been made."""
        for made_step in self.batch:
            if made_step.step.action is Action.CREATE:
                self._created(made_step)
            else:
                self._deleted(made_step.step.container, made_step.step.machine)
        self.batch = []

    def undo(self, made_step: MadeStep) -> None:
        """Take back the last step that was made, between batches."""
        if made_step.step.action is Action.CREATE:
            self._uncreated(made_step)
        else:
            self._undeleted(made_step.step.container, made_step.step.machine)
        self.batch.append(made_step)
        self.withdraw()

    def _created(self, made_step: MadeStep) -> None:
        c, m = made_step.step.container, made_step.step.machine
        self._count_changing(c, -(self.first[c] == UNPLACED))
        self._count_creating(c, m, -1)
        self._count_low(c, m, 1, alone=self.first[c] == UNPLACED)
        add_instance(self.first, self.second, c, m)
        if made_step.held != UNPLACED:
            del self.held[c]
            self.reserved.pop(c, None)
            for other in {made_step.held, made_step.reserved} - {UNPLACED, m}:
                self._charge(c, other, -1)

    def _uncreated(self, made_step: MadeStep) -> None:
        c, m = made_step.step.container, made_step.step.machine
        if made_step.held != UNPLACED:
            self.held[c] = made_step.held
            if made_step.reserved != UNPLACED:
                self.reserved[c] = made_step.reserved
            for other in {made_step.held, made_step.reserved} - {UNPLACED, m}:
                self._charge(c, other, 1)
        remove_instance(self.first, self.second, c, m)
        self._count_low(c, m, -1, alone=self.first[c] == UNPLACED)
        self._count_changing(c, self.first[c] == UNPLACED)
        self._count_creating(c, m, 1)

    def _charge(self, c: int, m: int, by: int) -> None:
        """Charge a machine for the sequential resources of a container that does not run there."""
        self.high[m, self.sequential] += by * self.request[self.workload[c], self.sequential]

    def _count_changing(self, c: int, by: int) -> None:
        """Containers that go down or come up while the batch lasts."""
        for spread in self.rules.spread.get(self.workload[c], ()) if by else ():
            spread.changing += by

    def _deleted(self, c: int, m: int) -> None:
        self._count_changing(c, -(self.second[c] == UNPLACED))
        remove_instance(self.first, self.second, c, m)
        if self.first[c] == UNPLACED and len(self.sequential) and not self.ends[c]:
            self.held[c] = m
        self.high[m] -= self._freed(c, m)
        self._count_high(c, m, -1)

    def _undeleted(self, c: int, m: int) -> None:
        self.high[m] += self._freed(c, m)
        self._count_high(c, m, 1)
        self.held.pop(c, None)
        add_instance(self.first, self.second, c, m)
        self._count_changing(c, self.second[c] == UNPLACED)

    def _freed(self, c: int, m: int) -> IntArray:
        """(resource,) what a machine gives back when the container has been deleted there."""
        freed: IntArray = self.request[self.workload[c]]
        if len(self.joint) or c in self.held:
            freed = freed.copy()
            freed[self.joint] = 0
            if self.held.get(c, UNPLACED) == m:
                freed[self.sequential] = 0
        return freed
