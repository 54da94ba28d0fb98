"""A part of the way: of a target that takes more moves than may be made at once, those that gain most by themselves.

Searches that may make few moves only end where no few moves help, far from what many moves in several plans reach. So the target
is decided on as if all moves could be made, and one machine after the other is brought to its state in the target.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayplan.api.planning.target import Members, best_target, needs_repair, rank, renamed
from bayplan.check import check
from bayplan.model import Budget, Cluster, FloatArray, Placement, Progress, Term, ints, silent
from bayplan.model.problem import Problem
from bayplan.model.rules import AntiAffinity
from bayplan.score.counts import loads, service_counts, workload_counts
from bayplan.score.gmrp import moves
from bayplan.score.goal.move_gains import move_gains

REPAIRING = 0.5  # of the time, for what is urgent
PASSES = 20


class TargetInParts(NamedTuple):
    """A target of few moves, and where all moves would lead if it is a part of the way."""

    placement: Placement
    whole: Placement | None = None


def target_in_parts(
    problem: Problem,
    at_once: int,
    *,
    budget: Budget,
    seed: int,
    progress: Progress = silent,
    search: Callable[..., Placement] = best_target,
) -> TargetInParts:
    """The best part of at most `at_once` moves of the way to the best target that the searches find.

    What is urgent comes first: where violated rules, hot machines or containers without a machine can be helped by as few moves,
    these are made. The same holds where no part of the way is free of new violations. `search` decides on targets.
    """
    few = replace(problem, max_moves=at_once if problem.max_moves is None else min(at_once, problem.max_moves))
    clock = budget.clock()
    if needs_repair(problem):
        target = search(few, budget=budget.share(REPAIRING), seed=seed, progress=progress)
        if rank(problem, target)[:-1] < rank(problem, problem.before)[:-1]:
            return TargetInParts(target)
    rest = budget if budget.seconds is None else replace(budget, seconds=clock.left())
    whole = search(problem, budget=rest, seed=seed, progress=progress)
    if moves(problem.cluster, renamed(problem, whole), problem.before) <= at_once:
        return TargetInParts(whole)
    part = part_of_the_way(problem, whole, at_once)
    if part is None:
        return TargetInParts(search(few, budget=budget.share(REPAIRING), seed=seed, progress=progress))
    return TargetInParts(part, whole)


def part_of_the_way(problem: Problem, target: Placement, limit: int) -> Placement | None:
    """At most `limit` moves of those to a target; None if a rule would be violated that holds now, or if nothing can move.

    Machines come in the order of what is gained on them for each move. Where one is too full for a container, others that
    leave it in the target go first.
    """
    target = renamed(problem, target)
    under_way = MovesUnderWay(problem.cluster, problem.before, target)
    make_moves(under_way, _by_machine(problem, target), limit)
    reached = under_way.placement
    known = {violation.place: violation.excess for violation in check(problem.cluster, problem.before)}
    after = check(problem.cluster, reached, problem.before)
    if not under_way.made or any(violation.excess > known.get(violation.place, 0.0) for violation in after):
        return None
    return reached


def _by_machine(problem: Problem, target: Placement) -> list[Members]:
    """The moves, those to the machine that gains most for each of them first."""
    gains = move_gains(problem.cluster, problem.before, target, problem.objective)
    net = {move.members: move.net(problem.objective) for move in gains}
    to = {members: int(target.machine_of[members[0]]) for members in net}
    arriving = np.zeros(len(problem.cluster.machines.name))
    for members, m in to.items():
        arriving[m] += len(members)
    gain = _together(problem, target) - _together(problem, problem.before)
    worth = gain / np.maximum(1, arriving)
    return sorted(net, key=lambda members: (-worth[to[members]], to[members], -net[members], members))


def _together(problem: Problem, placement: Placement) -> FloatArray:
    """(machine,) what is gained there: traffic between workloads, and between the containers of services, by its weight."""
    cluster, weight, traffic = problem.cluster, problem.objective.weight, problem.cluster.traffic
    counts: Any = workload_counts(cluster, placement)
    share = counts.multiply(1.0 / np.maximum(1, cluster.replicas)[:, None]).tocsr()
    between = traffic.weight @ share[traffic.a].minimum(share[traffic.b]) / max(float(traffic.weight.sum()), 1e-300)
    count: Any = service_counts(cluster, placement)
    within = cluster.services.clique @ (count.multiply(count) - count) / 2
    return np.asarray(weight.get(Term.AFFINITY, 0.0) * between + weight.get(Term.COMMUNICATION, 0.0) * within, dtype=np.float64)


def make_moves(under_way: "MovesUnderWay", order: Sequence[Members], limit: int) -> None:
    """Make moves in this order, again and again as long as there is room for further ones."""
    for _ in range(PASSES):
        made = under_way.made
        for members in order:
            if under_way.made >= limit:
                return
            if not under_way.at_target(members):
                under_way.move_with_room(members, limit - under_way.made)
        if under_way.made == made:
            return


class MovesUnderWay:
    """A placement on its way to another. Knows capacity and anti-affinity on machines; every machine is taken to be allowed."""

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
        for c in before.placed.tolist():
            self._count(c, int(self.machine_of[c]), 1)

    @property
    def placement(self) -> Placement:
        """Where everything stands now."""
        return Placement(machine_of=ints(self.machine_of))

    def at_target(self, members: Members) -> bool:
        """Have these containers arrived?"""
        return bool(self.machine_of[members[0]] == self.target[members[0]])

    def move_with_room(self, members: Members, most: int) -> None:
        """Move containers, after others that make room, if that takes at most as many moves; else nothing moves."""
        first: list[int] = []
        if not self._fit(members):
            for other in self._leaving(int(self.target[members[0]])):
                if len(first) + len(members) >= most or self._fit(members):
                    break
                if self._fit((other,)):
                    self._go(other, int(self.target[other]))
                    first.append(other)
        if self._fit(members) and len(first) + len(members) <= most:
            for c in members:
                self._go(c, int(self.target[c]))
            self.made += len(members) + len(first)
        else:
            for other in reversed(first):
                self._go(other, int(self.home[other]))

    def _leaving(self, m: int) -> Iterator[int]:
        """Containers that leave a machine in the target, the largest first."""
        here = np.flatnonzero((self.machine_of == m) & (self.target != m) & (self.target >= 0))
        return iter(here[np.argsort(-self.request[here, 0], kind="stable")].tolist())

    def _fit(self, members: Members) -> bool:
        m, chosen = int(self.target[members[0]]), list(members)
        if not (self.free[m] >= self.request[chosen].sum(axis=0)).all():
            return False
        added: dict[int, int] = {}
        for c in chosen:
            for n in self.rules_of.get(int(self.workload[c]), ()):
                added[n] = added.get(n, 0) + 1
        return all(self.count[n, m] + more <= self.rules[n].limit for n, more in added.items())

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
