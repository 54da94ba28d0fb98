"""The planner's parts: rounds exchange, detours clear targets, batches are as few as can be proven."""

import numpy as np
import pytest
from tests.builders.migrations import backwards

from bayplan.migrate import MIGRATORS, MigrateOptions
from bayplan.migrate.move_units import move_units
from bayplan.migrate.running_state import RunningState
from bayplan.migrate.step_sequence import StepSequence, least_batches
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
    Result,
    Running,
    Services,
    Status,
    Step,
    StepLimits,
    Traffic,
    Way,
    Workloads,
    machine_level,
    silent,
)


def cluster_of(capacity: list[int], request: list[int], replicas: list[int]) -> Cluster:
    """Machines and workloads with one resource; workload w is its own service."""
    names = tuple(f"m{m}" for m in range(len(capacity)))
    workloads = tuple(f"w{w}" for w in range(len(request)))
    amounts = np.array(capacity)[:, None]
    return Cluster(
        name="small",
        resources=(Resource(name="cpu"),),
        machines=Machines(name=names, capacity=amounts, safety=amounts),
        levels=(machine_level(names),),
        services=Services(name=workloads, clique=np.zeros(len(workloads))),
        workloads=Workloads.by_request(workloads, np.arange(len(workloads)), np.array(request)[:, None]),
        containers=Containers.replicas_of(workloads, replicas),
        traffic=Traffic.none(),
        rules=(Capacity(resources=(0,)),),
    )


def migration_of(cluster: Cluster, start: list[int], after: list[int], **policy: object) -> Migration:
    """From one list of machines to another."""
    before = Running.of(Placement(machine_of=np.array(start)))
    return Migration(
        cluster=cluster, start=before, target=Placement(machine_of=np.array(after)), policy=MigrationPolicy(**policy)
    )


def plan_of(migration: Migration, **options: object) -> Result[Plan]:
    """The result of waves."""
    return MIGRATORS["waves"](migration, MigrateOptions(**options), budget=Budget(iterations=6), seed=0, progress=silent)


def test_two_full_machines_exchange_replaced_containers_in_two_batches():
    cluster = cluster_of([8, 8], [2], [8])
    migration = migration_of(cluster, [0] * 4 + [1] * 4, [1, 0, 0, 0, 0, 1, 1, 1])
    result = plan_of(migration)
    assert result.status is Status.OPTIMAL
    assert result.score == {"batches": 2, "steps": 4, "moves": 2, "stopovers": 0, "surges": 0}


def test_two_full_machines_exchange_single_containers_by_one_stopover():
    cluster = cluster_of([4, 4, 4], [4, 4], [1, 1])
    result = plan_of(migration_of(cluster, [0, 1], [1, 0]))
    assert not result.left_out
    assert result.score["stopovers"] == 1
    assert result.score["moves"] == 3


def test_without_a_third_machine_they_do_not_arrive_and_are_named():
    cluster = cluster_of([4, 4], [4, 4], [1, 1])
    result = plan_of(migration_of(cluster, [0, 1], [1, 0]))
    assert result.solution is not None
    assert not len(result.solution)
    assert [reason.subject for reason in result.left_out] == ["w0-0", "w1-0"]
    assert "'m1' lacks 4 cpu" in result.left_out[0].text
    assert "0/2 machines could run it meanwhile" in result.left_out[0].text


def test_stopovers_can_be_forbidden():
    cluster = cluster_of([4, 4, 4], [4, 4], [1, 1])
    assert len(plan_of(migration_of(cluster, [0, 1], [1, 0]), stopovers=False).left_out) == 2


def test_a_workload_too_small_to_be_deleted_surges():
    cluster = cluster_of([4, 4], [2], [2])
    result = plan_of(migration_of(cluster, [0, 0], [0, 1]))
    assert result.solution == Plan(batches=((Step(Action.CREATE, 1, 1),), (Step(Action.DELETE, 1, 0),)))


def test_one_that_must_be_replaced_is_kept_by_the_alive_share():
    cluster = cluster_of([4, 4], [2], [2])
    result = plan_of(migration_of(cluster, [0, 0], [0, 1], way=(Way.REPLACE,)))
    assert [str(reason) for reason in result.left_out] == ["w0-1: stays on 'm0': 2 of 'w0' run, at least 2 must"]


