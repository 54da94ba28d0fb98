"""A plan under construction: one step after the other, each safe, each can be taken back."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from bayplan.migrate.move_units import MoveUnits
from bayplan.migrate.running_state import MadeStep, RunningState
from bayplan.model import UNPLACED, Action, Way


class UnitStep(NamedTuple):
    """All containers of a unit are created on, or deleted from, a machine."""

    action: Action
    unit: int
    machine: int
    to: int  # of a delete: where it is to be created; UNPLACED if it is not, or runs elsewhere
    made: tuple[MadeStep, ...]  # one for each of its containers


class StepSequence:
    """Where every unit is, and the steps that brought it there."""

    def __init__(self, state: RunningState, units: MoveUnits) -> None:
        self.state, self.units = state, units
        self.steps: list[UnitStep] = []
        self.at: list[int] = [max(state.first[c] for c in unit) for unit in units.members]  # UNPLACED if it is down
        self.second: dict[int, int] = {}  # unit -> its second machine
        self.on: list[set[int]] = [set() for _ in range(len(state.limit))]  # (machine,) units
        for u, m in enumerate(self.at):
            if m != UNPLACED:
                self.on[m].add(u)
        for c, m in enumerate(state.second):
            if m != UNPLACED:
                self.second[units.of_container[c]] = m
                self.on[m].add(units.of_container[c])
        self.pending = {u for u in range(len(units)) if self._is_pending(u)}  # units that are not on their target

    def _is_pending(self, u: int) -> bool:
        return not self.units.fixed[u] and (self.at[u] != self.units.target[u] or u in self.second)

    def _update_pending(self, u: int) -> None:
        if self._is_pending(u):
            self.pending.add(u)
        else:
            self.pending.discard(u)

    def create(self, u: int, m: int) -> bool:
        """Create the unit on a machine, if that is safe."""
        made = self.state.try_creates(self._needed(u), m)
        if made:
            self.state.end_batch()
            self._append(UnitStep(Action.CREATE, u, m, UNPLACED, tuple(made)))
        return bool(made)

    def delete(self, u: int, m: int, to: int | None = None) -> bool:
        """Delete the unit on a machine, if that is safe, to be created on another one: its target, if none is given."""
        state, to = self.state, self.units.target[u] if to is None else to
        made = state.try_deletes([c for c in self.units.members[u] if m in (state.first[c], state.second[c])], m, to)
        if made:
            state.end_batch()
            self._append(UnitStep(Action.DELETE, u, m, to, tuple(made)))
        return bool(made)

    def move(self, u: int, m: int) -> bool:
        """Move the unit to a machine directly, in a way that it may go."""
        a = self.at[u]
        if a == UNPLACED:
            return self.create(u, m)
        if not self._could_fit(u, m):
            return False
        mark = len(self.steps)
        if self.units.may_replace[u] and self.delete(u, a, m):
            if self.create(u, m):
                return True
            self.back_to(mark)
        if self.units.may_surge[u] and self.create(u, m):
            if self.delete(u, a):
                return True
            self.back_to(mark)
        return False

    def back_to(self, mark: int) -> None:
        """Take back every step since there were `mark` of them."""
        while len(self.steps) > mark:
            step = self.steps.pop()
            for made_step in reversed(step.made):
                self.state.undo(made_step)
            if step.action is Action.CREATE:
                self._leave(step.unit, step.machine)
            else:
                self._arrive(step.unit, step.machine)

    def redo(self, steps: Sequence[UnitStep]) -> None:
        """Make the same steps again, from the state in which they were made first."""
        for step in steps:
            if step.action is Action.CREATE:
                self.create(step.unit, step.machine)
            else:
                self.delete(step.unit, step.machine, step.to)

    def _could_fit(self, u: int, m: int) -> bool:
        """A quick look before anything is deleted: would its first container fit?"""
        return self.state.fits(self.units.members[u][0], m)

    def _needed(self, u: int) -> list[int]:
        """Containers of a unit that run at the end."""
        return [c for c in self.units.members[u] if not self.state.ends[c]]

    def _append(self, step: UnitStep) -> None:
        self.steps.append(step)
        if step.action is Action.CREATE:
            self._arrive(step.unit, step.machine)
        else:
            self._leave(step.unit, step.machine)

    def _arrive(self, u: int, m: int) -> None:
        if self.at[u] == UNPLACED:
            self.at[u] = m
        else:
            self.second[u] = m
        self.on[m].add(u)
        self._update_pending(u)

    def _leave(self, u: int, m: int) -> None:
        other = self.second.pop(u, UNPLACED)
        if self.at[u] == m:
            self.at[u] = other
        self.on[m].discard(u)
        self._update_pending(u)


def least_batches(sequence: StepSequence) -> int:
    """A proven lower bound of the batches of any complete plan, from the start of a sequence.

    A container that is replaced is down in the batch that deletes it and in the one that creates it: of n containers that must
    be replaced, with k that may be down at a time, that makes 2 n / k batches. Only where the way is REPLACE must a container be
    replaced: under AUTO any may surge. Limits of steps per batch count too.
    """
    units, state = sequence.units, sequence.state
    pending = [c for u in sequence.pending for c in units.members[u]]
    target = state.migration.target.machine_of
    moves = [c for c in pending if UNPLACED not in (state.first[c], int(target[c])) and state.first[c] != target[c]]
    moves = [c for c in moves if state.second[c] == UNPLACED]
    least = 2 if moves else min(1, len(pending))
    changing = {state.workload[c] for c in set(pending) - set(moves)}  # workloads that grow or shrink
    policy = state.migration.policy
    replaced = Counter(w for w in (state.workload[c] for c in moves) if policy.way_of(w) is Way.REPLACE)
    for w, count in replaced.items():
        may_be_down = state.alive[w] - state.least[w]
        if w not in changing and may_be_down > 0:
            least = max(least, -(-2 * count // may_be_down))
    limit = policy.limits.batch
    steps = len(moves) + sum(state.first[c] != target[c] or state.second[c] != UNPLACED for c in pending)
    return least if limit is None else max(least, -(-steps // limit))
