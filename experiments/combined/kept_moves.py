"""What is left of an answer if only some of its moves are made: for methods that know no limit of moves."""

from collections.abc import Iterator

import numpy as np

from bayplan.model import Cluster, Objective, Placement, ints
from bayplan.model.rules import AntiAffinity
from bayplan.score.counts import loads
from bayplan.score.goal.move_gains import move_gains

PASSES = 20


def best_moves(cluster: Cluster, before: Placement, after: Placement, objective: Objective, limit: int) -> Placement:
    """At most `limit` moves of an answer, those first without which it would lose most; no rule is violated for it.

    Where a machine is too full for a container, others that leave it in the answer go before, if there is room where they go.
    Knows capacity and anti-affinity on machines; every machine of the answer is taken to be allowed.
    """
    gains = {move.members[0]: move.net(objective) for move in move_gains(cluster, before, after, objective)}
    order = sorted(gains, key=lambda c: (-gains[c], c))
    state = _Moves(cluster, before, after)
    for _ in range(PASSES):
        made = state.made
        for c in order:
            if state.made >= limit:
                return state.placement
            if not state.at_target(c):
                state.move_with_room(c, limit - state.made)
        if state.made == made:
            break
    return state.placement


class _Moves:
    """A placement on its way to another."""

    def __init__(self, cluster: Cluster, before: Placement, after: Placement) -> None:
        self.home, self.target, self.made = before.machine_of, after.machine_of, 0
        self.machine_of = before.machine_of.copy()
        self.workload = cluster.containers.workload
        self.request = cluster.request_of(ints(np.arange(len(self.workload))))
        self.free = cluster.machines.capacity - loads(cluster, before)
        self.rules = [rule for rule in cluster.rules if isinstance(rule, AntiAffinity) and rule.level == 0]
        self.rules_of: dict[int, list[int]] = {}
        for number, rule in enumerate(self.rules):
            for w in rule.workloads:
                self.rules_of.setdefault(w, []).append(number)
        self.count = np.zeros((len(self.rules), len(cluster.machines.name)), dtype=np.int64)
        for c, m in enumerate(self.machine_of.tolist()):
            self._count(c, m, 1)

    @property
    def placement(self) -> Placement:
        """Where everything stands now."""
        return Placement(machine_of=ints(self.machine_of))

    def at_target(self, c: int) -> bool:
        """Has a container arrived?"""
        return bool(self.machine_of[c] == self.target[c])

    def move_with_room(self, c: int, most: int) -> None:
        """Move a container, after others that make room for it, if that takes at most so many moves; else nothing moves."""
        first: list[int] = []
        if not self._fits(c):
            for other in self._leaving(int(self.target[c])):
                if len(first) + 1 >= most or self._fits(c):
                    break
                if self._fits(other):
                    self._go(other, int(self.target[other]))
                    first.append(other)
        if self._fits(c) and len(first) < most:
            self._go(c, int(self.target[c]))
            self.made += 1 + len(first)
        else:
            for other in reversed(first):
                self._go(other, int(self.home[other]))

    def _leaving(self, m: int) -> Iterator[int]:
        """Containers that leave a machine in the answer, the largest first."""
        here = np.flatnonzero((self.machine_of == m) & (self.target != m))
        return iter(here[np.argsort(-self.request[here, 0], kind="stable")].tolist())

    def _fits(self, c: int) -> bool:
        m, w = int(self.target[c]), int(self.workload[c])
        room = bool((self.free[m] >= self.request[c]).all())
        return room and all(self.count[n, m] < self.rules[n].limit for n in self.rules_of.get(w, ()))

    def _go(self, c: int, m: int) -> None:
        old = int(self.machine_of[c])
        self.free[old] += self.request[c]
        self.free[m] -= self.request[c]
        self._count(c, old, -1)
        self._count(c, m, 1)
        self.machine_of[c] = m

    def _count(self, c: int, m: int, by: int) -> None:
        for n in self.rules_of.get(int(self.workload[c]), ()):
            self.count[n, m] += by
