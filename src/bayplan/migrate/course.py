"""A plan in the making: one step after the other, each safe, each can be taken back."""

from collections.abc import Sequence
from typing import NamedTuple

from bayplan.migrate.ledger import NOWHERE, Ledger, Record
from bayplan.migrate.units import Units
from bayplan.model import Action


class Op(NamedTuple):
    """All containers of a unit are created on, or deleted from, a machine."""

    action: Action
    unit: int
    machine: int
    to: int  # of a delete: where it shall be created; NOWHERE if it shall not, or runs elsewhere
    records: tuple[Record, ...]


class Course:
    """Where every unit is, and how it came there."""

    def __init__(self, ledger: Ledger, units: Units) -> None:
        self.ledger, self.units = ledger, units
        self.ops: list[Op] = []
        self.at: list[int] = [max(ledger.first[c] for c in unit) for unit in units.members]  # NOWHERE if it is down
        self.also: dict[int, int] = {}  # unit -> its second machine
        self.on: list[set[int]] = [set() for _ in range(len(ledger.limit))]  # (machine,) units
        for u, m in enumerate(self.at):
            if m != NOWHERE:
                self.on[m].add(u)
        for c, m in enumerate(ledger.second):
            if m != NOWHERE:
                self.also[units.of_container[c]] = m
                self.on[m].add(units.of_container[c])
        self.pending = {u for u in range(len(units)) if self._is_pending(u)}  # units that are not where they shall be

    def _is_pending(self, u: int) -> bool:
        return not self.units.fixed[u] and (self.at[u] != self.units.target[u] or u in self.also)

    def _note(self, u: int) -> None:
        if self._is_pending(u):
            self.pending.add(u)
        else:
            self.pending.discard(u)

    def put(self, u: int, m: int) -> bool:
        """Create the unit on a machine, if that is safe."""
        records = self.ledger.try_creates(self._wanted(u), m)
        if records:
            self.ledger.end_batch()
            self._done(Op(Action.CREATE, u, m, NOWHERE, tuple(records)))
        return bool(records)

    def take(self, u: int, m: int, to: int | None = None) -> bool:
        """Delete the unit on a machine, if that is safe, to be created on another one: its target, if none is said."""
        ledger, to = self.ledger, self.units.target[u] if to is None else to
        records = ledger.try_deletes([c for c in self.units.members[u] if m in (ledger.first[c], ledger.second[c])], m, to)
        if records:
            ledger.end_batch()
            self._done(Op(Action.DELETE, u, m, to, tuple(records)))
        return bool(records)

    def move(self, u: int, m: int) -> bool:
        """Bring the unit to a machine in one hop, in the way that it may go."""
        a = self.at[u]
        if a == NOWHERE:
            return self.put(u, m)
        if not self._could_hold(u, m):
            return False
        mark = len(self.ops)
        if self.units.may_replace[u] and self.take(u, a, m):
            if self.put(u, m):
                return True
            self.back_to(mark)
        if self.units.may_surge[u] and self.put(u, m):
            if self.take(u, a):
                return True
            self.back_to(mark)
        return False

    def back_to(self, mark: int) -> None:
        """Take back every step since there were `mark` of them."""
        while len(self.ops) > mark:
            op = self.ops.pop()
            for record in reversed(op.records):
                self.ledger.undo(record)
            if op.action is Action.CREATE:
                self._gone(op.unit, op.machine)
            else:
                self._come(op.unit, op.machine)

    def redo(self, ops: Sequence[Op]) -> None:
        """Make the same steps again, from the state in which they were made first."""
        for op in ops:
            if op.action is Action.CREATE:
                self.put(op.unit, op.machine)
            else:
                self.take(op.unit, op.machine, op.to)

    def _could_hold(self, u: int, m: int) -> bool:
        """A quick look before anything is lifted: is there room for its first container?"""
        return self.ledger.has_room(self.units.members[u][0], m)

    def _wanted(self, u: int) -> list[int]:
        """Containers of a unit that shall run at the end."""
        return [c for c in self.units.members[u] if not self.ledger.ends[c]]

    def _done(self, op: Op) -> None:
        self.ops.append(op)
        if op.action is Action.CREATE:
            self._come(op.unit, op.machine)
        else:
            self._gone(op.unit, op.machine)

    def _come(self, u: int, m: int) -> None:
        if self.at[u] == NOWHERE:
            self.at[u] = m
        else:
            self.also[u] = m
        self.on[m].add(u)
        self._note(u)

    def _gone(self, u: int, m: int) -> None:
        other = self.also.pop(u, NOWHERE)
        if self.at[u] == m:
            self.at[u] = other
        self.on[m].discard(u)
        self._note(u)
