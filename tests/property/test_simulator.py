"""The referee of plans against every state that a batch can pass through."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.builders.strategies import clusters, placements

from bayplan.check import check, check_migration
from bayplan.model import (
    UNPLACED,
    Action,
    Cluster,
    Containers,
    Migration,
    MigrationPolicy,
    Placement,
    Plan,
    Running,
    Step,
    TransientMode,
    ints,
)
from bayplan.operate.plan_simulation.execution import StepOutcome
from bayplan.operate.plan_simulation.failures import StepHangs
from bayplan.operate.plan_simulation.simulator import carry_out

QUICK = settings(max_examples=30, deadline=None)
BY_CHECK = {"capacity", "anti-affinity", "interference", "allow", "dependency", "confidence"}  # checked on one state alone
COMPARED = BY_CHECK | {"spread", "alive", "transient"}
Pairs = frozenset[tuple[int, int]]  # container, machine


# ---- random migrations and plans -----------------------------------------------------------------------------------------------


@st.composite
def runnings(draw, cluster: Cluster) -> Running:
    """Any placement, with some containers on a second machine."""
    first, other = draw(placements(cluster)).machine_of, draw(placements(cluster)).machine_of
    doubled = np.array(draw(st.lists(st.integers(0, 5), min_size=len(first), max_size=len(first))), dtype=int) == 0
    twice = doubled & (first != UNPLACED) & (other != first)
    return Running(machine_of=first, second=ints(np.where(twice, other, UNPLACED)))


@st.composite
def migrations(draw) -> Migration:
    """From any state to any placement, about half of it unchanged; some with rules of one kind only, which then decide."""
    drawn = draw(clusters(max_machines=3, max_workloads=3, min_replicas=1))
    only = draw(st.sampled_from([None, None, "anti-affinity", "interference", "spread", "dependency", "transient", "allow"]))
    machines = replace(drawn.machines, capacity=ints(drawn.machines.capacity + draw(st.sampled_from([0, 4, 12]))))
    cluster = replace(drawn, machines=machines, rules=tuple(rule for rule in drawn.rules if only in (None, rule.kind)))
    start, target = draw(runnings(cluster)), draw(placements(cluster)).machine_of
    keep = np.array(draw(st.lists(st.booleans(), min_size=len(target), max_size=len(target))), dtype=bool)
    after = Placement(machine_of=ints(np.where(keep, start.machine_of, target)))
    alive = 0.0 if only else draw(st.sampled_from([0.0, 0.5, 0.75, 1.0]))
    return Migration(cluster=cluster, start=start, target=after, policy=MigrationPolicy(alive=alive))


@st.composite
def plans(draw, migration: Migration) -> Plan:
    """Steps that can be made, towards the target as a rule, at most one per container and batch."""
    n_c, n_m = len(migration.cluster.containers.name), len(migration.cluster.machines.name)
    runs, batches = pairs(migration.start), []
    for _ in range(draw(st.integers(1, 3))):
        chosen = draw(st.permutations(range(n_c)))[: draw(st.integers(1, 5))]
        steps = tuple(step for c in chosen if (step := draw(_step(migration, runs, c, n_m))) is not None)
        runs = done(runs, steps)
        batches.append(steps)
    return Plan(batches=tuple(batches))


@st.composite
def _step(draw, migration: Migration, runs: Pairs, c: int, n_m: int) -> Step | None:
    here = sorted(m for one, m in runs if one == c)
    target = int(migration.target.machine_of[c])
    elsewhere = [m for m in range(n_m) if m not in here]
    machines = [target] if target in elsewhere and draw(st.integers(0, 3)) else elsewhere
    may_create = len(here) < 2 and machines
    if may_create and (not here or draw(st.booleans())):
        return Step(Action.CREATE, c, draw(st.sampled_from(machines)))
    return Step(Action.DELETE, c, draw(st.sampled_from(here))) if here else None


def pairs(running: Running) -> Pairs:
    """Everything that runs."""
    return frozenset(map(tuple, running.pairs().tolist()))


def done(runs: Pairs, steps: tuple[Step, ...]) -> Pairs:
    """What runs when these steps have been made."""
    gone = {(step.container, step.machine) for step in steps if step.action is Action.DELETE}
    come = {(step.container, step.machine) for step in steps if step.action is Action.CREATE}
    return frozenset((set(runs) - gone) | come)


# ---- the slow referee ----------------------------------------------------------------------------------------------------------


def excesses(cluster: Cluster, runs: Pairs) -> dict[tuple[str, int, tuple[str, ...]], float]:
    """What `check` says of one state, in which a container that runs twice is two containers."""
    workload = cluster.containers.workload
    order = sorted(runs, key=lambda pair: (workload[pair[0]], pair))
    stated = [(number, rule) for number, rule in enumerate(cluster.rules) if rule.kind in BY_CHECK]  # not those about containers
    expanded = replace(
        cluster,
        containers=Containers(name=tuple(f"{c}@{m}" for c, m in order), workload=ints([workload[c] for c, _ in order])),
        rules=tuple(rule for _, rule in stated),
    )
    violations = check(expanded, Placement(machine_of=ints([m for _, m in order])))
    return {(v.rule, stated[v.number][0], v.subject): v.excess for v in violations}


def loads(cluster: Cluster, runs: Pairs) -> np.ndarray:
    load = np.zeros(cluster.machines.capacity.shape, dtype=int)
    for c, m in runs:
        load[m] += cluster.workloads.request[cluster.containers.workload[c]]
    return load


def states(runs: Pairs, steps: tuple[Step, ...]) -> Iterator[tuple[Pairs, tuple[Step, ...]]]:
    """Every state with some of the steps done, and which."""
    for subset in chain.from_iterable(combinations(steps, size) for size in range(len(steps) + 1)):
        yield done(runs, subset), subset


class SlowReferee:
    """Looks at every state of every batch, one container at a time."""

    def __init__(self, migration: Migration, plan: Plan) -> None:
        self.migration, self.cluster = migration, migration.cluster
        self.left = list(plan.batches)  # this batch and all later ones
        start = pairs(migration.start)
        self.ends = (start, pairs(Running.of(migration.target)))
        self.allowed = [excesses(self.cluster, runs) for runs in self.ends]
        self.limit = np.maximum.reduce([self.cluster.machines.capacity, *(loads(self.cluster, runs) for runs in self.ends)])
        self.runs, self.held, self.ever = start, dict[int, int](), set(start)

    def batch(self, steps: tuple[Step, ...]) -> set[tuple[str, tuple[str, ...]]]:
        """Rules that may be violated while these steps run: kind and names. Then the steps are made."""
        wrong = set()
        for runs, made in states(self.runs, steps):
            wrong |= self._alone(runs) | self._spread(runs) | self._alive(runs) | self._transient(runs, made)
        self.held.update(self._new_holds(done(self.runs, steps), steps))
        for step in steps:
            if step.action is Action.CREATE:
                self.held.pop(step.container, None)
                self.ever.add((step.container, step.machine))
        self.runs = done(self.runs, steps)
        del self.left[0]
        return wrong

    def _alone(self, runs: Pairs) -> set[tuple[str, tuple[str, ...]]]:
        excess_of = excesses(self.cluster, runs)
        return {
            (key[0], key[2]) for key, excess in excess_of.items() if excess > max(end.get(key, 0) for end in self.allowed) + 1e-6
        }

    def _spread(self, runs: Pairs) -> set[tuple[str, tuple[str, ...]]]:
        wrong = set()
        for rule in self.cluster.rules:
            if rule.kind == "spread":
                used = [self._groups(state, rule) for state in (runs, *self.ends)]
                need = min(
                    rule.minimum, len(used[1]), len(used[2]), len({c for c, _ in runs if self._service(c) == rule.service})
                )
                if len(used[0]) < need:
                    wrong.add(("spread", (self.cluster.services.name[rule.service],)))
        return wrong

    def _groups(self, runs: Pairs, rule) -> set[int]:
        group_of = self.cluster.levels[rule.level].group_of
        return {int(group_of[m]) for c, m in runs if self._service(c) == rule.service}

    def _service(self, c: int) -> int:
        return int(self.cluster.workloads.service[self.cluster.containers.workload[c]])

    def _alive(self, runs: Pairs) -> set[tuple[str, tuple[str, ...]]]:
        up = [int(self.cluster.containers.workload[c]) for c in {c for c, _ in runs}]
        least = self.migration.least_alive
        return {("alive", (name,)) for w, name in enumerate(self.cluster.workloads.name) if up.count(w) < least[w]}

    def _new_holds(self, runs: Pairs, steps: tuple[Step, ...]) -> dict[int, int]:
        up = {c for c, _ in runs}
        return {
            step.container: step.machine
            for step in steps
            if step.action is Action.DELETE and step.container not in up and self.migration.target.machine_of[step.container] >= 0
        }

    def _next_create(self, c: int) -> list[int]:
        """Where a container that is down is created next, if it is."""
        return [step.machine for batch in self.left for step in batch if step == Step(Action.CREATE, c, step.machine)][:1]

    def _transient(self, runs: Pairs, made: tuple[Step, ...]) -> set[tuple[str, tuple[str, ...]]]:
        held = set(self.held.items()) | set(self._new_holds(runs, made).items())
        held |= {(c, m) for c, _ in held for m in self._next_create(c)}
        charged = {TransientMode.SEQUENTIAL: runs | held, TransientMode.JOINT: runs | self.ever}
        return {
            ("transient", (self.cluster.machines.name[m], self.cluster.resources[rule.resource].name))
            for rule in self.cluster.rules
            if rule.kind == "transient"
            for m in np.flatnonzero((loads(self.cluster, charged[rule.mode]) > self.limit)[:, rule.resource])
        }


# ---- properties ----------------------------------------------------------------------------------------------------------------


@settings(max_examples=75, deadline=None)
@given(st.data())
def test_a_batch_is_safe_exactly_if_every_state_it_can_pass_through_is(data):
    migration = data.draw(migrations())
    plan = data.draw(plans(migration))
    checked, slow = check_migration(migration, plan), SlowReferee(migration, plan)
    for number, steps in enumerate(plan.batches):
        expected = slow.batch(steps)
        reported = {(violation.rule, violation.subject) for violation in checked.violations if violation.batch == number}
        for kind, _ in expected:
            event(kind)
        assert {pair for pair in reported if pair[0] in COMPARED} == expected
        if expected:
            return  # later batches start from a state with violations: for them only what they add is reported
    event("safe to the end")


@QUICK
@given(st.data())
def test_a_safe_plan_can_be_made_in_any_order_inside_its_batches(data):
    migration = data.draw(migrations())
    plan = data.draw(plans(migration))
    checked = check_migration(migration, plan)
    execution = carry_out(migration, plan, seed=data.draw(st.integers(0, 99)), again=False)
    runs, expected = pairs(migration.start.after(plan)), pairs(Running.of(migration.target))
    assert pairs(checked.running) == runs
    assert set(checked.not_arrived.tolist()) == {c for c, _ in runs ^ expected}
    assert not [violation for violation in checked.violations if violation.rule == "step"]
    all_fit = not [violation for violation in checked.violations if violation.rule == "capacity"]
    event(f"all fit: {all_fit}")
    if all_fit:
        assert execution.stopped is None
        assert pairs(execution.running) == pairs(checked.running)
        assert {event.outcome for event in execution.events} <= {StepOutcome.DONE}


@QUICK
@given(st.data())
def test_the_second_time_a_plan_changes_nothing(data):
    migration = data.draw(migrations())
    plan = data.draw(plans(migration))
    ended = replace(migration, start=migration.start.after(plan))
    second = carry_out(ended, plan, seed=data.draw(st.integers(0, 99)))
    assert second.stopped is None
    assert pairs(second.running) == pairs(ended.start)
    assert {event.outcome for event in second.events} <= {StepOutcome.SKIPPED}


@QUICK
@given(st.data())
def test_a_plan_that_stopped_is_finished_by_making_it_again(data):
    migration = data.draw(migrations())
    migration = replace(migration, cluster=replace(migration.cluster, rules=()))  # everything fits
    plan = data.draw(plans(migration))
    migration = replace(migration, target=migration.start.after(plan).placement)
    if len(migration.start.after(plan).doubled):
        return  # the target is one machine each
    failures = [StepHangs(container=data.draw(st.integers(0, len(migration.target.machine_of) - 1)))]
    first = carry_out(migration, plan, failures, again=False)
    event(f"stopped: {first.stopped is not None}")
    second = carry_out(first.remaining(migration), plan)
    assert second.stopped is None
    assert pairs(second.running) == pairs(migration.start.after(plan))


@QUICK
@given(st.data())
def test_a_safe_plan_is_safe_backwards(data):
    migration = data.draw(migrations())
    kept = tuple(rule for rule in migration.cluster.rules if rule.kind not in ("pinned", "skew"))  # skew is asked at creates only
    migration = replace(migration, cluster=replace(migration.cluster, rules=kept))
    plan = data.draw(plans(migration))
    end = migration.start.after(plan)
    if len(end.doubled) or len(migration.start.doubled):
        return
    forth = replace(migration, target=end.placement)
    back = replace(migration, start=end, target=migration.start.placement)
    there, again = check_migration(forth, plan), check_migration(back, plan.inverse())
    event(f"safe: {there.safe}")
    assert there.arrived
    assert again.arrived
    assert there.safe == again.safe
