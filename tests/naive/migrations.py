"""Migrations as obvious loops: is a state on the way safe, and does any order of single steps lead to the target?

One item (a container, or all containers of a co-locate rule) makes one step at a time: its delete or its create, straight
to its target. Nothing here is shared with the planner or with the referee of plans.
"""

from collections.abc import Iterator
from enum import IntEnum
from functools import cached_property
from math import sqrt
from statistics import NormalDist

from bayplan.model import UNPLACED, Action, CoLocate, Migration, Pinned, Plan, Step, TransientMode, Way


class Stage(IntEnum):
    """How far an item has come."""

    HOME = 0
    DOWN = 1
    BOTH = 2
    THERE = 3


State = tuple[Stage, ...]
Counts = dict[tuple[object, ...], float]


class Naive:
    """One migration, whose containers run once each at the start."""

    def __init__(self, migration: Migration) -> None:
        assert (migration.start.second == UNPLACED).all(), "an item runs once at the start"
        self.migration, self.cluster = migration, migration.cluster
        self.home, self.goal = migration.start.machine_of.tolist(), migration.target.machine_of.tolist()
        self.workload = self.cluster.containers.workload.tolist()
        self.service = [int(self.cluster.workloads.service[w]) for w in self.workload]
        self.request = self.cluster.workloads.request.tolist()
        self.least = migration.least_alive.tolist()
        self.items = list(self._items())
        at_home = [m if m != UNPLACED else None for m in self.home]
        at_goal = [m if m != UNPLACED else None for m in self.goal]
        ends = [[(c, m) for c, m in enumerate(end) if m is not None] for end in (at_home, at_goal)]
        self.end_counts = [self.counts(pairs) for pairs in ends]
        self.end_spread = [self.groups_used(pairs) for pairs in ends]
        self.end_lonely = [self.lonely(pairs, pairs) for pairs in ends]

    def _items(self) -> Iterator[tuple[int, ...]]:
        """What moves together: the containers that do not run on their target."""
        moving = {c for c, (a, b) in enumerate(zip(self.home, self.goal, strict=True)) if a != b}
        for rule in self.cluster.rules:
            if isinstance(rule, CoLocate) and moving & set(rule.containers):
                yield tuple(c for c in rule.containers if c in moving)
                moving -= set(rule.containers)
        yield from ((c,) for c in sorted(moving))

    @cached_property
    def first(self) -> State:
        """Every container at home, or down if it has none."""
        return tuple(Stage.DOWN if self.home[item[0]] == UNPLACED else Stage.HOME for item in self.items)

    @property
    def last(self) -> State:
        """Every container on its target."""
        return (Stage.THERE,) * len(self.items)

    # ---- states ----

    def pairs(self, state: State) -> list[tuple[int, int]]:
        """Container and machine of everything that runs."""
        stage_of = {c: stage for item, stage in zip(self.items, state, strict=True) for c in item}
        here = []
        for c, (home, goal) in enumerate(zip(self.home, self.goal, strict=True)):
            stage = stage_of.get(c, Stage.HOME)
            if stage in (Stage.HOME, Stage.BOTH) and home != UNPLACED:
                here.append((c, home))
            if stage in (Stage.THERE, Stage.BOTH) and goal != UNPLACED:
                here.append((c, goal))
        return here

    def held(self, state: State, mode: TransientMode) -> list[tuple[int, int]]:
        """Container and machine of everything that is charged although it does not run there."""
        joint, held = mode is TransientMode.JOINT, []
        for item, stage in zip(self.items, state, strict=True):
            for c in item:
                is_down = stage is Stage.DOWN and self.goal[c] != UNPLACED
                if self.home[c] != UNPLACED and (is_down or (joint and stage in (Stage.DOWN, Stage.THERE))):
                    held.append((c, self.home[c]))
                if self.home[c] != UNPLACED and is_down and not joint:
                    held.append((c, self.goal[c]))
        return held

    def group(self, level: int, m: int) -> int:
        return int(self.cluster.levels[level].group_of[m])

    def counts(self, pairs: list[tuple[int, int]]) -> Counts:
        """What has an upper limit: (rule, place) -> amount."""
        counts: Counts = {}
        for number, rule in enumerate(self.cluster.rules):
            if rule.kind == "capacity":
                for c, m in pairs:
                    for r in rule.resources:
                        counts["capacity", m, r] = counts.get(("capacity", m, r), 0) + self.request[self.workload[c]][r]
            elif rule.kind == "anti-affinity":
                for c, m in pairs:
                    if self.workload[c] in rule.workloads:
                        place = (number, self.group(rule.level, m))
                        counts[place] = counts.get(place, 0) + 1
            elif rule.kind == "interference":
                with_a = {self.group(rule.level, m) for c, m in pairs if self.workload[c] == rule.a}
                for c, m in pairs:
                    if self.workload[c] == rule.b and self.group(rule.level, m) in with_a:
                        place = (number, self.group(rule.level, m))
                        counts[place] = counts.get(place, 0) + 1
            elif rule.kind == "confidence":
                counts.update({(number, m): need for m, need in self.needs(pairs, rule).items()})
            elif rule.kind == "allow":
                for c, m in pairs:
                    if self.workload[c] in rule.workloads and m not in self.cluster.machine_sets[rule.machines]:
                        counts[number, self.workload[c], m] = counts.get((number, self.workload[c], m), 0) + 1
        return counts

    def needs(self, pairs, rule) -> dict[int, float]:
        mean: dict[int, float] = {}
        variance: dict[int, float] = {}
        for c, m in pairs:
            mean[m] = mean.get(m, 0.0) + float(self.cluster.workloads.usage_mean[self.workload[c], rule.resource])
            variance[m] = variance.get(m, 0.0) + float(self.cluster.workloads.usage_std[self.workload[c], rule.resource]) ** 2
        return {m: mean[m] + NormalDist().inv_cdf(rule.alpha) * sqrt(variance[m]) for m in mean}

    def limit(self, place: tuple[object, ...]) -> float:
        """What a place may have; 0 where nothing may be."""
        if place[0] == "capacity":
            return float(self.cluster.machines.capacity[place[1], place[2]])
        rule = self.cluster.rules[place[0]]
        if rule.kind == "confidence":
            return float(self.cluster.machines.capacity[place[1], rule.resource]) * (1 + 1e-9)
        return float(rule.limit) if rule.kind in ("anti-affinity", "interference") else 0.0

    def groups_used(self, pairs: list[tuple[int, int]]) -> dict[int, int]:
        """Rule -> groups that its service uses."""
        return {
            number: len({self.group(rule.level, m) for c, m in pairs if self.service[c] == rule.service})
            for number, rule in enumerate(self.cluster.rules)
            if rule.kind == "spread"
        }

    def lonely(self, high: list[tuple[int, int]], low: list[tuple[int, int]]) -> Counts:
        """(rule, group) -> containers that miss what they depend on."""
        counts: Counts = {}
        for number, rule in enumerate(self.cluster.rules):
            if rule.kind == "dependency" and rule.service != rule.on:
                served = {self.group(rule.level, m) for c, m in low if self.service[c] == rule.on}
                for c, m in high:
                    place = (number, self.group(rule.level, m))
                    if self.service[c] == rule.service and place[1] not in served:
                        counts[place] = counts.get(place, 0) + 1
        return counts

    # ---- is it safe? ----

    def safe(self, before: State, after: State) -> bool:
        """May an item make this step, whatever part of it is done first?"""
        pairs = sorted([self.pairs(before), self.pairs(after)], key=len)
        low, high = pairs[0], pairs[1]
        if not all(self.accepted([pair for pair in high if pair != (c, m)], c, m) for c, m in {*self.pairs(after)} - {*low}):
            return False
        return self.not_too_much(high, after) and self.enough(low) and self.served(high, low)

    def accepted(self, running: list[tuple[int, int]], c: int, m: int) -> bool:
        """Would Kubernetes create the container there, by skew, while these run?"""
        for rule in self.cluster.rules:
            if rule.kind != "skew" or rule.workload != self.workload[c]:
                continue
            counted = rule.counted or (rule.workload,)
            machines = (
                self.cluster.machine_sets[rule.machines].tolist() if rule.machines else range(len(self.cluster.machines.name))
            )
            if m not in machines:
                continue
            count = {self.group(rule.level, at): 0 for at in machines}
            for k, at in running:
                if at in machines and self.workload[k] in counted:
                    count[self.group(rule.level, at)] += 1
            emptiest = min(count.values()) if len(count) >= rule.min_groups else 0
            if count[self.group(rule.level, m)] + (rule.workload in counted) - emptiest > rule.limit:
                return False
        return True

    def not_too_much(self, high: list[tuple[int, int]], state: State) -> bool:
        worst = [self.counts(high), *self.transient(high, state)]
        return all(
            amount <= max(self.limit(place), *(end.get(place, 0) for end in self.end_counts))
            for counted in worst
            for place, amount in counted.items()
        )

    def transient(self, high: list[tuple[int, int]], state: State) -> Iterator[Counts]:
        for rule in self.cluster.rules:
            if rule.kind != "transient":
                continue
            charged = {*high, *self.held(state, rule.mode)}
            counts: Counts = {}
            for c, m in charged:
                place = ("capacity", m, rule.resource)
                counts[place] = counts.get(place, 0) + self.request[self.workload[c]][rule.resource]
            ran = {}
            for c, m in enumerate(self.home):
                ran[m] = ran.get(m, 0) + self.request[self.workload[c]][rule.resource]
            yield {place: amount for place, amount in counts.items() if amount > ran.get(place[1], 0)}

    def enough(self, low: list[tuple[int, int]]) -> bool:
        running = {c for c, _ in low}
        alive = [0] * len(self.least)
        for c in running:
            alive[self.workload[c]] += 1
        if any(have < least for have, least in zip(alive, self.least, strict=True)):
            return False
        for number, used in self.groups_used(low).items():
            rule = self.cluster.rules[number]
            members = sum(self.service[c] == rule.service for c in running)
            if used < min(rule.minimum, members, *(end[number] for end in self.end_spread)):
                return False
        return True

    def served(self, high: list[tuple[int, int]], low: list[tuple[int, int]]) -> bool:
        return all(count <= max(end.get(place, 0) for end in self.end_lonely) for place, count in self.lonely(high, low).items())

    # ---- all orders ----

    def next(self, state: State) -> Iterator[State]:
        """States one safe step further."""
        for i, stage in enumerate(state):
            for then in self.steps_of(i, stage):
                after = (*state[:i], then, *state[i + 1 :])
                if self.safe(state, after):
                    yield after

    def steps_of(self, i: int, stage: Stage) -> tuple[Stage, ...]:
        item = self.items[i]
        if stage is Stage.THERE or any(self.home[c] != UNPLACED and self.pinned(c) for c in item):
            return ()
        ends = {self.home[item[0]] == UNPLACED, self.goal[item[0]] == UNPLACED}
        if stage is not Stage.HOME or True in ends:
            return (Stage.THERE,)
        ways = {self.migration.policy.way_of(self.workload[c]) for c in item}
        down = () if Way.SURGE in ways else (Stage.DOWN,)
        both = () if Way.REPLACE in ways else (Stage.BOTH,)
        return (*down, *both)

    def pinned(self, c: int) -> bool:
        return any(isinstance(rule, Pinned) and c in rule.containers for rule in self.cluster.rules)

    def batch(self, before: State, after: State) -> tuple[Step, ...]:
        """The steps between two states."""
        gone, came = set(self.pairs(before)) - set(self.pairs(after)), set(self.pairs(after)) - set(self.pairs(before))
        deletes = [Step(Action.DELETE, c, m) for c, m in sorted(gone)]
        return (*deletes, *(Step(Action.CREATE, c, m) for c, m in sorted(came)))


