"""A migration plan watched at every instant: the steps of a batch are made in every order, one by one.

Nothing here is shared with the planner or with the referee of plans. What must hold at an instant is what `Migration` states:
no upper limit is exceeded further than at the worse of both ends, enough containers of each workload run, spread and
dependencies hold as far as they do at both ends, ways and limits of steps are kept, pinned containers stay;
and skew allows each create when it is made.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from tests.naive.migrations import Naive

from bayplan.model import UNPLACED, Action, Migration, Pinned, Plan, Step, TransientMode, Way

MOST_STEPS = 7  # of a batch in every order; of a larger one, sets of at most two steps done, or at most two not done

Pairs = frozenset[tuple[int, int]]  # container and machine of everything that runs


def faults_on_the_way(migration: Migration, plan: Plan) -> Iterator[str]:
    """What is violated on the way, at which batch."""
    watch = PlanWatch(migration)
    running = watch.first
    for number, batch in enumerate(plan.batches):
        for fault in watch.batch_faults(running, batch):
            yield f"batch {number + 1}: {fault}"
        for done in _subsets(batch):
            for fault in (
                *watch.instant_faults(_after(running, done)),
                *watch.refused(_after(running, done), {*batch} - {*done}),
            ):
                yield f"batch {number + 1}, after {len(done)} of its {len(batch)} steps: {fault}"
        running = _after(running, batch)


def arrived(migration: Migration, plan: Plan) -> list[int]:
    """Containers that were to move and run on their target, and only there, at the end."""
    running = PlanWatch(migration).first
    for batch in plan.batches:
        running = _after(running, batch)
    goal = migration.target.machine_of.tolist()
    at = {c: {m for k, m in running if k == c} for c in range(len(goal))}
    return [c for c in migration.moving.nonzero()[0].tolist() if at[c] == ({goal[c]} - {UNPLACED})]


def _subsets(batch: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    sizes = range(len(batch) + 1)
    if len(batch) > MOST_STEPS:
        sizes = sorted({0, 1, 2, len(batch) - 2, len(batch) - 1, len(batch)})
    for size in sizes:
        yield from combinations(batch, size)
    for action in Action:  # all of one kind before the other
        yield tuple(step for step in batch if step.action is action)


def _after(running: Pairs, steps: tuple[Step, ...]) -> Pairs:
    gone = {(step.container, step.machine) for step in steps if step.action is Action.DELETE}
    came = {(step.container, step.machine) for step in steps if step.action is Action.CREATE}
    return (running - gone) | came


class PlanWatch:
    """What is held against each instant."""

    def __init__(self, migration: Migration) -> None:
        self.migration, self.naive = migration, Naive(migration)
        self.home, self.goal = self.naive.home, self.naive.goal
        self.first: Pairs = frozenset((c, m) for c, m in enumerate(self.home) if m != UNPLACED)
        self.ways = [migration.policy.way_of(w) for w in self.naive.workload]
        self.both_ends = {c for c, (a, b) in enumerate(zip(self.home, self.goal, strict=True)) if UNPLACED not in (a, b)}
        self.pinned = {c for rule in migration.cluster.rules if isinstance(rule, Pinned) for c in rule.containers}
        self.ran_load = {
            (m, r): sum(self.naive.request[self.naive.workload[c]][r] for c, at in self.first if at == m)
            for m in range(len(migration.cluster.machines.name))
            for r in range(len(migration.cluster.resources))
        }

    def batch_faults(self, running: Pairs, batch: tuple[Step, ...]) -> Iterator[str]:
        """Steps that cannot be made, too many of them, and steps of what may not move."""
        limits, cluster = self.migration.policy.limits, self.migration.cluster
        for step in batch:
            c, there = step.container, (step.container, step.machine) in running
            if there != (step.action is Action.DELETE):
                yield f"{step} cannot be made"
            if c in self.pinned and (self.home[c] != UNPLACED or step.action is Action.DELETE):
                yield f"{step} moves what is pinned"
        group_of = cluster.levels[limits.level].group_of
        for name, limit, key in (
            ("batch", limits.batch, lambda step: 0),
            ("machine", limits.machine, lambda step: step.machine),
            ("service", limits.service, lambda step: self.naive.service[step.container]),
            ("group", limits.group, lambda step: int(group_of[step.machine])),
        ):
            if limit is not None and max(Counter(map(key, batch)).values(), default=0) > limit:
                yield f"more than {limit} steps per {name}"

    def instant_faults(self, running: Pairs) -> Iterator[str]:
        """What does not hold while exactly these run."""
        pairs, naive = sorted(running), self.naive
        for place, amount in naive.counts(pairs).items():
            if amount > max(naive.limit(place), *(end.get(place, 0) for end in naive.end_counts)) * (1 + 1e-9):
                yield f"{amount} at {place}"
        yield from self._transient(running)
        if not naive.enough(pairs):
            yield "too few of a workload run, or a service is spread over too few groups"
        if not naive.served(pairs, pairs):
            yield "a dependency is violated further than at both ends"
        at = Counter(c for c, _ in pairs)
        for c, count in at.items():
            if count > 2 or (count == 2 and self.ways[c] is Way.REPLACE):
                yield f"container {c} runs {count} times"
        for c in self.both_ends:
            if at[c] == 0 and self.ways[c] is Way.SURGE:
                yield f"container {c} is down, but its way is to surge"

    def refused(self, running: Pairs, next_steps: set[Step]) -> Iterator[str]:
        """Creates that Kubernetes would refuse now."""
        for step in next_steps:
            if step.action is Action.CREATE and not self.naive.accepted(sorted(running), step.container, step.machine):
                yield f"skew refuses {step}"

    def _transient(self, running: Pairs) -> Iterator[str]:
        """Joint transient rules: what left a machine is charged there until the end."""
        for rule in self.migration.cluster.rules:
            if rule.kind != "transient" or rule.mode is not TransientMode.JOINT:
                continue
            r, charged = rule.resource, running | self.first
            for m in {m for _, m in charged}:
                load = sum(self.naive.request[self.naive.workload[c]][r] for c, at in charged if at == m)
                if load > max(int(self.migration.cluster.machines.capacity[m, r]), self.ran_load[m, r], *self._end_load(m, r)):
                    yield f"transient: {load} of resource {r} is charged on machine {m}"

    def _end_load(self, m: int, r: int) -> list[int]:
        """What runs there at the target."""
        return [sum(self.naive.request[self.naive.workload[c]][r] for c, at in enumerate(self.goal) if at == m)]
