"""Plans carried out, with and without failures."""

import pytest
from tests.builders.plan_builders import create, delete, migration, plan
from tests.builders.tiny_clusters import on, tiny

from bayplan.check.migration.referee import judge
from bayplan.errors import ModelError
from bayplan.model import Capacity, Migration, Running, Terms, ints
from bayplan.model.outcome import Fate
from bayplan.operate.failures import CreateFails, DeleteFails, MachineDies, NeverEnds
from bayplan.operate.simulator import simulate

CLUSTER = tiny([[10]] * 3, [[4]], [4], rules=(Capacity(resources=(0,)),))
MOVE = migration(CLUSTER, [0, 0, 1, 1], [2, 0, 1, 2], alive=0.75)
PLAN = plan([create(0, 2), create(3, 2)], [delete(0, 0), delete(3, 1)])


def fates(outcome):
    return [event.fate.value for event in outcome.events]


def test_a_run_without_failures_ends_at_the_target():
    outcome = simulate(MOVE, PLAN)
    assert outcome.stopped is None
    assert outcome.why == ""
    assert outcome.running.machine_of.tolist() == [2, 0, 1, 2]
    assert len(outcome.running.doubled) == 0
    assert fates(outcome) == ["done"] * 4
    assert sorted(map(str, outcome.events))[0] == "batch 1: create 'w0-0' on machine 'm2' is done"


def test_the_seed_decides_the_order_inside_a_batch():
    orders = {tuple(event.step for event in simulate(MOVE, PLAN, seed=seed).events) for seed in range(20)}
    assert len(orders) == 4
    assert {frozenset(order[:2]) for order in orders} == {frozenset(PLAN.batches[0])}


def test_a_failed_create_stops_the_run_after_its_batch():
    outcome = simulate(MOVE, PLAN, [CreateFails(container=0)])
    assert outcome.stopped == 0
    assert outcome.failed == (create(0, 2),)
    assert outcome.running.machine_of.tolist() == [0, 0, 1, 1]
    assert outcome.running.second.tolist() == [-1, -1, -1, 2]
    assert outcome.why == "batch 1: create 'w0-0' on machine 'm2' failed"


@pytest.mark.parametrize(
    "failure", [CreateFails(container=0, machine=1), CreateFails(container=0, batch=1), DeleteFails(container=1)]
)
def test_failures_of_other_steps_do_nothing(failure):
    assert simulate(MOVE, PLAN, [failure]).stopped is None


def test_a_failed_delete_leaves_a_container_on_two_machines():
    outcome = simulate(MOVE, PLAN, [DeleteFails(container=3, machine=1, batch=1)])
    assert outcome.stopped == 1
    assert outcome.running.doubled.tolist() == [3]


def test_a_step_that_never_ends_is_not_done():
    outcome = simulate(MOVE, PLAN, [NeverEnds(container=0, batch=1)])
    assert Fate.HUNG in [event.fate for event in outcome.events]
    assert outcome.failed == (delete(0, 0),)
    assert outcome.why == "batch 2: delete 'w0-0' on machine 'm0' never ended"


def test_a_machine_takes_everything_down_with_it():
    outcome = simulate(MOVE, PLAN, [MachineDies(machine=2, batch=1)])
    assert outcome.stopped == 1
    assert outcome.dead == (2,)
    assert outcome.running.machine_of.tolist() == [-1, 0, 1, -1]  # the deletes of the batch were still made
    assert outcome.why == "batch 2: machine 'm2' died"


def test_steps_on_a_dead_machine_fail():
    outcome = simulate(MOVE, PLAN, [MachineDies(machine=2, batch=0)])
    assert set(outcome.failed) == {create(0, 2), create(3, 2)}
    assert outcome.why == "batch 1: machine 'm2' died (and 2 more)"


def test_a_create_fails_where_there_is_no_room():
    of = migration(CLUSTER, [0, 0, 1, 1], [1, 0, 1, 0])
    outcome = simulate(of, plan([create(0, 1)]))
    assert outcome.why == "batch 1: create 'w0-0' on machine 'm1' failed: it would need 12 r0 of 10"


def test_a_third_machine_is_refused():
    of = migration(CLUSTER, [0, -1, -1, -1], [1, -1, -1, -1])
    outcome = simulate(of, plan([create(0, 1)], [create(0, 2)]))
    assert outcome.why == "batch 2: create 'w0-0' on machine 'm2' failed: it runs on two machines"


def test_a_step_that_names_nothing_is_a_fault_of_the_caller():
    with pytest.raises(ModelError, match="machine 9"):
        simulate(MOVE, plan([create(0, 9)]))


# ---- the rest ------------------------------------------------------------------------------------------------------------------


def test_the_rest_starts_where_the_run_stopped_and_keeps_the_base_of_alive_shares():
    of = migration(CLUSTER, [0, 0, 1, 1], [2, 0, 1, 2], alive=0.75)
    outcome = simulate(of, plan([delete(0, 0)], [create(0, 2)]), [CreateFails(container=0)])
    rest = outcome.remaining(of)
    assert rest.cluster is of.cluster
    assert rest.start.machine_of.tolist() == [-1, 0, 1, 1]
    assert rest.after.machine_of.tolist() == [2, 0, 1, 2]
    assert rest.least_alive.tolist() == [3]
    assert [breach.rule for breach in judge(rest, plan([delete(3, 1)])).breaches] == ["alive"]
    assert judge(rest, plan([create(0, 2)], [delete(3, 1)], [create(3, 2)])).safe