def test_one_at_a_time_may_be_down_so_four_moves_take_eight_batches():
    cluster = cluster_of([8, 8], [1], [4])
    migration = migration_of(cluster, [0] * 4, [1] * 4, way=(Way.REPLACE,))
    sequence = StepSequence(RunningState(migration), move_units(migration, MigrateOptions()))
    assert least_batches(sequence) == 8
    assert plan_of(migration).score["batches"] == 8


@pytest.mark.parametrize("way", [Way.AUTO, Way.EITHER, Way.SURGE])
def test_four_moves_that_may_surge_take_two_batches(way):
    result = plan_of(migration_of(cluster_of([8, 8], [1], [4]), [0] * 4, [1] * 4, way=(way,)))
    assert (result.status, result.bound, result.score["batches"]) == (Status.OPTIMAL, 2, 2)


def test_auto_replaces_where_there_is_no_capacity_to_surge():
    result = plan_of(migration_of(cluster_of([4, 4], [1, 1], [4, 4]), [0] * 4 + [1] * 4, [1] * 4 + [0] * 4))
    assert result.left_out == () and result.score["surges"] == 0


def test_a_limit_of_steps_per_batch_is_in_the_bound():
    cluster = cluster_of([8, 8], [1], [8])
    migration = migration_of(cluster, [0] * 8, [1] * 8, alive=0.0, limits=StepLimits(batch=3))
    result = plan_of(migration)
    assert result.bound == 6
    assert max(map(len, result.solution.batches)) <= 3


def test_heavier_containers_move_in_later_batches():
    cluster = cluster_of([8, 8], [1, 1], [4, 4])
    weight = np.array([5.0] * 4 + [0.0] * 4)
    result = plan_of(migration_of(cluster, [0] * 8, [1] * 8, alive=0.0), weight=weight)
    batch_of = {step.container: n for n, batch in enumerate(result.solution.batches) for step in batch}
    assert max(batch_of[c] for c in range(4, 8)) < min(batch_of[c] for c in range(4))


def test_a_container_that_must_never_move_stays_and_says_so():
    cluster = cluster_of([8, 8], [1], [4])
    result = plan_of(migration_of(cluster, [0] * 4, [1] * 4), never=np.array([True, False, False, False]))
    assert [str(reason) for reason in result.left_out] == ["w0-0: stays on 'm0', as requested"]
    assert all(step.container != 0 for step in result.solution.steps())


def test_a_target_that_violates_a_rule_is_refused_with_its_sentence():
    result = plan_of(migration_of(cluster_of([2, 8], [2], [4]), [1] * 4, [0] * 4))
    assert result.status is Status.INFEASIBLE
    assert result.still_violated[0] == "machine 'm0': 8 cpu requested of 2 (6 too much)"


def test_a_target_no_worse_than_the_start_is_not_refused():
    cluster = cluster_of([2, 8], [2], [4])
    result = plan_of(migration_of(cluster, [0] * 4, [0, 0, 1, 1]))
    assert not result.left_out
    assert result.score["moves"] == 2


def test_new_containers_come_and_old_ones_end():
    cluster = cluster_of([2, 2], [2, 2], [1, 1])
    result = plan_of(migration_of(cluster, [0, UNPLACED], [UNPLACED, 0]))
    assert result.solution == Plan(batches=((Step(Action.DELETE, 0, 0),), (Step(Action.CREATE, 1, 0),)))
    assert result.score["moves"] == 0


def test_a_container_that_runs_twice_leaves_the_machine_that_is_not_its_target():
    cluster = cluster_of([4, 4], [2], [1])
    start = Running(machine_of=np.array([0]), second=np.array([1]))
    migration = Migration(cluster=cluster, start=start, target=Placement(machine_of=np.array([1])))
    assert plan_of(migration).solution == Plan(batches=((Step(Action.DELETE, 0, 0),),))


@pytest.mark.parametrize("done", [0, 1, 3, None])
def test_the_way_back_ends_where_the_plan_began(done):
    migration = backwards(3)
    plan = plan_of(migration).solution
    there = migration.start.after(Plan(batches=plan.batches[:done]))
    back = there.after(plan.inverse(done))
    assert (back.machine_of == migration.start.machine_of).all()
    assert not len(back.doubled)
