"""RASA's migration path (Chen et al., 2024, section IV-E, Algorithm 2).

Batches alternate: in one every machine deletes a container, in the next every machine creates one. Which one, the offline ratio
of its workload says: the share of its containers that have been deleted and not yet created again. Readings where the paper is
silent: a delete that would leave fewer alive than the stated share is skipped; ratios are updated inside a batch; a workload too
small for that share surges, its create first and its delete in a later batch of deletes; a round that changes nothing
ends the plan, and what is down then goes back to where it came from, where there is room. Rules beside capacity are
kept, too: the paper's clusters have none that matter here.
"""

from collections import defaultdict
from collections.abc import Callable

from bayplan.migrate.answer import Draft, refused, result
from bayplan.migrate.batches import Batch
from bayplan.migrate.bound import least_batches
from bayplan.migrate.course import Course
from bayplan.migrate.ledger import NOWHERE, Ledger
from bayplan.migrate.options import MigrateOptions
from bayplan.migrate.stuck import stuck
from bayplan.migrate.units import Units, units_of
from bayplan.model import Action, Budget, Migration, Plan, Progress, Result, Step, Tick
from bayplan.model.interrupt import stoppable


def rasa(migration: Migration, options: MigrateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Plan]:
    """Algorithm 2. It draws no random numbers: `seed` changes nothing."""
    clock, no = budget.clock(), refused(migration)
    if no is not None:
        return no
    units = units_of(migration, options)
    path = Path(Ledger(migration), units)
    with stoppable() as stop:
        path.follow(lambda: stop.asked or clock.expired(), progress)
    path.go_home()
    draft = Draft(plan=Plan(batches=tuple(path.batches)), left_out=stuck(Course(path.ledger, units)), bound=path.bound)
    return result(migration, draft, seconds=clock.seconds)


class Path:
    """The migration path in the making: x_curr of Algorithm 2 is the ledger."""

    def __init__(self, ledger: Ledger, units: Units) -> None:
        self.ledger, self.units = ledger, units
        start = Course(ledger, units)
        self.bound = least_batches(start)
        self.home = list(start.at)
        self.at = start.at  # (unit,) NOWHERE while it is down
        self.old: dict[int, int] = dict(start.also)  # unit that runs twice -> the machine that it has to leave
        for u, m in start.also.items():
            if m == units.target[u]:
                self.old[u], self.at[u] = self.at[u], m
        self.batches: list[tuple[Step, ...]] = []
        self.leaving: dict[int, list[int]] = defaultdict(list)  # machine -> units to delete there
        self.coming: dict[int, list[int]] = defaultdict(list)  # machine -> units to create there
        for u in sorted(start.pending):
            for m in {self.at[u], self.old.get(u, NOWHERE)} - {NOWHERE, units.target[u]}:
                self.leaving[m].append(u)
            if units.target[u] not in (NOWHERE, self.at[u]):
                self.coming[units.target[u]].append(u)

    def follow(self, over: Callable[[], bool], progress: Progress) -> None:
        """Lines 3 to 9: a batch of deletes and one of creates in turn, until a round changes nothing."""
        everything = sum(map(len, self.coming.values())) + sum(map(len, self.leaving.values()))
        while self.leaving or self.coming:
            before = len(self.batches)
            self._batch(Action.DELETE, self.leaving)
            self._batch(Action.CREATE, self.coming)
            left = sum(map(len, self.coming.values())) + sum(map(len, self.leaving.values()))
            progress(Tick(stage="planning", done=1.0 - left / everything))
            if len(self.batches) == before or over():
                break

    def _batch(self, action: Action, waiting: dict[int, list[int]]) -> None:
        """Lines 4 to 6 or 7 to 9: each machine selects one container, and the batch is closed."""
        batch, done = Batch(self.ledger, self.ledger.migration.terms.limits), []
        for m in sorted(waiting):
            sign = 1 if action is Action.DELETE else -1  # SelectDelete: the lowest offline ratio; SelectCreate: the highest
            for u in sorted(waiting[m], key=lambda u: (sign * self._offline(u), u)):
                if self._ready(action, u, m) and batch.add(action, self._containers(action, u, m), m, self.units.target[u]):
                    done.append((u, m))
                    break
        for u, m in done:
            waiting[m].remove(u)
            if not waiting[m]:
                del waiting[m]
            self._changed(action, u, m)
        if done:
            self.ledger.end_batch()
            self.batches.append(batch.closed())

    def _offline(self, u: int) -> float:
        """The highest offline ratio of its workloads, with what this batch does."""
        migration, ratios = self.ledger.migration, []
        for c in self.units.members[u]:
            w = self.ledger.workload[c]
            ratios.append(1.0 - self.ledger.alive[w] / max(1, int(migration.cluster.replicas[w])))
        return max(ratios)

    def _ready(self, action: Action, u: int, m: int) -> bool:
        """Has it come to this step of its way?"""
        if action is Action.DELETE:
            may_go_down = self.units.target[u] == NOWHERE or (self.units.may_replace[u] and not self.units.may_surge[u])
            return self.old.get(u) == m or (self.at[u] == m and u not in self.old and may_go_down)
        return self.at[u] == NOWHERE or (u not in self.old and self.units.may_surge[u])

    def _containers(self, action: Action, u: int, m: int) -> list[int]:
        ledger = self.ledger
        if action is Action.DELETE:
            return [c for c in self.units.members[u] if m in (ledger.first[c], ledger.second[c])]
        return [c for c in self.units.members[u] if not ledger.ends[c]]

    def _changed(self, action: Action, u: int, m: int) -> None:
        if action is Action.CREATE:
            if self.at[u] != NOWHERE:
                self.old[u] = self.at[u]
            self.at[u] = m
        elif self.old.pop(u, NOWHERE) == NOWHERE:
            self.at[u] = NOWHERE

    def go_home(self) -> None:
        """Nobody stays down if its old machine still has room: one last batch."""
        batch = Batch(self.ledger, self.ledger.migration.terms.limits)
        for u, m in enumerate(self.at):
            if m == NOWHERE != self.home[u] and self.units.target[u] != NOWHERE:
                batch.add(Action.CREATE, self._containers(Action.CREATE, u, m), self.home[u])
        if batch.steps:
            self.ledger.end_batch()
            self.batches.append(batch.closed())