def test_the_rest_of_a_rest_keeps_the_first_base():
    of = Migration(
        cluster=CLUSTER, start=Running.of(on(0, 0, -1, -1)), after=on(2, 0, 1, 2), terms=Terms(alive=1.0), whole=ints([4])
    )
    assert simulate(of, plan()).remaining(of).whole.tolist() == [4]


def test_a_dead_machine_has_no_capacity_and_is_nobodys_target():
    outcome = simulate(MOVE, PLAN, [MachineDies(machine=2, batch=0)])
    rest = outcome.remaining(MOVE)
    assert rest.cluster.machines.name == CLUSTER.machines.name
    assert rest.cluster.machines.capacity.tolist() == [[10], [10], [0]]
    assert outcome.stranded(MOVE).tolist() == [0, 3]
    assert rest.after.machine_of.tolist() == [0, 0, 1, 1]  # they stay where they run
    assert [breach.rule for breach in judge(rest, plan([create(0, 2)])).breaches] == ["capacity"]


def test_containers_that_a_dead_machine_took_down_come_back_at_their_target():
    outcome = simulate(MOVE, PLAN, [MachineDies(machine=1, batch=0)])
    rest = outcome.remaining(MOVE)
    assert outcome.running.machine_of.tolist() == [0, 0, -1, 2]
    assert outcome.stranded(MOVE).tolist() == [2]
    assert rest.after.machine_of.tolist() == [2, 0, -1, 2]  # container 2 has no place to go: it needs a new target


# ---- twice ---------------------------------------------------------------------------------------------------------------------


def again(of: Migration, running: Running) -> Migration:
    return Migration(cluster=of.cluster, start=running, after=of.after, terms=of.terms)


def test_the_second_time_nothing_happens():
    second = simulate(again(MOVE, simulate(MOVE, PLAN).running), PLAN)
    assert fates(second) == ["skipped"] * 4
    assert second.running.machine_of.tolist() == [2, 0, 1, 2]
    assert second.events[0].sentence.endswith("is so already")


def test_without_again_the_second_time_fails():
    second = simulate(again(MOVE, simulate(MOVE, PLAN).running), PLAN, again=False)
    assert second.stopped == 0
    assert fates(second) == ["failed"] * 2


STOPOVER = plan([create(0, 1)], [delete(0, 0)], [create(0, 2)], [delete(0, 1)])


def test_the_second_time_a_stopover_is_not_visited_again():
    of = migration(CLUSTER, [0, -1, -1, -1], [2, -1, -1, -1])
    first = simulate(of, STOPOVER)
    assert fates(first) == ["done"] * 4
    second = simulate(again(of, first.running), STOPOVER)
    assert fates(second) == ["skipped"] * 4


def test_a_run_that_stopped_goes_on_where_it_stopped():
    of = migration(CLUSTER, [0, -1, -1, -1], [2, -1, -1, -1])
    first = simulate(of, STOPOVER, [CreateFails(container=0, batch=2)])
    second = simulate(again(of, first.running), STOPOVER)
    assert fates(second) == ["skipped", "skipped", "done", "done"]
    assert second.running.machine_of.tolist() == [2, -1, -1, -1]


SWAP = migration(CLUSTER, [0, 0, 1, 1], [1, 0, 1, 0])  # 0 and 3 change places; 1 steps aside and comes back
ASIDE_AND_BACK = plan(
    [delete(1, 0)], [create(1, 2)], [create(3, 0)], [delete(3, 1)], [create(0, 1)], [delete(0, 0)], [delete(1, 2)], [create(1, 0)]
)


def test_a_container_that_steps_aside_and_comes_back_does_so_the_first_time_only():
    assert judge(SWAP, ASIDE_AND_BACK).safe
    first = simulate(SWAP, ASIDE_AND_BACK)
    assert fates(first) == ["done"] * 8
    assert fates(simulate(again(SWAP, first.running), ASIDE_AND_BACK)) == ["skipped"] * 8


@pytest.mark.parametrize("batch", range(8))
def test_a_run_that_stopped_anywhere_goes_on_there(batch):
    failures = [kind(container=c, batch=batch) for c in range(4) for kind in (CreateFails, DeleteFails)]
    first = simulate(SWAP, ASIDE_AND_BACK, failures)
    assert first.stopped == batch
    second = simulate(again(SWAP, first.running), ASIDE_AND_BACK)
    assert fates(second) == ["skipped"] * batch + ["done"] * (8 - batch)
    assert second.running.machine_of.tolist() == [1, 0, 1, 0]


def test_a_plan_that_comes_by_the_same_state_twice_goes_on_from_the_last_time():
    of = migration(CLUSTER, [0, 1, -1, -1], [0, -1, -1, -1])
    round_trip = plan([delete(0, 0)], [create(0, 2)], [delete(0, 2)], [create(0, 0)], [delete(1, 1)])
    assert fates(simulate(of, round_trip)) == ["skipped"] * 4 + ["done"]


def test_a_container_at_its_target_needs_no_step_even_off_its_trail():
    of = migration(CLUSTER, [2, -1, -1, -1], [2, -1, -1, -1])
    assert fates(simulate(of, plan([create(0, 1)], [delete(0, 0)]))) == ["skipped"] * 2
