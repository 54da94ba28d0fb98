"""One way through a migration: rounds, then detours for what rounds cannot move, then all orders of a handful."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

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
from bayplan.model import Migration, Progress, Tick


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
        self, migration: Migration, options: MigrateOptions, style: Style, rng: np.random.Generator, over: Callable[[], bool]
    ) -> None:
        self.migration, self.options, self.style, self.rng, self.over = migration, options, style, rng, over
        self.units = units_of(migration, options, generous=style.generous)
        self.course = Course(self._ledger(), self.units)
        self.home = list(self.course.at)
        self.all = len(self.course.pending)
        self.safe = (0, 0)  # units that have arrived, steps: the best state in which nobody is on the way
        self.cuts: list[int] = []  # steps after which heavier units may move, too
        self.heaviest = 0.0  # units that may move now

    def run(self, progress: Progress) -> Draft:
        """Plan as far as it goes."""
        bound = least_batches(self.course)
        for weight in sorted({self.units.weight[u] for u in self.course.pending}):  # heavier ones later
            self.cuts.append(len(self.course.ops))
            self.heaviest = weight
            self._follow(progress)
        self._land()
        if self.course.pending:
            self._try_all_orders()
        ledger, ops, cuts = self._ledger(), self.course.ops, [*self.cuts, len(self.course.ops)]
        plan = batched(ledger, [ops[first:last] for first, last in pairwise(cuts)])
        return Draft(plan=plan, left_out=stuck(Course(ledger, self.units)), bound=bound)

    def _ledger(self) -> Ledger:
        ledger = Ledger(self.migration)
        ledger.strict = self.style.strict
        return ledger

    def _follow(self, progress: Progress) -> None:
        """Rounds and detours in turn, until all have arrived or nothing changes."""
        left = len(self.course.pending) + 1
        while 0 < len(self.course.pending) < left and not self.over():
            left = len(self.course.pending)
            end_what_ends(self.course)
            while not self.over() and make_round(self.course, self._by_importance()):
                self._note(progress)
            self._detours(progress)

    def _by_importance(self) -> list[int]:
        """Pending units that shall run: light ones first, then those that are down, then those that hold up the others most."""
        course, units, ledger = self.course, self.units, self.course.ledger
        pending = [u for u in sorted(course.pending) if units.target[u] != NOWHERE and u not in course.also]
        pending = [u for u in pending if units.weight[u] <= self.heaviest]
        left = Counter(ledger.workload[c] for u in pending for c in units.members[u])
        jitter = dict(zip(pending, self.rng.random(len(pending)).tolist(), strict=True))

        def rounds(u: int) -> float:
            """How many its workload needs at least."""
            return max(
                left[w] / max(1, ledger.alive[w] - ledger.least[w]) for w in map(ledger.workload.__getitem__, units.members[u])
            )

        need = {u: 1.0 if self._surges(u) else rounds(u) for u in pending}
        most = max(need.values(), default=0.0)

        def rank(u: int) -> tuple[float, ...]:
            late = need[u] < most  # nothing is lost if it waits
            return (
                units.weight[u],
                course.at[u] != NOWHERE,
                late,
                self._surges(u) != self.style.surge_first,
                -need[u],
                jitter[u],
            )

        return sorted(pending, key=rank)

    def _surges(self, u: int) -> bool:
        """Can it only go by a surge?"""
        ledger = self.course.ledger
        some = [ledger.workload[c] for c in self.units.members[u]]
        return not self.units.may_replace[u] or min(ledger.alive[w] - ledger.least[w] for w in some) <= 0

    def _detours(self, progress: Progress) -> None:
        """One try for every pending unit."""
        detours = Detours(
            self.course, self.rng, stopovers=self.options.stopovers, depth=self.style.depth, patience=self.style.patience
        )
        for u in self._by_importance():
            if self.over():
                break
            if u in self.course.pending and detours.bring(u):
                self._note(progress)

    def _land(self) -> None:
        """Nobody stays on the way: what is down or on a stopover arrives or goes home, or all since then is taken back."""
        course = self.course
        for u in [u for u in self._by_importance() if course.at[u] != self.home[u]]:
            if not course.move(u, self.units.target[u]) and self.home[u] != NOWHERE:
                course.move(u, self.home[u])
        if self._on_the_way():
            course.back_to(self.safe[1])
        self.cuts = [min(cut, len(course.ops)) for cut in self.cuts]

    def _on_the_way(self) -> bool:
        """Is anything down that was up and shall be, or does anything run twice?"""
        at, target = self.course.at, self.units.target
        down = (u for u in self.course.pending if at[u] == NOWHERE != self.home[u] and target[u] != NOWHERE)
        return bool(self.course.also) or next(down, None) is not None

    def _note(self, progress: Progress) -> None:
        """Remember this state if nobody is on the way and more units have arrived than ever."""
        arrived = self.all - len(self.course.pending)
        progress(Tick(stage="planning", done=max(0.0, arrived / max(1, self.all))))
        if arrived > self.safe[0] and not self._on_the_way():
            self.safe = (arrived, len(self.course.ops))

    def _try_all_orders(self) -> None:
        """All orders of the moves, if there are few."""
        fresh = Course(self._ledger(), self.units)
        some = sorted(fresh.pending)
        if len(some) > FEW:
            return
        orders = Orders(fresh, some)
        orders.search()
        if orders.arrived > self.all - len(self.course.pending):
            fresh.back_to(0)
            fresh.redo(orders.best)
            self.course, self.cuts = fresh, [0]
