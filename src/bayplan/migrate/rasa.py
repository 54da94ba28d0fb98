"""RASA's migration path ([RASA] §IV-E, Algorithm 2).

Batches alternate: in one every machine deletes a container, in the next every machine creates one. Which one, the offline ratio
of its workload decides: the share of its containers that have been deleted and not yet created again. Readings where the paper is
silent: a delete that would leave fewer alive than the stated share is skipped; ratios are updated inside a batch; a workload too
small for that share surges, its create first and its delete in a later batch of deletes; a round that changes nothing
ends the plan. What is down then goes back to where it came from, and what runs twice keeps one of the two. Where that is not
safe, the path is followed again without these containers, so none is left down or doubled. Rules beside capacity are kept too:
the paper's clusters have none that matter here.
"""

from collections import defaultdict
from collections.abc import Callable, Set

from bayplan.migrate.batches import BatchBuilder
from bayplan.migrate.explain_stuck import explain_stuck
from bayplan.migrate.move_units import MoveUnits, move_units
from bayplan.migrate.options import MigrateOptions
from bayplan.migrate.result import PlanDraft, plan_result, refused
from bayplan.migrate.running_state import RunningState
from bayplan.migrate.step_sequence import StepSequence, least_batches
from bayplan.model import UNPLACED, Action, Budget, Migration, Plan, Progress, Result, Step, Tick
from bayplan.model.interrupt import stoppable


def rasa(migration: Migration, options: MigrateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Plan]:
    """A plan by [RASA] Algorithm 2. It draws no random numbers: `seed` changes nothing."""
    clock, refusal = budget.clock(), refused(migration)
    if refusal is not None:
        return refusal
    units = move_units(migration, options)
    with stoppable() as stop:
        held: set[int] = set()  # units that would end under way: without them the path is followed again
        while True:
            path = MigrationPath(RunningState(migration), units, held)
            path.follow(lambda: stop.requested or clock.expired(), progress)
            path.settle()
            if not path.under_way:
                break
            held.update(path.under_way)
    draft = PlanDraft(
        plan=Plan(batches=tuple(path.batches)), left_out=explain_stuck(StepSequence(path.state, units)), bound=path.bound
    )
    return plan_result(migration, draft, seconds=clock.seconds)


class MigrationPath:
    """The migration path under construction: x_curr of Algorithm 2 is the state."""

    def __init__(self, state: RunningState, units: MoveUnits, held: Set[int] = frozenset()) -> None:
        self.state, self.units = state, units
        start = StepSequence(state, units)
        self.bound = least_batches(start)
        self.home = list(start.at)
        self.at = start.at  # (unit,) UNPLACED while it is down
        self.old: dict[int, int] = dict(start.second)  # unit that runs twice -> the machine that it has to leave
        for u, m in start.second.items():
            if m == units.target[u]:
                self.old[u], self.at[u] = self.at[u], m
        self.doubled_at_start = frozenset(self.old)
        self.batches: list[tuple[Step, ...]] = []
        self.leaving: dict[int, list[int]] = defaultdict(list)  # machine -> units to delete there
        self.arriving: dict[int, list[int]] = defaultdict(list)  # machine -> units to create there
        for u in sorted(start.pending - held):
            for m in {self.at[u], self.old.get(u, UNPLACED)} - {UNPLACED, units.target[u]}:
                self.leaving[m].append(u)
            if units.target[u] not in (UNPLACED, self.at[u]):
                self.arriving[units.target[u]].append(u)

    def follow(self, over: Callable[[], bool], progress: Progress) -> None:
        """Lines 3 to 9: a batch of deletes and one of creates in turn, until a round changes nothing."""
        total = sum(map(len, self.arriving.values())) + sum(map(len, self.leaving.values()))
        while self.leaving or self.arriving:
            before = len(self.batches)
            self._batch(Action.DELETE, self.leaving)
            self._batch(Action.CREATE, self.arriving)
            left = sum(map(len, self.arriving.values())) + sum(map(len, self.leaving.values()))
            progress(Tick(stage="planning", done=1.0 - left / total))
            if len(self.batches) == before or over():
                break

    def _batch(self, action: Action, pending: dict[int, list[int]]) -> None:
        """Lines 4 to 6 or 7 to 9: each machine selects one container, and the batch is closed."""
        batch, done = BatchBuilder(self.state, self.state.migration.policy.limits), []
        for m in sorted(pending):
            sign = 1 if action is Action.DELETE else -1  # SelectDelete: the lowest offline ratio; SelectCreate: the highest
            for u in sorted(pending[m], key=lambda u: (sign * self._offline(u), u)):
                if self._ready(action, u, m) and batch.add(action, self._containers(action, u, m), m, self.units.target[u]):
                    done.append((u, m))
                    break
        for u, m in done:
            pending[m].remove(u)
            if not pending[m]:
                del pending[m]
            self._changed(action, u, m)
        self._close(batch)

    def _offline(self, u: int) -> float:
        """The highest offline ratio of its workloads, with what this batch does."""
        migration, ratios = self.state.migration, []
        for c in self.units.members[u]:
            w = self.state.workload[c]
            ratios.append(1.0 - self.state.alive[w] / max(1, int(migration.cluster.replicas[w])))
        return max(ratios)

    def _ready(self, action: Action, u: int, m: int) -> bool:
        """Is this its next step?"""
        if action is Action.DELETE:
            may_go_down = self.units.target[u] == UNPLACED or (self.units.may_replace[u] and not self.units.may_surge[u])
            return self.old.get(u) == m or (self.at[u] == m and u not in self.old and may_go_down)
        return self.at[u] == UNPLACED or (u not in self.old and self.units.may_surge[u])

    def _containers(self, action: Action, u: int, m: int) -> list[int]:
        state = self.state
        if action is Action.DELETE:
            return [c for c in self.units.members[u] if m in (state.first[c], state.second[c])]
        return [c for c in self.units.members[u] if not state.ends[c]]

    def _changed(self, action: Action, u: int, m: int) -> None:
        if action is Action.CREATE:
            if self.at[u] != UNPLACED:
                self.old[u] = self.at[u]
            self.at[u] = m
        elif self.old.pop(u, UNPLACED) == UNPLACED:
            self.at[u] = UNPLACED

    @property
    def under_way(self) -> list[int]:
        """Units that are down although they ran and have a target, or that run twice and did not at the start."""
        down = [u for u, m in enumerate(self.at) if m == UNPLACED != self.home[u] and self.units.target[u] != UNPLACED]
        return [*down, *(u for u in self.old if u not in self.doubled_at_start)]

    def settle(self) -> None:
        """Units that are down go back to their old machine, those that run twice leave one of the two, as far as that is safe."""
        while units := self.under_way:
            batch = BatchBuilder(self.state, self.state.migration.policy.limits)
            for u in units:
                self._settle(batch, u)
            if not batch.steps:
                break
            self._close(batch)

    def _settle(self, batch: BatchBuilder, u: int) -> None:
        if self.at[u] == UNPLACED:
            if batch.add(Action.CREATE, self._containers(Action.CREATE, u, UNPLACED), self.home[u]):
                self.at[u] = self.home[u]
            return
        for leaves, stays in ((self.old[u], self.at[u]), (self.at[u], self.old[u])):
            if batch.add(Action.DELETE, self._containers(Action.DELETE, u, leaves), leaves):
                del self.old[u]
                self.at[u] = stays
                return

    def _close(self, batch: BatchBuilder) -> None:
        if batch.steps:
            self.state.end_batch()
            self.batches.append(batch.closed())
