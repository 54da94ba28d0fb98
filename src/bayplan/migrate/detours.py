"""Detours: bring one unit to its target by making room there, with as few extra steps as possible.

Whatever stands on the target may have to give way: best a unit that has to leave anyway and can go where it shall, then one that
may be down for a while, then one whose own target can be cleared, then by a stopover on a third machine. A unit that
is settled already is disturbed last; it comes back. All steps of an attempt that fails are taken back.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayplan.migrate.course import Course
from bayplan.migrate.ledger import NOWHERE

MOST_VICTIMS = 12  # units that give way on one machine
LOOKED_AT = 24  # units of a machine that are tried


@dataclass(slots=True)
class Detours:
    """A search for room; `rng` breaks ties."""

    course: Course
    rng: np.random.Generator
    stopovers: bool
    depth: int  # targets that are cleared one after the other for one unit
    patience: int  # tries for one unit
    tries: int = 0

    def bring(self, u: int) -> bool:
        """Bring a unit to its target; nothing has changed if that fails."""
        self.tries = 0
        return self._bring(u, self.depth, frozenset())

    def _bring(self, u: int, depth: int, busy: frozenset[int]) -> bool:
        target = self.course.units.target[u]
        if self.course.move(u, target):
            return True
        mark = len(self.course.ops)
        for _ in range(MOST_VICTIMS):
            if self.tries >= self.patience or not self._clear_one(u, target, depth, busy | {u}):
                break
            if self.course.move(u, target):
                return True
        self.course.back_to(mark)
        return False

    def _clear_one(self, u: int, m: int, depth: int, busy: frozenset[int]) -> bool:
        """Make one unit give way that helps."""
        victims = list(self._victims(u, m, busy))
        for way_out in (self._go_on, self._go_down, self._push_on, self._step_aside):
            for v in victims:
                self.tries += 1
                if self.tries >= self.patience:
                    return False
                if way_out(v, depth, busy):
                    return True
        return False

    def _victims(self, u: int, m: int, busy: frozenset[int]) -> Iterator[int]:
        """Units on the machine whose leaving helps: first those that leave anyway, of these the smallest that suffices."""
        course, ledger, units = self.course, self.course.ledger, self.course.units
        short = np.maximum.reduce([ledger.shortage(c, m) for c in units.members[u]])
        lacking = short > 0
        ranked = []
        for v in course.on[m]:
            if units.fixed[v] or v in busy or v in course.also:
                continue
            size = ledger.request[[ledger.workload[c] for c in units.members[v]]].sum(axis=0)
            if lacking.any() and not (size[lacking] > 0).any():
                continue
            share = float((size[lacking] / short[lacking]).min()) if lacking.any() else 1.0
            rank = (v not in course.pending, share < 1.0, share if share >= 1.0 else -share, self.rng.random())
            ranked.append((rank, v))
        return (v for _, v in sorted(ranked)[:LOOKED_AT])

    def _go_on(self, v: int, depth: int, busy: frozenset[int]) -> bool:
        """It has to leave, and can."""
        course = self.course
        target = course.units.target[v]
        if v not in course.pending:
            return False
        return course.take(v, course.at[v]) if target == NOWHERE else course.move(v, target)

    def _go_down(self, v: int, depth: int, busy: frozenset[int]) -> bool:
        """It may be down for a while; a settled one comes back to the same machine."""
        course = self.course
        if not course.units.may_replace[v] or (v not in course.pending and not self.stopovers):
            return False
        here = course.at[v]
        return course.take(v, here, course.units.target[v] if v in course.pending else here)

    def _push_on(self, v: int, depth: int, busy: frozenset[int]) -> bool:
        """It has to leave, and its target can be cleared."""
        return depth > 0 and v in self.course.pending and self._bring(v, depth - 1, busy)

    def _step_aside(self, v: int, depth: int, busy: frozenset[int]) -> bool:
        """A stopover on a third machine."""
        course = self.course
        if not self.stopovers:
            return False
        fits = course.ledger.rooms(course.units.members[v][0])
        fits[course.at[v]] = False
        return any(course.move(v, m) for m in self.rng.permutation(np.flatnonzero(fits)).tolist()[:LOOKED_AT])
