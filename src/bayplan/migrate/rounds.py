"""Rounds: as many units as possible move at once.

A round deletes a set of units, creates them on their targets, and surges others there beside them. The target of all is
valid, so the set of all pending units would fit together at the end; the alive shares allow only some of them to be down at
a time. So a round starts from as many as may be down, and drops units whose target would be too full with the others, each
of which may make another target too full, until none is. What is left fits together, cycles and swaps included.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from bayplan.migrate.step_sequence import StepSequence
from bayplan.model import UNPLACED, IntArray


class RoundSelection:
    """The units that move together, while they are chosen."""

    def __init__(self, sequence: StepSequence, order: Sequence[int]) -> None:
        self.sequence, self.state = sequence, sequence.state
        self.rank = {u: n for n, u in enumerate(order)}
        self.load = self.state.high.copy()  # (machine, resource) when all of them have been created
        self.count: dict[tuple[int, int], int] = {}  # (anti-affinity rule, group) -> containers by then
        self.incoming: dict[int, list[int]] = defaultdict(list)  # machine -> chosen units that come
        self.chosen: dict[int, bool] = {}  # unit -> is it deleted first?
        self.quota: dict[int, int] = {}  # workload -> containers that may go down
        self.blocked: set[int] = set()  # machines that may be too full

    def choose(self, order: Iterable[int]) -> None:
        """Choose pending units that fit together, in order of their importance."""
        pending = list(order)
        for u in pending:
            if self._may_go(u):
                self._add(u)
        self._drop_misfits()
        for u in pending:
            if u not in self.chosen and self._fits(u) and self._may_go(u):
                self._add(u)

    def _may_go(self, u: int) -> bool:
        """May it leave its machine in this round? If so, its part of what may be down of its workload is used up."""
        if self.sequence.at[u] == UNPLACED:
            self.chosen[u] = False
            return True
        units = self.sequence.units
        if units.may_replace[u]:
            members = [self.state.workload[c] for c in units.members[u]]
            for w in members:
                if w not in self.quota:
                    self.quota[w] = self.state.alive[w] - self.state.least[w]
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
        target = self.sequence.units.target[u]
        self._change(u, target, 1)
        if self.chosen[u]:
            self._change(u, self.sequence.at[u], -1)
        self.incoming[target].append(u)
        self.blocked.add(target)

    def _drop(self, u: int) -> None:
        target = self.sequence.units.target[u]
        self._change(u, target, -1)
        if self.chosen.pop(u):
            self._change(u, self.sequence.at[u], 1)
            self.blocked.add(self.sequence.at[u])
            for c in self.sequence.units.members[u]:
                self.quota[self.state.workload[c]] += 1
        self.incoming[target].remove(u)

    def _change(self, u: int, m: int, by: int) -> None:
        for c in self.sequence.units.members[u]:
            w = self.state.workload[c]
            amount = self.state.request[w]
            if by == -1 and m != self.sequence.units.target[u]:
                amount = self._freed(amount)
            self.load[m] += by * amount
            for at_most in self.state.rules.anti_affinity.get(w, ()):
                key = (id(at_most), at_most.counts.group_of[m])
                self.count[key] = self.count.get(key, at_most.counts.high.get(key[1], 0)) + by

    def _freed(self, amount: IntArray) -> IntArray:
        """Transient resources stay charged until the round is over."""
        if not len(self.state.joint) and not len(self.state.sequential):
            return amount
        amount = amount.copy()
        amount[self.state.joint] = 0
        amount[self.state.sequential] = 0
        return amount

    def _fits(self, u: int) -> bool:
        """Would it fit beside all that are chosen?"""
        m, amount = self.sequence.units.target[u], np.zeros(self.load.shape[1], dtype=np.int64)
        for c in self.sequence.units.members[u]:
            w = self.state.workload[c]
            amount += self.state.request[w]
            for at_most in self.state.rules.anti_affinity.get(w, ()):
                g, limit = at_most.counts.group_of[m], at_most.limit
                if self.count.get((id(at_most), g), at_most.counts.high.get(g, 0)) >= max(limit, at_most.worse.get(g, 0)):
                    return False
        return bool((amount <= self.state.limit[m] - self.load[m]).all())

    def _drop_misfits(self) -> None:
        """Drop units until no target is too full."""
        while self.blocked:
            m = self.blocked.pop()
            for u in sorted(self.incoming[m], key=self.rank.__getitem__, reverse=True):
                over = self.load[m] > self.state.limit[m]
                crowded = self._crowded(u, m)
                if not over.any() and not crowded:
                    continue
                request = self.state.request[[self.state.workload[c] for c in self.sequence.units.members[u]]]
                if crowded or (request.sum(axis=0)[over] > 0).any():
                    self._drop(u)

    def _crowded(self, u: int, m: int) -> bool:
        """Are there more containers in the group than an anti-affinity rule allows?"""
        for c in self.sequence.units.members[u]:
            for at_most in self.state.rules.anti_affinity.get(self.state.workload[c], ()):
                g = at_most.counts.group_of[m]
                if self.count.get((id(at_most), g), 0) > max(at_most.limit, at_most.worse.get(g, 0)):
                    return True
        return False


def make_round(sequence: StepSequence, order: Sequence[int]) -> int:
    """Carry out one round over the pending units; how many arrived. Some may be left down, for the next round."""
    selection = RoundSelection(sequence, order)
    selection.choose(order)
    chosen = [u for u in order if u in selection.chosen]
    deleted = {u for u in chosen if selection.chosen[u] and sequence.delete(u, sequence.at[u])}
    surging, arrived = [], 0
    for u in chosen:
        if selection.chosen[u] and u not in deleted:
            continue
        before, target = sequence.at[u], sequence.units.target[u]
        if sequence.create(u, target):
            arrived += 1
            if before != UNPLACED:
                surging.append((u, before))
    for u, old in surging:
        if not sequence.delete(u, old):
            arrived -= 1
    return arrived


def delete_surplus(sequence: StepSequence) -> None:
    """Delete units that are not in the target, and the second instance of those that run twice, as far as that is safe."""
    for u in list(sequence.second):
        old = sequence.at[u] if sequence.second[u] == sequence.units.target[u] else sequence.second[u]
        sequence.delete(u, old)
    for u in sorted(sequence.pending):
        if sequence.units.target[u] == UNPLACED and sequence.at[u] != UNPLACED:
            sequence.delete(u, sequence.at[u])
