"""One way through a migration: rounds, then detours for what rounds cannot move, then all orders of a handful."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from bayplan.migrate.answer import Draft
from bayplan.migrate.batches import batched
from bayplan.migrate.bound import least_batches
from bayplan.migrate.course import Course
from bayplan.migrate.detours import Detours
from bayplan.migrate.exact import FEW, Orders
from bayplan.migrate.ledger import NOWHERE, Ledger
from bayplan.migrate.options import MigrateOptions
from bayplan.migrate.rounds import end_what_ends, make_round
from bayplan.migrate.stuck import stuck
from bayplan.migrate.units import units_of
from bayplan.model import Clock, Migration, Progress, Tick


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How one attempt goes about it."""

    surge_first: bool = True  # are units that surge the first to get room?
    generous: bool = False  # may any unit surge whose way is AUTO?
    strict: bool = True  # is spread kept even where a container that is down would excuse it?
    depth: int = 4  # targets that one detour clears one after the other
    patience: int = 400  # tries of one detour


class Attempt:
    """The course of one attempt."""

    def __init__(
        self, migration: Migration, options: MigrateOptions, style: Style, rng: np.random.Generator, clock: Clock
    ) -> None:
        self.migration, self.options, self.style, self.rng, self.clock = migration, options, style, rng, clock
        self.units = units_of(migration, options, generous=style.generous)
        self.course = Course(self._ledger(), self.units)
        self.home = list(self.course.at)
        self.all = self._waiting()
        self.safe = (0, 0)  # units that have arrived, steps: the best state in which nobody is on the way

    def run(self, progress: Progress) -> Draft:
        """Plan as far as it goes."""
        bound = least_batches(self.course)
        self._follow(progress)
        self._land()
        if self._waiting():
            self._try_all_orders()
        return Draft(plan=batched(self._ledger(), self.course.ops), reasons=stuck(self.course), bound=bound)

    def _ledger(self) -> Ledger:
        ledger = Ledger(self.migration)
        ledger.strict = self.style.strict
        return ledger

    def _waiting(self) -> int:
        """Units that are not where they shall be."""
        return sum(map(self.course.pending, range(len(self.units))))

    def _follow(self, progress: Progress) -> None:
        """Rounds and detours in turn, until all have arrived or nothing changes."""
        left = self._waiting() + 1
        while 0 < self._waiting() < left and not self.clock.expired():
            left = self._waiting()
            end_what_ends(self.course)
            while not self.clock.expired() and make_round(self.course, self._by_importance()):
                self._note(progress)
            self._detours(progress)

    def _by_importance(self) -> list[int]:
        """Pending units that shall run: light ones first, then those that are down, then those that hold up the others most."""
        course, units, ledger = self.course, self.units, self.course.ledger
        pending = [u for u in range(len(units)) if units.target[u] != NOWHERE and course.pending(u) and u not in course.also]
        left = Counter(ledger.workload[c] for u in pending for c in units.members[u])
        jitter = self.rng.random(len(units))

        def rank(u: int) -> tuple[float, ...]:
            some = [ledger.workload[c] for c in units.members[u]]
            may_be_down = min(max(0, ledger.alive[w] - ledger.least[w]) for w in some)
            surges = may_be_down == 0 or not units.may_replace[u]
            urgency = max(left[w] for w in some) / max(1, may_be_down)
            return (units.weight[u], course.at[u] != NOWHERE, surges != self.style.surge_first, -urgency, float(jitter[u]))

        return sorted(pending, key=rank)

    def _detours(self, progress: Progress) -> None:
        """One try for every pending unit."""
        detours = Detours(
            self.course, self.rng, stopovers=self.options.stopovers, depth=self.style.depth, patience=self.style.patience
        )
        for u in self._by_importance():
            if self.clock.expired():
                break
            if self.course.pending(u) and detours.bring(u):
                self._note(progress)

    def _land(self) -> None:
        """Nobody stays on the way: what is down or on a stopover arrives or goes home, or all since then is taken back."""
        course = self.course
        for u in [u for u in self._by_importance() if course.at[u] != self.home[u]]:
            if not course.move(u, self.units.target[u]) and self.home[u] != NOWHERE:
                course.move(u, self.home[u])
        if self._on_the_way():
            course.back_to(self.safe[1])

    def _on_the_way(self) -> bool:
        """Is anything down that was up and shall be, or does anything run twice?"""
        at, target = self.course.at, self.units.target
        return bool(self.course.also) or any(m == NOWHERE != self.home[u] and target[u] != NOWHERE for u, m in enumerate(at))

    def _note(self, progress: Progress) -> None:
        """Remember this state if nobody is on the way and more units have arrived than ever."""
        arrived = self.all - self._waiting()
        progress(Tick(stage="planning", done=max(0.0, arrived / max(1, self.all))))
        if arrived > self.safe[0] and not self._on_the_way():
            self.safe = (arrived, len(self.course.ops))

    def _try_all_orders(self) -> None:
        """All orders of the moves, if there are few."""
        fresh = Course(self._ledger(), self.units)
        some = [u for u in range(len(self.units)) if fresh.pending(u)]
        if len(some) > FEW:
            return
        orders = Orders(fresh, some)
        orders.search()
        if orders.arrived > self.all - self._waiting():
            fresh.back_to(0)
            fresh.redo(orders.best)
            self.course = fresh
