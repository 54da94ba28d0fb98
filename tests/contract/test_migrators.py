"""Every migrator keeps its promises, on any migration."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.migrations import backwards, migrations, small
from tests.stress.migration import way_back

from bayplan.check import check_migration
from bayplan.migrate import MIGRATORS, MigrateOptions
from bayplan.model import (
    UNPLACED,
    Action,
    AntiAffinity,
    Budget,
    Migration,
    MigrationPolicy,
    Placement,
    Plan,
    Running,
    Status,
    StepLimits,
    ints,
    silent,
)
from bayplan.operate.plan_simulation.execution import StepOutcome
from bayplan.operate.plan_simulation.failures import StepHangs
from bayplan.operate.plan_simulation.simulator import carry_out

every_migrator = pytest.mark.parametrize("migrator", MIGRATORS.values(), ids=MIGRATORS)
few = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10_000)
BUDGET = Budget(iterations=6)


def planned(migrator, migration, options=None, *, seed=0, budget=BUDGET, progress=silent):
    return migrator(migration, options or MigrateOptions(), budget=budget, seed=seed, progress=progress)


def sentences(violations):
    return [str(violation) for violation in violations]


def to(migration, machine_of):
    """The same migration to another target."""
    return replace(migration, target=Placement(machine_of=ints(machine_of)))


@every_migrator
@few
@given(seed=seeds)
def test_every_state_on_the_way_is_safe(migrator, seed):
    migration = small(seed)
    result = planned(migrator, migration)
    assert result.solution is not None
    assert sentences(check_migration(migration, result.solution).violations) == []


@every_migrator
@few
@given(migration=migrations())
def test_is_safe_where_the_start_violates_rules(migrator, migration):
    result = planned(migrator, migration)
    assert result.solution is None or sentences(check_migration(migration, result.solution).violations) == []
    assert (result.solution is None) == (result.status is Status.INFEASIBLE)


@every_migrator
@pytest.mark.parametrize("seed", range(4))
def test_is_safe_with_many_moves(migrator, seed):
    migration = backwards(1_000 + seed, moves=60)
    assert sentences(check_migration(migration, planned(migrator, migration).solution).violations) == []


@every_migrator
@few
@given(seed=seeds)
def test_the_reasons_name_exactly_those_that_do_not_arrive(migrator, seed):
    migration = small(seed)
    result = planned(migrator, migration)
    names = migration.cluster.containers.name
    assert [reason.subject for reason in result.left_out] == [
        names[c] for c in check_migration(migration, result.solution).not_arrived
    ]
    assert all(reason.text for reason in result.left_out)


@every_migrator
@few
@given(seed=seeds)
def test_no_container_of_both_ends_is_left_down_or_doubled(migrator, seed):
    """By rasa it may be, where a round changes nothing any more: then it is left out, with its reason."""
    migration = small(seed)
    result = planned(migrator, migration)
    end = check_migration(migration, result.solution).running
    ran = (migration.start.machine_of != UNPLACED) & (migration.target.machine_of != UNPLACED)
    unfinished = np.flatnonzero((ran & (end.machine_of == UNPLACED)) | (end.second != UNPLACED))
    names = {migration.cluster.containers.name[c] for c in unfinished}
    assert names <= {reason.subject for reason in result.left_out}
    assert not names or migrator is MIGRATORS["rasa"]


@every_migrator
@few
@given(seed=seeds, chance=st.integers(0, 3))
def test_the_same_seed_gives_the_same_plan(migrator, seed, chance):
    first, second = (planned(migrator, small(seed), seed=chance).solution for _ in range(2))
    assert first == second


@every_migrator
@few
@given(seed=seeds)
def test_the_inverse_leads_back_safely_from_every_batch_on(migrator, seed):
    migration = small(seed)
    plan = planned(migrator, migration).solution
    for done in range(len(plan.batches) + 1):
        checked = check_migration(way_back(migration, plan, done), plan.inverse(done))
        assert sentences(checked.violations) == []
        assert checked.running.machine_of.tolist() == migration.start.machine_of.tolist()
        assert (checked.running.second == UNPLACED).all()


@every_migrator
@few
@given(seed=seeds, chance=st.integers(0, 9))
def test_a_plan_that_is_carried_out_twice_changes_nothing_the_second_time(migrator, seed, chance):
    migration = small(seed)
    plan = planned(migrator, migration).solution
    once = carry_out(migration, plan, seed=chance)
    twice = carry_out(replace(migration, start=once.running), plan, seed=chance)
    assert once.stopped is None
    assert {event.outcome for event in twice.events} <= {StepOutcome.SKIPPED}
    assert twice.running.machine_of.tolist() == once.running.machine_of.tolist()


@every_migrator
@few
@given(seed=seeds, chance=st.integers(0, 9))
def test_what_remains_is_planned_anew_when_steps_have_failed(migrator, seed, chance):
    migration = small(seed)
    plan = planned(migrator, migration).solution
    if not plan.batches:
        return
    rng = np.random.default_rng(chance)
    number = int(rng.integers(len(plan.batches)))
    step = plan.batches[number][int(rng.integers(len(plan.batches[number])))]
    remaining = carry_out(migration, plan, [StepHangs(batch=number, container=step.container)], seed=chance).remaining(migration)
    result = planned(migrator, remaining)
    assert result.solution is not None
    checked = check_migration(remaining, result.solution)
    assert sentences(checked.violations) == []
    names = migration.cluster.containers.name
    assert [reason.subject for reason in result.left_out] == [names[c] for c in checked.not_arrived]


@every_migrator
@few
@given(seed=seeds)
def test_a_target_that_is_reached_needs_no_plan(migrator, seed):
    migration = small(seed)
    reached = replace(migration, start=Running.of(migration.target))
    result = planned(migrator, reached)
    assert result.solution == Plan(batches=())
    assert result.left_out == ()


@every_migrator
def test_a_target_that_violates_a_rule_is_refused_with_the_sentence(migrator):
    migration = backwards(1, machines=5, moves=20, full=0.85, rules=False)
    all_on_one = np.zeros(len(migration.start.machine_of))
    result = planned(migrator, to(migration, all_on_one))
    assert result.status is Status.INFEASIBLE
    assert any("machine 'm-0'" in sentence and "too much" in sentence for sentence in result.still_violated)


@every_migrator
def test_a_target_that_violates_a_rule_about_neighbours_is_refused(migrator):
    migration = small(3, rules=False)
    together = Counter(zip(migration.cluster.containers.workload.tolist(), migration.target.machine_of.tolist(), strict=True))
    (w, _), most = max(((key, n) for key, n in together.items() if key[1] != UNPLACED), key=lambda pair: pair[1])
    assert most > 1
    rules = (*migration.cluster.rules, AntiAffinity(workloads=(w,), limit=1))
    result = planned(migrator, replace(migration, cluster=replace(migration.cluster, rules=rules)))
    assert result.status is Status.INFEASIBLE
    assert any("anti-affinity" in sentence for sentence in result.still_violated)


@every_migrator
@pytest.mark.parametrize("seed", range(5))
def test_containers_of_a_single_machine_come_and_go(migrator, seed):
    """There is no other machine, but some containers are new and some are deleted."""
    migration = on_one_machine(seed)
    result = planned(migrator, migration)
    checked = check_migration(migration, result.solution)
    assert checked.safe
    assert checked.arrived
    assert len(result.solution) == int(migration.moving.sum())


def on_one_machine(seed):
    drawn = small(seed, rules=False)
    all_here = np.zeros(len(drawn.start.machine_of), dtype=np.int64)
    rng = np.random.default_rng(seed)
    start, after = (np.where(rng.random(len(all_here)) < 0.3, UNPLACED, all_here) for _ in range(2))
    capacity = ints([[1_000, 1_000]] * len(drawn.cluster.machines.name))
    machines = replace(drawn.cluster.machines, capacity=capacity, safety=capacity)
    cluster = replace(drawn.cluster, machines=machines)
    return Migration(cluster=cluster, start=Running.of(Placement(machine_of=start)), target=Placement(machine_of=after))


@every_migrator
def test_new_containers_are_created_after_others_have_left(migrator):
    migration = backwards(2, machines=5, moves=20, full=0.9, rules=False, style="mixed")
    home, workload = migration.start.machine_of, migration.cluster.containers.workload
    request = migration.cluster.workloads.request
    ends = 0
    comes = next(
        c for c in range(1, len(home)) if home[c] == home[ends] and (request[workload[c]] <= request[workload[ends]]).all()
    )
    start, after = home.copy(), home.copy()
    start[comes] = after[ends] = UNPLACED
    load = np.zeros_like(migration.cluster.machines.capacity)
    placed = np.flatnonzero(start != UNPLACED)
    np.add.at(load, start[placed], migration.cluster.request_of(placed))
    full = replace(migration.cluster.machines, capacity=ints(load), safety=ints(load))
    swap = Migration(
        cluster=replace(migration.cluster, machines=full),
        start=Running.of(Placement(machine_of=start)),
        target=Placement(machine_of=after),
        policy=MigrationPolicy(alive=0.0),
    )
    result = planned(migrator, swap)
    assert [[step.action for step in batch] for batch in result.solution.batches] == [[Action.DELETE], [Action.CREATE]]
    assert check_migration(swap, result.solution).safe


@every_migrator
@pytest.mark.parametrize(
    "limits",
    [
        StepLimits(batch=3),
        StepLimits(machine=1),
        StepLimits(service=2),
        StepLimits(group=4, level=1),
        StepLimits(batch=5, machine=2, service=2, group=3, level=1),
    ],
    ids=["batch", "machine", "service", "group", "all"],
)
def test_no_batch_has_more_steps_than_the_limits_allow(migrator, limits):
    drawn = backwards(5, machines=8, moves=30, full=0.9, rules=False, style="mixed")
    migration = replace(drawn, policy=replace(drawn.policy, limits=limits))
    plan = planned(migrator, migration).solution
    assert check_migration(migration, plan).safe
    assert plan.batches
    for batch in plan.batches:
        assert len(batch) <= (limits.batch or len(batch))
        for limit, place in ((limits.machine, _machine), (limits.service, _service), (limits.group, _group)):
            most = max(Counter(place(migration, step) for step in batch).values())
            assert most <= (limit or most)


def _machine(migration, step):
    return step.machine


def _service(migration, step):
    return int(migration.cluster.workloads.service[migration.cluster.containers.workload[step.container]])


def _group(migration, step):
    return int(migration.cluster.levels[1].group_of[step.machine])


@every_migrator
@few
@given(seed=seeds, data=st.data())
def test_containers_that_must_never_move_have_no_step(migrator, seed, data):
    migration = small(seed)
    n_c = len(migration.start.machine_of)
    never = np.array(data.draw(st.lists(st.booleans(), min_size=n_c, max_size=n_c)), dtype=np.bool_)
    result = planned(migrator, migration, MigrateOptions(never=never))
    if result.solution is None:  # their staying violates a rule that the target keeps
        return
    checked = check_migration(migration, result.solution)
    assert sentences(checked.violations) == []
    stays = never & (migration.start.machine_of != UNPLACED)  # new ones are created: that is no move
    assert not [step for step in result.solution.steps() if stays[step.container]]
    names = migration.cluster.containers.name
    assert {reason.subject for reason in result.left_out} == {names[c] for c in checked.not_arrived}


@every_migrator
@few
@given(seed=seeds)
def test_there_are_no_stopovers_if_none_are_wanted(migrator, seed):
    migration = small(seed)
    plan = planned(migrator, migration, MigrateOptions(stopovers=False)).solution
    checked = check_migration(migration, plan)
    assert checked.safe
    assert checked.stopovers == 0


@every_migrator
@few
@given(seed=seeds)
def test_tells_how_far_it_is(migrator, seed):
    ticks = []
    planned(migrator, small(seed), progress=ticks.append)
    assert all(0 <= tick.done <= 1 for tick in ticks)


@every_migrator
@few
@given(seed=seeds)
def test_the_bound_and_the_score_are_those_of_the_plan(migrator, seed):
    result = planned(migrator, small(seed))
    assert result.score["batches"] == len(result.solution.batches)
    assert result.score["steps"] == len(result.solution)
    if result.bound is not None and not result.left_out:
        assert result.bound <= len(result.solution.batches)
