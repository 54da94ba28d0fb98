"""What runs where while a plan is made, and which step may come next.

Two views of the batch that is being filled: `high`, as if all its creates were done and none of its deletes, for what has an
upper limit; `low`, as if all its deletes were done and none of its creates, for what has a lower one. A step that both
views allow is safe in whatever order the batch is carried out. Between batches both are the same.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayplan.migrate.rows import UNLIMITED, Rows, load, room, rows_of, transient
from bayplan.model import UNPLACED, Action, BoolArray, IntArray, Migration, Running, Step, TransientMode, allowed

NOWHERE = UNPLACED


class Record(NamedTuple):
    """A step that was made, with what its way back needs to know."""

    step: Step
    held: int = NOWHERE  # of a create: the machine that the container was deleted on, which is charged until now
    booked: int = NOWHERE  # the machine that is charged since its delete, because it shall be created there
    charged: bool = False  # was the machine charged for a joint resource for the first time?


class Ledger:
    """A state, changed step by step."""

    def __init__(self, migration: Migration) -> None:
        cluster = migration.cluster
        self.migration = migration
        self.workload: list[int] = cluster.containers.workload.tolist()
        self.request: IntArray = cluster.workloads.request  # (workload, resource)
        self.limit: IntArray = room(migration)  # (machine, resource)
        self.high: IntArray = load(cluster, migration.start.pairs())  # (machine, resource)
        self.first: list[int] = migration.start.machine_of.tolist()
        self.second: list[int] = migration.start.second.tolist()
        self.least: list[int] = migration.least_alive.tolist()
        self.alive: list[int] = [0] * len(self.least)  # (workload,) in the low view
        self.rows: Rows = rows_of(migration)
        self.allowed = allowed(cluster)
        self.ends: BoolArray = migration.after.machine_of == UNPLACED
        self.joint, self.sequential = (transient(cluster, mode) for mode in TransientMode)
        self.charged: set[tuple[int, int]] = set()  # (container, machine) that joint resources are charged for
        self.held: dict[int, int] = {}  # container that is down -> the machine that still holds its sequential resources
        self.booked: dict[int, int] = {}  # container that is down -> the machine that holds them already
        self.batch: list[Record] = []  # steps whose other half follows at the end of the batch
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

    # may it?

    def has_room(self, c: int, m: int, reserved: IntArray | None = None) -> bool:
        """Would the container fit, beside what runs there and what is reserved?"""
        free = self.limit[m] - self.high[m]
        if reserved is not None:
            free = free - reserved
        return bool((self.wants(c, m) <= free).all())

    def wants(self, c: int, m: int) -> IntArray:
        """(resource,) what its create on this machine would add to the charge."""
        request: IntArray = self.request[self.workload[c]]
        if not len(self.joint) and not self.held:
            return request
        request = request.copy()
        if len(self.joint) and (c, m) in self.charged:
            request[self.joint] = 0
        if c in self.held and m in (self.held[c], self.booked.get(c)):
            request[self.sequential] = 0
        return request

    def shortage(self, c: int, m: int) -> IntArray:
        """(resource,) by how much the container is too big for what is free on the machine."""
        short: IntArray = np.maximum(0, self.wants(c, m) - (self.limit[m] - self.high[m]))
        return short

    def rooms(self, c: int) -> BoolArray:
        """(machine,) where it fits and is allowed; the count rules are not asked."""
        w = self.workload[c]
        fits: BoolArray = (self.limit - self.high >= self.request[w]).all(axis=1) & self.allowed.machines(w)
        return fits

    def may_create(self, c: int, m: int, reserved: IntArray | None = None) -> bool:
        """May the container be created on the machine in this batch?"""
        return self.has_room(c, m, reserved) and self.may_join(c, m)

    def may_join(self, c: int, m: int) -> bool:
        """The same, if there is room."""
        w, rows = self.workload[c], self.rows
        if not self.allowed.row[self.allowed.row_of[w], m]:
            return False
        if c in self.held and m not in (self.held[c], self.booked.get(c)):
            return False
        for most in rows.most.get(w, ()):
            g = most.row.group_of[m]
            if most.row.high.get(g, 0) >= max(most.limit, most.worse.get(g, 0)):
                return False
        for clash in rows.clash.get(w, ()):
            g = clash.a.group_of[m]
            of_b = clash.b.high.get(g, 0) + (clash.b in rows.counted[w])
            present = clash.a.high.get(g, 0) + (clash.a in rows.counted[w])
            if present and of_b - clash.limit > clash.worse.get(g, 0):
                return False
        for need in rows.needs.get(w, ()):
            g = need.service.group_of[m]
            if not need.on.low.get(g) and need.service.high.get(g, 0) >= need.worse.get(g, 0):
                return False
        if self.first[c] == NOWHERE:
            for wide in rows.wide.get(w, ()):
                anew = not wide.row.low.get(wide.row.group_of[m])
                if wide.used + anew < min(wide.least, wide.running + wide.changing + 1):
                    return False
        for risk in rows.risks:
            mean, variance = risk.mean[m] + risk.mean_of[w], risk.variance[m] + risk.variance_of[w]
            if mean + risk.d * np.sqrt(max(0.0, variance)) > risk.limit[m]:
                return False
        return True

    def books(self, c: int, m: int, to: int) -> bool:
        """Does its delete charge the machine where it shall be created? A move is charged on both while it lasts."""
        alone = self.second[c] == NOWHERE and not self.ends[c]
        return len(self.sequential) > 0 and alone and to not in (NOWHERE, m)

    def may_delete(self, c: int, m: int, to: int) -> bool:
        """May the container be deleted on the machine in this batch, to be created on machine `to`?"""
        w, rows = self.workload[c], self.rows
        if self.books(c, m, to):
            free = (self.limit[to] - self.high[to])[self.sequential]
            if (self.request[w, self.sequential] > free).any():
                return False
        last = self.second[c] == NOWHERE  # the only machine where it runs
        if last and self.alive[w] <= self.least[w]:
            return False
        for need in rows.gives.get(w, ()):
            g = need.on.group_of[m]
            if need.on.low.get(g, 0) <= 1 and need.service.high.get(g, 0) > need.worse.get(g, 0):
                return False
        for wide in rows.wide.get(w, ()):
            if wide.row.low.get(wide.row.group_of[m], 0) > 1:
                continue
            excused = UNLIMITED if self.strict and not self.ends[c] else wide.running + wide.changing - last
            if wide.used - 1 < min(wide.least, excused):
                return False
        return True

    # do it, within a batch

    def create(self, c: int, m: int) -> Record:
        """The container comes; the low view learns it at the end of the batch."""
        first_time = len(self.joint) > 0 and (c, m) not in self.charged
        held, booked = self.held.get(c, NOWHERE), self.booked.get(c, NOWHERE)
        record = Record(Step(Action.CREATE, c, m), held, booked, first_time)
        self.high[m] += self.wants(c, m)
        if record.charged:
            self.charged.add((c, m))
        self._count_high(c, m, 1)
        self._count_changing(c, self.first[c] == NOWHERE)
        self.batch.append(record)
        return record

    def delete(self, c: int, m: int, to: int) -> Record:
        """The container goes, to be created on machine `to`; the high view learns it at the end of the batch."""
        record = Record(Step(Action.DELETE, c, m), booked=to if self.books(c, m, to) else NOWHERE)
        if record.booked != NOWHERE:
            self.booked[c] = to
            self._charge(c, to, 1)
        self._count_low(c, m, -1, alone=self.second[c] == NOWHERE)
        self._count_changing(c, self.second[c] == NOWHERE)
        self.batch.append(record)
        return record

    def withdraw(self) -> None:
        """Take back the last step of the batch that is being filled."""
        record = self.batch.pop()
        c, m = record.step.container, record.step.machine
        if record.step.action is Action.DELETE:
            if record.booked != NOWHERE:
                del self.booked[c]
                self._charge(c, record.booked, -1)
            self._count_low(c, m, 1, alone=self.second[c] == NOWHERE)
            self._count_changing(c, -(self.second[c] == NOWHERE))
            return
        if record.charged:
            self.charged.discard((c, m))
        self.high[m] -= self.wants(c, m)
        self._count_high(c, m, -1)
        self._count_changing(c, -(self.first[c] == NOWHERE))

    def _count_high(self, c: int, m: int, by: int) -> None:
        w = self.workload[c]
        for row in self.rows.counted.get(w, ()):
            g = row.group_of[m]
            row.high[g] = row.high.get(g, 0) + by
        for risk in self.rows.risks:
            risk.mean[m] += by * risk.mean_of[w]
            risk.variance[m] += by * risk.variance_of[w]

    def _count_low(self, c: int, m: int, by: int, *, alone: bool) -> None:
        """`alone`: does it run nowhere else?"""
        w = self.workload[c]
        for row in self.rows.counted.get(w, ()):
            g = row.group_of[m]
            row.low[g] = row.low.get(g, 0) + by
        if alone:
            self.alive[w] += by
            for wide in self.rows.wide.get(w, ()):
                wide.running += by

    def try_creates(self, containers: Sequence[int], m: int, reserved: IntArray | None = None) -> list[Record]:
        """Create all of them on a machine, or none."""
        records: list[Record] = []
        for c in containers:
            if not self.may_create(c, m, reserved):
                for _ in records:
                    self.withdraw()
                return []
            records.append(self.create(c, m))
        return records

    def try_deletes(self, containers: Sequence[int], m: int, to: int) -> list[Record]:
        """Delete all of them on a machine, or none."""
        records: list[Record] = []
        for c in containers:
            if not self.may_delete(c, m, to):
                for _ in records:
                    self.withdraw()
                return []
            records.append(self.delete(c, m, to))
        return records

    # the end of a batch, and the way back over it

    def end_batch(self) -> None:
        """All steps of the batch have been made."""
        for record in self.batch:
            if record.step.action is Action.CREATE:
                self._created(record)
            else:
                self._deleted(record.step.container, record.step.machine)
        self.batch = []

    def undo(self, record: Record) -> None:
        """Take back the last step that was made, between batches."""
        if record.step.action is Action.CREATE:
            self._uncreated(record)
        else:
            self._undeleted(record.step.container, record.step.machine)
        self.batch.append(record)
        self.withdraw()

    def _created(self, record: Record) -> None:
        c, m = record.step.container, record.step.machine
        self._count_changing(c, -(self.first[c] == NOWHERE))
        self._count_low(c, m, 1, alone=self.first[c] == NOWHERE)
        if self.first[c] == NOWHERE:
            self.first[c] = m
        else:
            self.second[c] = m
        if record.held != NOWHERE:
            del self.held[c]
            self.booked.pop(c, None)
            for other in {record.held, record.booked} - {NOWHERE, m}:
                self._charge(c, other, -1)

    def _uncreated(self, record: Record) -> None:
        c, m = record.step.container, record.step.machine
        if record.held != NOWHERE:
            self.held[c] = record.held
            if record.booked != NOWHERE:
                self.booked[c] = record.booked
            for other in {record.held, record.booked} - {NOWHERE, m}:
                self._charge(c, other, 1)
        self._leave(c, m)
        self._count_low(c, m, -1, alone=self.first[c] == NOWHERE)
        self._count_changing(c, self.first[c] == NOWHERE)

    def _charge(self, c: int, m: int, by: int) -> None:
        """Charge a machine for the sequential resources of a container that does not run there."""
        self.high[m, self.sequential] += by * self.request[self.workload[c], self.sequential]

    def _count_changing(self, c: int, by: int) -> None:
        """Containers that go down or come up while the batch lasts."""
        for wide in self.rows.wide.get(self.workload[c], ()) if by else ():
            wide.changing += by

    def _deleted(self, c: int, m: int) -> None:
        self._count_changing(c, -(self.second[c] == NOWHERE))
        self._leave(c, m)
        if self.first[c] == NOWHERE and len(self.sequential) and not self.ends[c]:
            self.held[c] = m
        self.high[m] -= self._freed(c, m)
        self._count_high(c, m, -1)

    def _undeleted(self, c: int, m: int) -> None:
        self.high[m] += self._freed(c, m)
        self._count_high(c, m, 1)
        self.held.pop(c, None)
        if self.first[c] == NOWHERE:
            self.first[c] = m
        else:
            self.second[c] = m
        self._count_changing(c, self.second[c] == NOWHERE)

    def _leave(self, c: int, m: int) -> None:
        if self.first[c] == m:
            self.first[c] = self.second[c]
        self.second[c] = NOWHERE

    def _freed(self, c: int, m: int) -> IntArray:
        """(resource,) what a machine gives back when the container has been deleted there."""
        freed: IntArray = self.request[self.workload[c]]
        if len(self.joint) or c in self.held:
            freed = freed.copy()
            freed[self.joint] = 0
            if self.held.get(c, NOWHERE) == m:
                freed[self.sequential] = 0
        return freed
