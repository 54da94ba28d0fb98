"""Every way to order moves keeps its promises, on any migration."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.migrations import backwards, migrations, small
from tests.stress.migration import way_back

from bayplan.check.migration.referee import judge
from bayplan.migrate import MIGRATORS, MigrateOptions
from bayplan.migrate.inverse import inverse
from bayplan.model import (
    UNPLACED,
    Action,
    AntiAffinity,
    Budget,
    Limits,
    Migration,
    Placement,
    Plan,
    Running,
    Status,
    Terms,
    ints,
    silent,
)
from bayplan.model.outcome import Fate
from bayplan.operate.failures import NeverEnds
from bayplan.operate.simulator import simulate

every_migrator = pytest.mark.parametrize("migrator", MIGRATORS.values(), ids=MIGRATORS)
few = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10_000)
BUDGET = Budget(iterations=6)


def planned(migrator, migration, options=None, *, seed=0, budget=BUDGET, progress=silent):
    return migrator(migration, options or MigrateOptions(), budget=budget, seed=seed, progress=progress)


def said(breaches):
    return [str(breach) for breach in breaches]


def to(migration, machine_of):
    """The same migration to another target."""
    return replace(migration, after=Placement(machine_of=ints(machine_of)))


@every_migrator
@few
@given(seed=seeds)
def test_every_state_on_the_way_is_safe(migrator, seed):
    migration = small(seed)
    result = planned(migrator, migration)
    assert result.solution is not None
    assert said(judge(migration, result.solution).breaches) == []


@every_migrator
@few
@given(migration=migrations())
def test_is_safe_where_the_start_breaks_rules(migrator, migration):
    result = planned(migrator, migration)
    assert result.solution is None or said(judge(migration, result.solution).breaches) == []
    assert (result.solution is None) == (result.status is Status.INFEASIBLE)


@every_migrator
@pytest.mark.parametrize("seed", range(4))
def test_is_safe_with_many_moves(migrator, seed):
    migration = backwards(1_000 + seed, moves=60)
    assert said(judge(migration, planned(migrator, migration).solution).breaches) == []


@every_migrator
@few
@given(seed=seeds)
def test_the_reasons_name_exactly_those_that_do_not_arrive(migrator, seed):
    migration = small(seed)
    result = planned(migrator, migration)
    names = migration.cluster.containers.name
    assert [reason.subject for reason in result.left_out] == [names[c] for c in judge(migration, result.solution).stuck]
    assert all(reason.text for reason in result.left_out)


@every_migrator
@few
@given(seed=seeds)
def test_nobody_who_shall_run_is_left_down_or_doubled(migrator, seed):
    migration = small(seed)
    end = judge(migration, planned(migrator, migration).solution).running
    ran = (migration.start.machine_of != UNPLACED) & (migration.after.machine_of != UNPLACED)
    assert (end.machine_of[ran] != UNPLACED).all()
    assert (end.second == UNPLACED).all()


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
        verdict = judge(way_back(migration, plan, done), inverse(plan, done))
        assert said(verdict.breaches) == []
        assert verdict.running.machine_of.tolist() == migration.start.machine_of.tolist()
        assert (verdict.running.second == UNPLACED).all()


@every_migrator
@few
@given(seed=seeds, chance=st.integers(0, 9))
def test_a_plan_that_is_carried_out_twice_changes_nothing_the_second_time(migrator, seed, chance):
    migration = small(seed)
    plan = planned(migrator, migration).solution
    once = simulate(migration, plan, seed=chance)
    twice = simulate(replace(migration, start=once.running), plan, seed=chance)
    assert once.stopped is None
    assert {event.fate for event in twice.events} <= {Fate.SKIPPED}
    assert twice.running.machine_of.tolist() == once.running.machine_of.tolist()


@every_migrator
@few
@given(seed=seeds, chance=st.integers(0, 9))
def test_the_rest_is_planned_anew_when_steps_have_failed(migrator, seed, chance):
    migration = small(seed)
    plan = planned(migrator, migration).solution
    if not plan.batches:
        return
    rng = np.random.default_rng(chance)
    number = int(rng.integers(len(plan.batches)))
    step = plan.batches[number][int(rng.integers(len(plan.batches[number])))]
    rest = simulate(migration, plan, [NeverEnds(batch=number, container=step.container)], seed=chance).remaining(migration)
    result = planned(migrator, rest)
    assert result.solution is not None
    verdict = judge(rest, result.solution)
    assert said(verdict.breaches) == []
    names = migration.cluster.containers.name
    assert [reason.subject for reason in result.left_out] == [names[c] for c in verdict.stuck]


@every_migrator
@few
@given(seed=seeds)
def test_a_target_that_is_reached_needs_no_plan(migrator, seed):
    migration = small(seed)
    reached = replace(migration, start=Running.of(migration.after))
    result = planned(migrator, reached)
    assert result.solution == Plan(batches=())
    assert result.left_out == ()


@every_migrator
def test_a_target_that_breaks_a_rule_is_refused_with_the_sentence(migrator):
    migration = backwards(1, machines=5, moves=20, full=0.85, rules=False)
    everybody = np.zeros(len(migration.start.machine_of))
    result = planned(migrator, to(migration, everybody))
    assert result.status is Status.INFEASIBLE
    assert any("machine 'm-0'" in sentence and "too much" in sentence for sentence in result.still_violated)


@every_migrator
def test_a_target_that_breaks_a_rule_about_neighbours_is_refused(migrator):
    migration = small(3, rules=False)
    together = Counter(zip(migration.cluster.containers.workload.tolist(), migration.after.machine_of.tolist(), strict=True))
    (w, _), most = max(((key, n) for key, n in together.items() if key[1] != UNPLACED), key=lambda pair: pair[1])
    assert most > 1
    rules = (*migration.cluster.rules, AntiAffinity(workloads=(w,), limit=1))
    result = planned(migrator, replace(migration, cluster=replace(migration.cluster, rules=rules)))
    assert result.status is Status.INFEASIBLE
    assert any("anti-affinity" in sentence for sentence in result.still_violated)


@every_migrator
@pytest.mark.parametrize("seed", range(5))
def test_containers_of_a_single_machine_come_and_go(migrator, seed):
    """There is nowhere to go, but some are new and some end."""
    migration = on_one_machine(seed)
    result = planned(migrator, migration)
    verdict = judge(migration, result.solution)
    assert verdict.safe
    assert verdict.arrived
    assert len(result.solution) == int(migration.moving.sum())


def on_one_machine(seed):
    drawn = small(seed, rules=False)
    all_here = np.zeros(len(drawn.start.machine_of), dtype=np.int64)
    rng = np.random.default_rng(seed)
    start, after = (np.where(rng.random(len(all_here)) < 0.3, UNPLACED, all_here) for _ in range(2))
    room = ints([[1_000, 1_000]] * len(drawn.cluster.machines.name))
    machines = replace(drawn.cluster.machines, capacity=room, safety=room)
    cluster = replace(drawn.cluster, machines=machines)
    return Migration(cluster=cluster, start=Running.of(Placement(machine_of=start)), after=Placement(machine_of=after))


@every_migrator
def test_new_containers_wait_until_others_have_made_room(migrator):
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
        after=Placement(machine_of=after),
        terms=Terms(alive=0.0),
    )
    result = planned(migrator, swap)
    assert [[step.action for step in batch] for batch in result.solution.batches] == [[Action.DELETE], [Action.CREATE]]
    assert judge(swap, result.solution).safe


@every_migrator
@pytest.mark.parametrize(
    "limits",
    [
        Limits(batch=3),
        Limits(machine=1),
        Limits(service=2),
        Limits(zone=4, level=1),
        Limits(batch=5, machine=2, service=2, zone=3, level=1),
    ],
    ids=["batch", "machine", "service", "zone", "all"],
)
def test_no_batch_has_more_steps_than_the_limits_allow(migrator, limits):
    drawn = backwards(5, machines=8, moves=30, full=0.9, rules=False, style="mixed")
    migration = replace(drawn, terms=replace(drawn.terms, limits=limits))
    plan = planned(migrator, migration).solution
    assert judge(migration, plan).safe
    assert plan.batches
    for batch in plan.batches:
        assert len(batch) <= (limits.batch or len(batch))
        for limit, place in ((limits.machine, _machine), (limits.service, _service), (limits.zone, _zone)):
            most = max(Counter(place(migration, step) for step in batch).values())
            assert most <= (limit or most)


def _machine(migration, step):
    return step.machine


def _service(migration, step):
    return int(migration.cluster.workloads.service[migration.cluster.containers.workload[step.container]])


def _zone(migration, step):
    return int(migration.cluster.levels[1].group_of[step.machine])


@every_migrator
@few
@given(seed=seeds, data=st.data())
def test_containers_that_shall_never_move_have_no_step(migrator, seed, data):
    migration = small(seed)
    n_c = len(migration.start.machine_of)
    never = np.array(data.draw(st.lists(st.booleans(), min_size=n_c, max_size=n_c)), dtype=np.bool_)
    result = planned(migrator, migration, MigrateOptions(never=never))
    if result.solution is None:  # their staying breaks what the target keeps
        return
    verdict = judge(migration, result.solution)
    assert said(verdict.breaches) == []
    stays = never & (migration.start.machine_of != UNPLACED)  # new ones are created: that is no move
    assert not [step for step in result.solution.steps() if stays[step.container]]
    names = migration.cluster.containers.name
    assert {reason.subject for reason in result.left_out} == {names[c] for c in verdict.stuck}


@every_migrator
@few
@given(seed=seeds)
def test_there_are_no_stopovers_if_none_are_wanted(migrator, seed):
    migration = small(seed)
    plan = planned(migrator, migration, MigrateOptions(stopovers=False)).solution
    verdict = judge(migration, plan)
    assert verdict.safe
    assert verdict.stopovers == 0


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
