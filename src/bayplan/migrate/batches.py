"""Safe steps in a row, put into as few batches as their order allows.

Batch after batch, every step that is left is looked at in its order and taken if it is safe now. One that is not holds what
it waits for: a later step may overtake it only where there is room for both, or where they have nothing in common. So
whatever is first in the row is always possible, and no order that was found is lost.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from bayplan.migrate.course import Op
from bayplan.migrate.ledger import NOWHERE, Ledger
from bayplan.model import Action, IntArray, Limits, Plan, Step

Claim = tuple[Hashable, ...]


def batched(ledger: Ledger, rows: Sequence[Sequence[Op]]) -> Plan:
    """The steps of some rows in batches, from the state that the ledger is in to the one that it is left in.

    No step of a row comes before the end of the row before. Steps that no batch can take are left out: a unit may have more
    containers than a batch may have steps.
    """
    batches = []
    for row in rows:
        left = list(row)
        while left:
            batch = Batch(ledger, ledger.migration.terms.limits)
            left = [op for op in left if not batch.take(op)]
            if not batch.steps:
                break
            ledger.end_batch()
            batches.append(batch.closed())
    return Plan(batches=tuple(batches))


class Batch:
    """One batch while it is filled: the ledger knows what runs, the batch what is reserved and counted."""

    def __init__(self, ledger: Ledger, limits: Limits) -> None:
        self.ledger, self.limits = ledger, limits
        self.steps: list[Step] = []
        self.touched: set[int] = set()  # containers that have a step here, or wait
        self.reserved: dict[int, IntArray] = {}  # machine -> what earlier steps wait for
        self.claimed: set[Claim] = set()
        self.count: Counter[Claim] = Counter()

    def take(self, op: Op) -> bool:
        """Add a step of the row if it is safe; otherwise it holds what it waits for."""
        containers = [record.step.container for record in op.records]
        claims = {claim for c in containers for claim in claims_of(self.ledger, op, c)}
        if self.claimed.isdisjoint(claims) and self.add(op.action, containers, op.machine, op.to):
            return True
        self._hold(op, containers, claims)
        return False

    def add(self, action: Action, containers: Sequence[int], m: int, to: int = NOWHERE) -> bool:
        """Add the same step of all these containers, if that is safe; deleted ones shall be created on machine `to`."""
        if not self.touched.isdisjoint(containers) or not self._within_limits(containers, m):
            return False
        if action is Action.CREATE:
            made = self.ledger.try_creates(containers, m, self.reserved.get(m))
        else:
            made = self.ledger.try_deletes(containers, m, to)
        for record in made:
            self.steps.append(record.step)
            self.touched.add(record.step.container)
            self.count.update(self._keys(record.step.container, m))
        return bool(made)

    def closed(self) -> tuple[Step, ...]:
        """Its steps, in the order in which plans are written."""
        return tuple(sorted(self.steps, key=lambda step: (step.action, step.machine, step.container)))

    def _hold(self, op: Op, containers: Sequence[int], claims: set[Claim]) -> None:
        self.claimed |= claims
        self.touched.update(containers)
        if op.action is Action.CREATE:
            wanted: IntArray = np.sum([self.ledger.wants(c, op.machine) for c in containers], axis=0)
            self.reserved[op.machine] = self.reserved.get(op.machine, 0) + wanted

    def _within_limits(self, containers: Sequence[int], m: int) -> bool:
        added = Counter(key for c in containers for key in self._keys(c, m))
        return all(self.count[key] + n <= getattr(self.limits, str(key[0])) for key, n in added.items())

    def _keys(self, c: int, m: int) -> Iterator[Claim]:
        """What the limits count of a step."""
        limits, cluster = self.limits, self.ledger.migration.cluster
        if limits.batch is not None:
            yield ("batch",)
        if limits.machine is not None:
            yield ("machine", m)
        if limits.service is not None:
            yield ("service", int(cluster.workloads.service[self.ledger.workload[c]]))
        if limits.zone is not None:
            yield ("zone", int(cluster.levels[limits.level].group_of[m]))


def claims_of(ledger: Ledger, op: Op, c: int) -> Iterator[Claim]:
    """What a container's part in a step shares with others, beside room on a machine."""
    rows, w, m = ledger.rows, ledger.workload[c], op.machine
    if len(ledger.sequential):
        yield ("sequential", m if op.action is Action.CREATE else op.to)
    if op.action is Action.CREATE:
        for most in rows.most.get(w, ()):
            yield ("most", id(most), most.row.group_of[m])
        for clash in rows.clash.get(w, ()):
            yield ("clash", id(clash), clash.a.group_of[m])
        for need in rows.needs.get(w, ()):
            yield ("need", id(need), need.on.group_of[m])
        if ledger.first[c] == NOWHERE:  # the more containers run, the more groups they must use
            for wide in rows.wide.get(w, ()):
                yield ("wide", id(wide))
        if rows.risks:
            yield ("risk", m)
        return
    if ledger.second[c] == NOWHERE:
        yield ("alive", w)
    for need in rows.gives.get(w, ()):
        yield ("need", id(need), need.on.group_of[m])
    for wide in rows.wide.get(w, ()):
        yield ("wide", id(wide))
