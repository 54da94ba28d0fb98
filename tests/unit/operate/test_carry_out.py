"""Plans carried out, with and without failures."""

import pytest
from tests.builders.plan_builders import create, delete, migration, plan
from tests.builders.tiny_clusters import on, tiny

from bayplan.check import check_migration
from bayplan.errors import ModelError
from bayplan.model import Capacity, Migration, MigrationPolicy, Running, ints
from bayplan.operate.plan_simulation.execution import StepOutcome
from bayplan.operate.plan_simulation.failures import CreateFails, DeleteFails, MachineDies, StepHangs
from bayplan.operate.plan_simulation.simulator import carry_out

CLUSTER = tiny([[10]] * 3, [[4]], [4], rules=(Capacity(resources=(0,)),))
MOVE = migration(CLUSTER, [0, 0, 1, 1], [2, 0, 1, 2], alive=0.75)
PLAN = plan([create(0, 2), create(3, 2)], [delete(0, 0), delete(3, 1)])


def outcomes(execution):
    return [event.outcome.value for event in execution.events]


def test_a_run_without_failures_ends_at_the_target():
    execution = carry_out(MOVE, PLAN)
    assert execution.stopped is None
    assert execution.why == ""
    assert execution.running.machine_of.tolist() == [2, 0, 1, 2]
    assert len(execution.running.doubled) == 0
    assert outcomes(execution) == ["done"] * 4
    assert sorted(map(str, execution.events))[0] == "batch 1: create 'w0-0' on machine 'm2' is done"


def test_the_seed_decides_the_order_inside_a_batch():
    orders = {tuple(event.step for event in carry_out(MOVE, PLAN, seed=seed).events) for seed in range(20)}
    assert len(orders) == 4
    assert {frozenset(order[:2]) for order in orders} == {frozenset(PLAN.batches[0])}


def test_a_failed_create_stops_the_run_after_its_batch():
    execution = carry_out(MOVE, PLAN, [CreateFails(container=0)])
    assert execution.stopped == 0
    assert execution.failed == (create(0, 2),)
    assert execution.running.machine_of.tolist() == [0, 0, 1, 1]
    assert execution.running.second.tolist() == [-1, -1, -1, 2]
    assert execution.why == "batch 1: create 'w0-0' on machine 'm2' failed"


@pytest.mark.parametrize(
    "failure", [CreateFails(container=0, machine=1), CreateFails(container=0, batch=1), DeleteFails(container=1)]
)
def test_failures_of_other_steps_do_nothing(failure):
    assert carry_out(MOVE, PLAN, [failure]).stopped is None


def test_a_failed_delete_leaves_a_container_on_two_machines():
    execution = carry_out(MOVE, PLAN, [DeleteFails(container=3, machine=1, batch=1)])
    assert execution.stopped == 1
    assert execution.running.doubled.tolist() == [3]


def test_a_step_that_never_ends_is_not_done():
    execution = carry_out(MOVE, PLAN, [StepHangs(container=0, batch=1)])
    assert StepOutcome.HUNG in [event.outcome for event in execution.events]
    assert execution.failed == (delete(0, 0),)
    assert execution.why == "batch 2: delete 'w0-0' on machine 'm0' never ended"


def test_a_machine_takes_everything_down_with_it():
    execution = carry_out(MOVE, PLAN, [MachineDies(machine=2, batch=1)])
    assert execution.stopped == 1
    assert execution.dead == (2,)
    assert execution.running.machine_of.tolist() == [-1, 0, 1, -1]  # the deletes of the batch were still made
    assert execution.why == "batch 2: machine 'm2' died"


def test_steps_on_a_dead_machine_fail():
    execution = carry_out(MOVE, PLAN, [MachineDies(machine=2, batch=0)])
    assert set(execution.failed) == {create(0, 2), create(3, 2)}
    assert execution.why == "batch 1: machine 'm2' died (and 2 more)"


def test_a_create_fails_where_it_does_not_fit():
    of = migration(CLUSTER, [0, 0, 1, 1], [1, 0, 1, 0])
    execution = carry_out(of, plan([create(0, 1)]))
    assert execution.why == "batch 1: create 'w0-0' on machine 'm1' failed: it would need 12 r0 of 10"


def test_a_third_machine_is_refused():
    of = migration(CLUSTER, [0, -1, -1, -1], [1, -1, -1, -1])
    execution = carry_out(of, plan([create(0, 1)], [create(0, 2)]))
    assert execution.why == "batch 2: create 'w0-0' on machine 'm2' failed: it runs on two machines"


def test_a_step_that_names_nothing_is_a_fault_of_the_caller():
    with pytest.raises(ModelError, match="machine 9"):
        carry_out(MOVE, plan([create(0, 9)]))


# ---- what remains ----


def test_what_remains_starts_where_the_run_stopped_and_keeps_the_base_of_alive_shares():
    of = migration(CLUSTER, [0, 0, 1, 1], [2, 0, 1, 2], alive=0.75)
    execution = carry_out(of, plan([delete(0, 0)], [create(0, 2)]), [CreateFails(container=0)])
    left = execution.remaining(of)
    assert left.cluster is of.cluster
    assert left.start.machine_of.tolist() == [-1, 0, 1, 1]
    assert left.target.machine_of.tolist() == [2, 0, 1, 2]
    assert left.least_alive.tolist() == [3]
    assert [violation.rule for violation in check_migration(left, plan([delete(3, 1)])).violations] == ["alive"]
    assert check_migration(left, plan([create(0, 2)], [delete(3, 1)], [create(3, 2)])).safe