def complete_order(migration: Migration) -> Plan | None:
    """A plan that brings every container straight to its target, one step per batch; None if no order is safe. Exponential."""
    naive = Naive(migration)
    came_from: dict[State, State] = {}
    todo = [naive.first]
    while todo and naive.last not in came_from and naive.first != naive.last:
        state = todo.pop()
        for after in naive.next(state):
            if after not in came_from:
                came_from[after] = state
                todo.append(after)
    if naive.last not in came_from and naive.first != naive.last:
        return None
    batches, state = [], naive.last
    while state != naive.first:
        batches.append(naive.batch(came_from[state], state))
        state = came_from[state]
    return Plan(batches=tuple(reversed(batches)))


def most_arrivals(migration: Migration) -> int:
    """How many containers can arrive at most while no container that ran is left down or doubled. Exponential."""
    naive = Naive(migration)
    seen, todo = {naive.first}, [naive.first]
    while todo:
        for after in naive.next(todo.pop()):
            if after not in seen:
                seen.add(after)
                todo.append(after)
    rested = [state for state in seen if all(_rests(naive, i, stage) for i, stage in enumerate(state))]
    return max(sum(len(naive.items[i]) for i, stage in enumerate(state) if stage is Stage.THERE) for state in rested)


def _rests(naive: Naive, i: int, stage: Stage) -> bool:
    never_ran = naive.home[naive.items[i][0]] == UNPLACED
    return stage in (Stage.HOME, Stage.THERE) or (stage is Stage.DOWN and never_ran)


def first_unsafe(migration: Migration, plan: Plan) -> int | None:
    """The first batch that is not safe, of a plan in which one item makes one step per batch; None if all are."""
    naive = Naive(migration)
    item_of = {c: i for i, item in enumerate(naive.items) for c in item}
    state = naive.first
    for number, batch in enumerate(plan.batches):
        i, wanted = item_of[batch[0].container], set(batch)
        after = next((a for a in _all_next(naive, state, i) if set(naive.batch(state, a)) == wanted), None)
        if after is None or not naive.safe(state, after):
            return number
        state = after
    return None if state == naive.last else len(plan.batches)


def _all_next(naive: Naive, state: State, i: int) -> Iterator[State]:
    return ((*state[:i], then, *state[i + 1 :]) for then in naive.steps_of(i, state[i]))
