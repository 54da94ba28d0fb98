"""Rounds: as many units as possible change places at once.

A round deletes a set of units, creates them on their targets, and lets others surge there beside them. The target of all is
valid, so the set of all pending units would fit together at the end; the alive shares let only some of them be down at a time.
So a round starts from as many as may be down, and gives up units whose target would be too full with the others, each of
which may make another target too full, until nothing is. What is left fits together, cycles and swaps included.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from bayplan.migrate.course import Course
from bayplan.migrate.ledger import NOWHERE
from bayplan.model import IntArray


class Round:
    """The units that change places together, while they are chosen."""

    def __init__(self, course: Course, order: Sequence[int]) -> None:
        self.course, self.ledger = course, course.ledger
        self.rank = {u: n for n, u in enumerate(order)}
        self.after = self.ledger.high.copy()  # (machine, resource) when all of them have been created
        self.count: dict[tuple[int, int], int] = {}  # (anti-affinity rule, group) -> containers then
        self.incoming: dict[int, list[int]] = defaultdict(list)  # machine -> chosen units that come
        self.chosen: dict[int, bool] = {}  # unit -> is it deleted first?
        self.quota: dict[int, int] = {}  # workload -> containers that may go down
        self.blocked: set[int] = set()  # machines that may be too full

    def choose(self, order: Iterable[int]) -> None:
        """Take what fits together of the pending units, in order of their importance."""
        waiting = list(order)
        for u in waiting:
            if self._may_go(u):
                self._add(u)
        self._give_way()
        for u in waiting:
            if u not in self.chosen and self._fits(u) and self._may_go(u):
                self._add(u)

    def _may_go(self, u: int) -> bool:
        """May it leave its machine in this round? Its share of the workload that may be down is used up."""
        if self.course.at[u] == NOWHERE:
            self.chosen[u] = False
            return True
        units = self.course.units
        if units.may_replace[u]:
            members = [self.ledger.workload[c] for c in units.members[u]]
            for w in members:
                if w not in self.quota:
                    self.quota[w] = self.ledger.alive[w] - self.ledger.least[w]
            if all(self.quota[w] >= members.count(w) for w in members):
                for w in members:
                    self.quota[w] -= 1
                self.chosen[u] = True
                return True
        if units.may_surge[u]:
            self.chosen[u] = False
            return True
        return False

    def _add(self, u: int) -> None:
        target = self.course.units.target[u]
        self._change(u, target, 1)
        if self.chosen[u]:
            self._change(u, self.course.at[u], -1)
        self.incoming[target].append(u)
        self.blocked.add(target)

    def _drop(self, u: int) -> None:
        target = self.course.units.target[u]
        self._change(u, target, -1)
        if self.chosen.pop(u):
            self._change(u, self.course.at[u], 1)
            self.blocked.add(self.course.at[u])
            for c in self.course.units.members[u]:
                self.quota[self.ledger.workload[c]] += 1
        self.incoming[target].remove(u)

    def _change(self, u: int, m: int, by: int) -> None:
        for c in self.course.units.members[u]:
            w = self.ledger.workload[c]
            amount = self.ledger.request[w]
            if by == -1 and m != self.course.units.target[u]:
                amount = self._given_back(amount)
            self.after[m] += by * amount
            for most in self.ledger.rows.most.get(w, ()):
                key = (id(most), most.row.group_of[m])
                self.count[key] = self.count.get(key, most.row.high.get(key[1], 0)) + by

    def _given_back(self, amount: IntArray) -> IntArray:
        """Transient resources stay charged until the round is over."""
        if not len(self.ledger.joint) and not len(self.ledger.sequential):
            return amount
        amount = amount.copy()
        amount[self.ledger.joint] = 0
        amount[self.ledger.sequential] = 0
        return amount

    def _fits(self, u: int) -> bool:
        """Would it fit beside all that are chosen?"""
        m, amount = self.course.units.target[u], np.zeros(self.after.shape[1], dtype=np.int64)
        for c in self.course.units.members[u]:
            w = self.ledger.workload[c]
            amount += self.ledger.request[w]
            for most in self.ledger.rows.most.get(w, ()):
                g = most.row.group_of[m]
                if self.count.get((id(most), g), most.row.high.get(g, 0)) >= max(most.limit, most.worse.get(g, 0)):
                    return False
        return bool((amount <= self.ledger.limit[m] - self.after[m]).all())

    def _give_way(self) -> None:
        """Drop units until no target is too full."""
        while self.blocked:
            m = self.blocked.pop()
            for u in sorted(self.incoming[m], key=self.rank.__getitem__, reverse=True):
                over = self.after[m] > self.ledger.limit[m]
                crowd = self._crowded(u, m)
                if not over.any() and not crowd:
                    continue
                request = self.ledger.request[[self.ledger.workload[c] for c in self.course.units.members[u]]]
                if crowd or (request.sum(axis=0)[over] > 0).any():
                    self._drop(u)

    def _crowded(self, u: int, m: int) -> bool:
        """Are there more of a kind in the group than an anti-affinity rule lets?"""
        for c in self.course.units.members[u]:
            for most in self.ledger.rows.most.get(self.ledger.workload[c], ()):
                g = most.row.group_of[m]
                if self.count.get((id(most), g), 0) > max(most.limit, most.worse.get(g, 0)):
                    return True
        return False


def make_round(course: Course, order: Sequence[int]) -> int:
    """Carry out one round over the pending units; how many arrived. Some may be left down, for the next round."""
    some = Round(course, order)
    some.choose(order)
    chosen = [u for u in order if u in some.chosen]
    lifted = {u for u in chosen if some.chosen[u] and course.take(u, course.at[u])}
    surging, arrived = [], 0
    for u in chosen:
        if some.chosen[u] and u not in lifted:
            continue
        up, target = course.at[u], course.units.target[u]
        if course.put(u, target):
            arrived += 1
            if up != NOWHERE:
                surging.append((u, up))
    for u, old in surging:
        if not course.take(u, old):
            arrived -= 1
    return arrived


def end_what_ends(course: Course) -> None:
    """Delete what shall run no more, and the second instance of what runs twice, as far as that is safe."""
    for u in list(course.also):
        old = course.at[u] if course.also[u] == course.units.target[u] else course.also[u]
        course.take(u, old)
    for u in sorted(course.pending):
        if course.units.target[u] == NOWHERE and course.at[u] != NOWHERE:
            course.take(u, course.at[u])