def test_what_remains_of_a_remainder_keeps_the_first_base():
    of = Migration(
        cluster=CLUSTER,
        start=Running.of(on(0, 0, -1, -1)),
        target=on(2, 0, 1, 2),
        policy=MigrationPolicy(alive=1.0),
        full_size=ints([4]),
    )
    assert carry_out(of, plan()).remaining(of).full_size.tolist() == [4]


def test_a_dead_machine_has_no_capacity_and_is_no_target():
    execution = carry_out(MOVE, PLAN, [MachineDies(machine=2, batch=0)])
    left = execution.remaining(MOVE)
    assert left.cluster.machines.name == CLUSTER.machines.name
    assert left.cluster.machines.capacity.tolist() == [[10], [10], [0]]
    assert MOVE.stranded(execution.dead).tolist() == [0, 3]
    assert left.target.machine_of.tolist() == [0, 0, 1, 1]  # they stay where they run
    assert [violation.rule for violation in check_migration(left, plan([create(0, 2)])).violations] == ["capacity"]


def test_containers_that_a_dead_machine_took_down_come_back_at_their_target():
    execution = carry_out(MOVE, PLAN, [MachineDies(machine=1, batch=0)])
    left = execution.remaining(MOVE)
    assert execution.running.machine_of.tolist() == [0, 0, -1, 2]
    assert MOVE.stranded(execution.dead).tolist() == [2]
    assert left.target.machine_of.tolist() == [2, 0, -1, 2]  # container 2 has no target left: it needs a new target


# ---- twice ----


def again(of: Migration, running: Running) -> Migration:
    return Migration(cluster=of.cluster, start=running, target=of.target, policy=of.policy)


def test_the_second_time_nothing_happens():
    second = carry_out(again(MOVE, carry_out(MOVE, PLAN).running), PLAN)
    assert outcomes(second) == ["skipped"] * 4
    assert second.running.machine_of.tolist() == [2, 0, 1, 2]
    assert second.events[0].sentence.endswith("is so already")


def test_without_again_the_second_time_fails():
    second = carry_out(again(MOVE, carry_out(MOVE, PLAN).running), PLAN, again=False)
    assert second.stopped == 0
    assert outcomes(second) == ["failed"] * 2


STOPOVER = plan([create(0, 1)], [delete(0, 0)], [create(0, 2)], [delete(0, 1)])


def test_the_second_time_a_stopover_is_not_visited_again():
    of = migration(CLUSTER, [0, -1, -1, -1], [2, -1, -1, -1])
    first = carry_out(of, STOPOVER)
    assert outcomes(first) == ["done"] * 4
    second = carry_out(again(of, first.running), STOPOVER)
    assert outcomes(second) == ["skipped"] * 4


def test_a_run_that_stopped_goes_on_where_it_stopped():
    of = migration(CLUSTER, [0, -1, -1, -1], [2, -1, -1, -1])
    first = carry_out(of, STOPOVER, [CreateFails(container=0, batch=2)])
    second = carry_out(again(of, first.running), STOPOVER)
    assert outcomes(second) == ["skipped", "skipped", "done", "done"]
    assert second.running.machine_of.tolist() == [2, -1, -1, -1]


SWAP = migration(CLUSTER, [0, 0, 1, 1], [1, 0, 1, 0])  # 0 and 3 swap machines; 1 makes a stopover and comes back
STOPOVER_AND_BACK = plan(
    [delete(1, 0)], [create(1, 2)], [create(3, 0)], [delete(3, 1)], [create(0, 1)], [delete(0, 0)], [delete(1, 2)], [create(1, 0)]
)


def test_a_container_that_makes_a_stopover_and_comes_back_does_so_the_first_time_only():
    assert check_migration(SWAP, STOPOVER_AND_BACK).safe
    first = carry_out(SWAP, STOPOVER_AND_BACK)
    assert outcomes(first) == ["done"] * 8
    assert outcomes(carry_out(again(SWAP, first.running), STOPOVER_AND_BACK)) == ["skipped"] * 8


@pytest.mark.parametrize("batch", range(8))
def test_a_run_that_stopped_anywhere_goes_on_there(batch):
    failures = [kind(container=c, batch=batch) for c in range(4) for kind in (CreateFails, DeleteFails)]
    first = carry_out(SWAP, STOPOVER_AND_BACK, failures)
    assert first.stopped == batch
    second = carry_out(again(SWAP, first.running), STOPOVER_AND_BACK)
    assert outcomes(second) == ["skipped"] * batch + ["done"] * (8 - batch)
    assert second.running.machine_of.tolist() == [1, 0, 1, 0]


def test_a_plan_that_comes_by_the_same_state_twice_goes_on_from_the_last_time():
    of = migration(CLUSTER, [0, 1, -1, -1], [0, -1, -1, -1])
    round_trip = plan([delete(0, 0)], [create(0, 2)], [delete(0, 2)], [create(0, 0)], [delete(1, 1)])
    assert outcomes(carry_out(of, round_trip)) == ["skipped"] * 4 + ["done"]


def test_a_container_at_its_target_needs_no_step_even_on_a_machine_that_no_step_names():
    of = migration(CLUSTER, [2, -1, -1, -1], [2, -1, -1, -1])
    assert outcomes(carry_out(of, plan([create(0, 1)], [delete(0, 0)]))) == ["skipped"] * 2
