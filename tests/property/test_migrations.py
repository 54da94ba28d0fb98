"""What is known about orders of moves: by brute force, by construction, or by hand."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from experiments.migrate.backwards import STYLES
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.builders.migrations import backwards, known_order, small
from tests.naive.migrations import Naive, complete_order, first_unsafe, most_arrivals

from bayplan.check import check_migration
from bayplan.migrate import MIGRATORS, MigrateOptions
from bayplan.model import (
    UNPLACED,
    Action,
    Budget,
    Capacity,
    Cluster,
    Containers,
    Machines,
    Migration,
    MigrationPolicy,
    Placement,
    Plan,
    Resource,
    Running,
    Services,
    Status,
    Traffic,
    Way,
    Workloads,
    floats,
    ints,
    machine_level,
    silent,
)

seeds = st.integers(0, 100_000)
hundred = settings(max_examples=50, deadline=None)
KNOWN = range(24)  # instances that are built backwards


def waves(migration, options=None, *, seed=0, iterations=12):
    return MIGRATORS["waves"](
        migration, options or MigrateOptions(), budget=Budget(iterations=iterations), seed=seed, progress=silent
    )


def sentences(violations):
    return [str(violation) for violation in violations]


# ---- the referee and brute force agree -----------------------------------------------------------------------------------------


@hundred
@given(seed=seeds, chance=st.integers(0, 1_000))
def test_the_referee_finds_the_first_unsafe_step_of_any_order(seed, chance):
    migration = small(seed)
    plan = any_order(migration, np.random.default_rng(chance))
    first = first_unsafe(migration, plan)
    checked = check_migration(migration, plan)
    assert (min((violation.batch for violation in checked.violations), default=None)) == first


def any_order(migration, rng):
    """Each item goes to its target in one of its ways, one step per batch, safe or not."""
    naive = Naive(migration)
    state, batches = list(naive.first), []
    while True:
        open_items = [i for i in range(len(state)) if naive.steps_of(i, state[i])]
        if not open_items:
            return Plan(batches=tuple(batches))
        i = int(rng.choice(open_items))
        after = [*state]
        after[i] = naive.steps_of(i, state[i])[int(rng.integers(len(naive.steps_of(i, state[i]))))]
        batches.append(naive.batch(tuple(state), tuple(after)))
        state = after


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("seed", range(3))
def test_an_instance_that_is_built_backwards_has_a_complete_plan(seed, style):
    migration, plan = known_order(seed, moves=40, style=style)
    checked = check_migration(migration, plan)
    assert sentences(checked.violations) == []
    assert checked.arrived
    assert migration.moving.sum() >= 20


# ---- what waves finds ----------------------------------------------------------------------------------------------------------


@hundred
@given(seed=seeds)
def test_a_complete_plan_is_found_whenever_some_order_is_safe(seed):
    migration = small(seed)
    if complete_order(migration) is not None:
        result = waves(migration)
        assert result.left_out == ()
        assert check_migration(migration, result.solution).arrived


@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_a_partial_plan_brings_as_many_as_any_order_does(seed):
    migration = small(seed)
    not_arrived = check_migration(migration, waves(migration).solution).not_arrived
    assert migration.moving.sum() - len(not_arrived) >= most_arrivals(migration)


@pytest.mark.long
def test_nearly_all_instances_that_have_a_plan_are_solved_completely():
    unsolved = []
    for seed in KNOWN:
        migration = backwards(seed, machines=5 + seed % 8, moves=20 + seed)
        checked = check_migration(migration, waves(migration, iterations=4).solution)
        assert sentences(checked.violations) == []
        if not checked.arrived:
            unsolved.append(seed)
    assert len(unsolved) <= 0.05 * len(KNOWN), unsolved


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_heavy_containers_move_late(seed):
    migration = backwards(2_000 + seed, machines=20, moves=80, full=0.95, rules=False)
    moving = np.flatnonzero(migration.moving)
    heavy = np.zeros(len(migration.start.machine_of), dtype=np.bool_)
    heavy[np.random.default_rng(seed).permutation(moving)[: len(moving) // 2]] = True
    plan = waves(migration, MigrateOptions(weight=floats(np.where(heavy, 10.0, 1.0)))).solution
    turn = [(number, heavy[step.container]) for number, batch in enumerate(plan.batches) for step in batch]
    late, early = (np.mean([number for number, is_heavy in turn if is_heavy == wanted]) for wanted in (True, False))
    assert late > early


# ---- how few batches -----------------------------------------------------------------------------------------------------------


def fewest_batches(migration, most):
    """The fewest batches, at most `most`, of any plan that goes straight to the target and that the referee accepts; or None."""
    naive = Naive(migration)
    plans = {naive.first: ()}
    for count in range(most + 1):
        if naive.last in plans:
            return count
        reached, plans = plans, {}
        for state, batches in reached.items():
            for after in product(*((stage, *naive.steps_of(i, stage)) for i, stage in enumerate(state))):
                if after != state and after not in plans:
                    plan = Plan(batches=(*batches, naive.batch(state, after)))
                    if check_migration(migration, plan).safe:
                        plans[after] = plan.batches
    return None


def in_way(migration, way):
    """The same migration, every workload in one way."""
    ways = (way,) * len(migration.cluster.workloads.name)
    return replace(migration, policy=replace(migration.policy, way=ways))


@pytest.mark.parametrize("way", Way)
@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_no_plan_has_fewer_batches_than_the_bound(way, seed):
    migration = in_way(small(seed, max_moves=3), way)
    for method in MIGRATORS.values():
        result = method(migration, MigrateOptions(), budget=Budget(iterations=2), seed=0, progress=silent)
        if result.bound is not None:
            assert fewest_batches(migration, int(result.bound) - 1) is None


@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_auto_is_never_behind_a_single_way(seed):
    migration = small(seed)
    auto = waves(in_way(migration, Way.AUTO), iterations=3)
    for way in (Way.REPLACE, Way.SURGE, Way.EITHER):
        single = waves(in_way(migration, way), iterations=3)
        if auto.solution is not None:
            ranks = [(len(each.left_out), each.score["batches"]) for each in (auto, single)]
            assert ranks[0] <= ranks[1]


# ---- two containers that exchange full machines --------------------------------------------------------------------------------


def exchange(replicas, capacity, *, alive=0.75, way=Way.AUTO):
    """The first container of each of two workloads swaps machines; the other replicas fill a machine each, if there are any."""
    n_m, names = len(capacity), ("red", "blue")
    machines = tuple(f"m-{m}" for m in range(n_m))
    start = [0, *[2] * (replicas - 1), 1, *[2] * (replicas - 1)]
    after = [1, *[2] * (replicas - 1), 0, *[2] * (replicas - 1)]
    amounts = ints([[has] for has in capacity])
    cluster = Cluster(
        name="exchange",
        resources=(Resource(name="cpu"),),
        machines=Machines(name=machines, capacity=amounts, safety=amounts),
        levels=(machine_level(machines),),
        services=Services(name=names, clique=floats([0.0, 0.0])),
        workloads=Workloads.by_request(names, ints([0, 1]), ints([[4], [4]])),
        containers=Containers.replicas_of(names, [replicas, replicas]),
        traffic=Traffic.none(),
        rules=(Capacity(resources=(0,)),),
    )
    policy = MigrationPolicy(alive=alive, way=(way, way))
    return Migration(
        cluster=cluster,
        start=Running.of(Placement(machine_of=ints(start))),
        target=Placement(machine_of=ints(after)),
        policy=policy,
    )


def test_two_full_machines_exchange_by_a_stopover_on_a_third():
    migration = exchange(1, [4, 4, 4])
    result = waves(migration)
    checked = check_migration(migration, result.solution)
    assert checked.safe
    assert checked.arrived
    assert checked.stopovers == 1
    assert len(result.solution) == 6


def test_two_full_machines_cannot_exchange_if_no_third_machine_fits():
    result = waves(exchange(1, [4, 4, 3]))
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert result.solution == Plan(batches=())
    assert [reason.subject for reason in result.left_out] == ["red-0", "blue-0"]
    assert "'m-1' lacks 4 cpu" in result.left_out[0].text


def test_two_full_machines_exchange_without_a_stopover_if_both_may_be_down():
    migration = exchange(4, [4, 4, 24])
    result = waves(migration)
    checked = check_migration(migration, result.solution)
    assert checked.safe
    assert checked.arrived
    assert checked.stopovers == 0
    assert [{step.action for step in batch} for batch in result.solution.batches] == [{Action.DELETE}, {Action.CREATE}]


def test_those_that_must_surge_use_the_stopover_although_many_replicas_run():
    migration = exchange(4, [4, 4, 28], way=Way.SURGE)
    checked = check_migration(migration, waves(migration).solution)
    assert checked.safe
    assert checked.arrived
    assert checked.stopovers == 1
    assert checked.least_alive == 1.0


def test_those_that_must_be_replaced_block_each_other():
    migration = exchange(4, [4, 4, 24], alive=1.0, way=Way.REPLACE)
    result = waves(migration)
    assert result.solution == Plan(batches=())
    assert len(result.left_out) == 2


# ---- nothing is left under way -------------------------------------------------------------------------------------------------


@hundred
@given(seed=seeds)
@example(seed=63)  # where RASA's path ends with a container that runs twice
@example(seed=222)
def test_no_container_is_left_down_or_doubled(seed):
    migration = small(seed)
    for method in MIGRATORS.values():
        result = method(migration, MigrateOptions(), budget=Budget(iterations=2), seed=0, progress=silent)
        checked = check_migration(migration, result.solution)
        ran = (migration.start.machine_of != UNPLACED) & (migration.target.machine_of != UNPLACED)
        assert checked.safe
        assert not (ran & (checked.running.machine_of == UNPLACED)).any()
        assert (checked.running.second == UNPLACED).all()
