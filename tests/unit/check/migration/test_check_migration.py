"""Plans made by hand: which are safe, which are not, and what the referee reports."""

from dataclasses import replace

import numpy as np
import pytest
from tests.builders.plan_builders import create, delete, migration, plan, sentences, sentences_of
from tests.builders.tiny_clusters import on, tiny

from bayplan.check import check_migration
from bayplan.model import (
    Allow,
    AntiAffinity,
    Capacity,
    Confidence,
    Dependency,
    Interference,
    Migration,
    MigrationPolicy,
    Pinned,
    Running,
    Spread,
    Transient,
    TransientMode,
    Way,
    ints,
)

CAPACITY = Capacity(resources=(0,))
SEQUENTIAL = Transient(resource=0, mode=TransientMode.SEQUENTIAL)
JOINT = Transient(resource=0, mode=TransientMode.JOINT)


# ---- Figure 2 of [FreeContainer]: A1 20 %, B1 20 %, C1 30 % on server 1; A2 50 %, B2 50 % on server 2; C2 40 % on server 3 ----

A1, B1, C1, A2, B2, C2 = range(6)


def figure_2() -> Migration:
    """A1 goes to server 2, C1 to server 3, B2 to server 1: then every server is at 70 %."""
    rules = (CAPACITY, SEQUENTIAL)
    cluster = tiny([[100], [100], [100]], [[20], [20], [30], [50], [50], [40]], [1] * 6, rules=rules)
    return migration(cluster, [0, 0, 0, 1, 1, 2], [1, 0, 2, 1, 0, 2], way=(Way.SURGE,) * 6)


def test_figure_2_at_once_is_unsafe():
    creates, deletes = [create(C1, 2), create(B2, 0), create(A1, 1)], [delete(C1, 0), delete(B2, 1), delete(A1, 0)]
    checked = check_migration(figure_2(), plan(creates, deletes))
    assert checked.arrived
    assert not checked.safe
    assert sentences_of(checked) == [
        "batch 1: machine 'm0' would need 120 r0 of 100 while its steps run",
        "batch 1: machine 'm1' would need 120 r0 of 100 while its steps run",
        "batch 1: machine 'm0' would be charged 120 r0 of 100 while its steps run",
        "batch 1: machine 'm1' would be charged 120 r0 of 100 while its steps run",
    ]


def test_figure_2_in_order_is_safe_and_arrives():
    moves = [(C1, 0, 2), (B2, 1, 0), (A1, 0, 1)]
    checked = check_migration(figure_2(), plan(*([step] for c, old, new in moves for step in (create(c, new), delete(c, old)))))
    assert sentences_of(checked) == []
    assert checked.safe
    assert checked.arrived
    assert [batch.doubled for batch in checked.batches] == [1, 0] * 3
    assert checked.peak == 1.0
    assert checked.least_alive == 1.0


def test_figure_2_by_delete_first_is_no_way_around_the_transient_rule():
    """While B2 is down it still holds its half of server 2, so A1 does not fit there."""
    of = figure_2()
    free = Migration(cluster=of.cluster, start=of.start, target=of.target, policy=MigrationPolicy(alive=0.0))
    batches = [[delete(C1, 0), delete(B2, 1)], [create(A1, 1)]]
    assert sentences(free, *batches) == ["batch 2: machine 'm1' would be charged 120 r0 of 100 while its steps run"]


# ---- capacity and transient ----


def test_a_machine_is_charged_for_what_is_being_deleted_in_the_same_batch():
    cluster = tiny([[10], [10]], [[6], [6]], [1, 1], rules=(CAPACITY,))
    of = migration(cluster, [0, 1], [1, 0])
    assert sentences(of, [delete(0, 0)], [delete(1, 1), create(0, 1)]) == [
        "batch 2: machine 'm1' would need 12 r0 of 10 while its steps run"
    ]
    assert sentences(of, [delete(0, 0)], [delete(1, 1)], [create(0, 1), create(1, 0)]) == []


def test_amounts_are_written_in_units():
    cluster = tiny([[1000], [1000]], [[600], [900]], [1, 1], rules=(CAPACITY,), scale=1000)
    assert sentences(migration(cluster, [0, 1], [1, -1]), [create(0, 1)]) == [
        "batch 1: machine 'm1' would need 1.5 r0 of 1 while its steps run"
    ]


def test_a_resource_without_a_capacity_rule_is_free():
    cluster = tiny([[1], [1]], [[6]], [1])
    assert sentences(migration(cluster, [0], [1]), [create(0, 1)], [delete(0, 0)]) == []


def test_a_machine_may_be_as_full_as_at_the_worse_end_and_no_fuller():
    cluster = tiny([[10], [10]], [[6]], [3], rules=(CAPACITY,))
    of = migration(cluster, [0, 0, 1], [0, 1, 0])
    swap = [[delete(1, 0)], [create(2, 0)], [delete(2, 1)], [create(1, 1)]]
    assert sentences(of, *swap) == []
    assert sentences(of, [create(2, 0)]) == [
        "batch 1: machine 'm0' would need 18 r0 of 10 (12 at the worse end) while its steps run"
    ]


def test_sequential_charges_both_machines_from_the_delete_to_the_create():
    cluster = tiny([[10], [10], [10]], [[6], [6]], [1, 1], rules=(SEQUENTIAL,))
    of = migration(cluster, [0, 1], [2, 0])
    early = [[delete(0, 0), delete(1, 1)], [create(1, 0), create(0, 2)]]
    charged = "machine 'm0' would be charged 12 r0 of 10 while its steps run"
    assert sentences(of, *early) == [f"batch 1: {charged}", f"batch 2: {charged}"]
    assert sentences(of, [delete(0, 0), delete(1, 1)], [create(0, 2)], [create(1, 0)]) == [
        f"batch 1: {charged}",
        f"batch 2: {charged}",
    ]
    assert sentences(of, [delete(0, 0)], [create(0, 2)], [delete(1, 1)], [create(1, 0)]) == []


def test_sequential_a_container_that_is_to_be_deleted_frees_its_machine_with_its_delete():
    cluster = tiny([[10], [10]], [[6], [6]], [1, 1], rules=(SEQUENTIAL,))
    assert sentences(migration(cluster, [0, 1], [-1, 0]), [delete(0, 0)], [create(1, 0)]) == []
    assert sentences(migration(cluster, [0, 1], [1, 0]), [delete(0, 0)], [create(1, 0)]) != []


def test_sequential_a_container_that_comes_back_is_charged_once():
    cluster = tiny([[10]], [[6]], [1], rules=(SEQUENTIAL,))
    assert sentences(migration(cluster, [0], [0]), [delete(0, 0)], [create(0, 0)]) == []


def test_joint_frees_nothing_before_the_end():
    cluster = tiny([[10], [10], [10]], [[6], [6]], [1, 1], rules=(JOINT,))
    of = migration(cluster, [0, 1], [2, 0])
    slow = [[create(0, 2)], [delete(0, 0)], [create(1, 0)], [delete(1, 1)]]
    assert sentences(of, *slow) == ["batch 3: machine 'm0' would be charged 12 r0 of 10 while its steps run"]
    assert sentences(migration(cluster, [0, 1], [2, 1]), *slow[:2]) == []


def test_joint_charges_a_container_once_per_machine():
    cluster = tiny([[10], [10]], [[6]], [1], rules=(JOINT,))
    there_and_back = [[create(0, 1)], [delete(0, 0)], [create(0, 0)], [delete(0, 1)], [create(0, 1)]]
    assert sentences(migration(cluster, [0], [1]), *there_and_back) == []


def test_confidence_counts_means_and_deviations_of_all_that_may_run():
    cluster = tiny(
        [[10], [10]], [[4], [4]], [1, 1], mean=[[4.0], [4.0]], std=[[0.5], [0.5]], rules=(Confidence(resource=0, alpha=0.999),)
    )
    of = migration(cluster, [0, 1], [1, -1])
    assert sentences(of, [create(0, 1)]) == ["batch 1: machine 'm1' would need 10.1851 r0 at 0.999 of 10 while its steps run"]
    assert sentences(of, [delete(1, 1)], [create(0, 1)]) == []


# ---- what may run together ----


def test_anti_affinity_counts_a_surging_container_twice_in_its_rack():
    cluster = tiny([[9], [9]], [[1]], [1], racks=[0, 0], rules=(AntiAffinity(workloads=(0,), limit=1, level=1),))
    of = migration(cluster, [0], [1])
    assert sentences(of, [create(0, 1)]) == ["batch 1: 2 containers of 'w0' would run in rack 'k0', at most 1 allowed"]
    assert sentences(of, [delete(0, 0)], [create(0, 1)]) == []


def test_anti_affinity_may_be_violated_as_at_the_worse_end():
    cluster = tiny([[9], [9]], [[1]], [3], rules=(AntiAffinity(workloads=(0,), limit=1),))
    of = migration(cluster, [0, 0, 1], [1, 0, 0])
    assert sentences(of, [delete(0, 0)], [create(2, 0)]) == []
    assert sentences(of, [create(2, 0)]) == ["batch 1: 3 containers of 'w0' would run on machine 'm0', at most 2 allowed"]


def test_interference_is_checked_for_what_comes_and_for_what_is_there():
    cluster = tiny([[9], [9]], [[1], [1]], [1, 1], rules=(Interference(a=0, b=1, limit=0),))
    expected = ["batch 1: 1 container of 'w1' would run on machine 'm1' where 'w0' runs, at most 0 allowed"]
    assert sentences(migration(cluster, [0, 1], [1, -1]), [create(0, 1)]) == expected
    assert sentences(migration(cluster, [1, 0], [-1, 1]), [create(1, 1)]) == expected
    assert sentences(migration(cluster, [0, 1], [1, -1]), [delete(1, 1)], [create(0, 1)]) == []


def test_interference_of_a_workload_with_itself():
    cluster = tiny([[9], [9]], [[1]], [2], rules=(Interference(a=0, b=0, limit=1),))
    assert sentences(migration(cluster, [0, 1], [1, 0]), [create(0, 1)]) == [
        "batch 1: 2 containers of 'w0' would run on machine 'm1' where 'w0' runs, at most 1 allowed"
    ]


def test_allow_names_the_set():
    cluster = tiny([[9], [9], [9]], [[1], [1]], [1, 1])
    cluster = replace(cluster, machine_sets={"ssd": ints([0, 1])}, rules=(Allow(workloads=(0,), machines="ssd"),))
    of = migration(cluster, [0, 0], [1, 1])
    assert sentences(of, [create(0, 2)]) == ["batch 1: 'w0' would run on machine 'm2', which is not in set 'ssd'"]
    assert sentences(of, [create(1, 2), create(0, 1)]) == []
    back = migration(cluster, [0, 0], [2, 0])  # the target violates the rule there: so may the steps
    assert sentences(back, [create(0, 2)]) == []


# ---- services ----


def test_spread_is_checked_without_what_is_being_deleted():
    cluster = tiny([[9]] * 3, [[1]], [3], rules=(Spread(service=0, minimum=2),))
    of = migration(cluster, [0, 0, 1], [0, 0, 2])
    assert sentences(of, [delete(2, 1)]) == [
        "batch 1: 2 containers of service 's0' would run in 1 machine, at least 2 machines needed"
    ]
    assert sentences(of, [create(2, 2)], [delete(2, 1)]) == []


def test_spread_needs_no_more_groups_than_at_the_ends_nor_than_containers_run():
    cluster = tiny([[9]] * 3, [[1]], [2], rules=(Spread(service=0, minimum=2),))
    assert sentences(migration(cluster, [0, 1], [0, 2]), [delete(1, 1)], [create(1, 2)]) == []
    assert sentences(migration(cluster, [0, 1], [0, 0]), [create(1, 0)], [delete(1, 1)]) == []


def test_spread_is_violated_by_a_create_that_brings_a_container_but_no_group():
    cluster = tiny([[9]] * 3, [[1]], [2], rules=(Spread(service=0, minimum=2),))
    of = migration(cluster, [0, 1], [0, 2])
    assert sentences(of, [delete(1, 1)], [create(1, 0)]) == [
        "batch 2: 2 containers of service 's0' would run in 1 machine, at least 2 machines needed"
    ]


def test_spread_is_violated_if_a_new_group_may_fill_before_the_other():
    cluster = tiny([[9]] * 3, [[1]], [3], rules=(Spread(service=0, minimum=2),))
    of = migration(cluster, [0, 1, 2], [0, 0, 1])
    down = [delete(0, 0), delete(1, 1), delete(2, 2)]
    assert sentences(of, down, [create(0, 0), create(1, 0), create(2, 1)]) == [
        "batch 2: 2 containers of service 's0' would run in 1 machine, at least 2 machines needed"
    ]
    assert sentences(of, down, [create(0, 0), create(2, 1)], [create(1, 0)]) == []


def test_dependency_needs_one_that_stays_for_every_one_that_may_come():
    rules = (Dependency(service=0, on=1, level=1),)
    cluster = tiny([[9]] * 3, [[1], [1]], [1, 2], racks=[0, 1, 1], rules=rules)
    of = migration(cluster, [0, 0, 1], [1, 0, 1])
    assert sentences(of, [delete(2, 1), create(0, 1)]) == [
        "batch 1: 1 container of service 's0' would run in rack 'k1' without one of service 's1'"
    ]
    assert sentences(of, [delete(2, 1)], [create(2, 2)], [create(0, 1)]) == []


# ---- alive, ways, pins, limits ----


def test_three_of_four_must_stay_alive():
    cluster = tiny([[9]] * 2, [[1]], [4])
    of = migration(cluster, [0] * 4, [1] * 4, alive=0.75)
    assert sentences(of, [delete(0, 0), delete(1, 0)]) == [
        "batch 1: 2 containers of 'w0' would run while its steps do, at least 3 needed"
    ]
    checked = check_migration(of, plan([delete(0, 0)], [create(0, 1)], [create(1, 1)], [delete(1, 0)]))
    assert checked.safe
    assert [batch.least_alive for batch in checked.batches] == [0.75, 0.75, 1.0, 1.0]
    assert checked.least_workload == 0


def test_a_create_of_the_same_batch_does_not_keep_a_workload_alive():
    cluster = tiny([[9]] * 2, [[1]], [2])
    of = migration(cluster, [0, -1], [-1, 1], alive=1.0)
    grown = Migration(cluster=cluster, start=of.start, target=of.target, policy=of.policy, full_size=ints([1]))
    assert sentences(grown, [delete(0, 0), create(1, 1)]) == [
        "batch 1: 0 containers of 'w0' would run while its steps do, at least 1 needed"
    ]
    assert sentences(grown, [create(1, 1)], [delete(0, 0)]) == []


def test_the_way_of_a_workload_is_kept():
    cluster = tiny([[9]] * 2, [[1], [1]], [1, 1])
    of = migration(cluster, [0, 0], [1, 1], way=(Way.REPLACE, Way.SURGE))
    assert sentences(of, [create(0, 1)], [delete(0, 0)]) == [
        "batch 1: 'w0-0' would run on machine 'm1', too, but its way is to replace"
    ]
    assert sentences(of, [delete(1, 0)], [create(1, 1)]) == [
        "batch 1: 'w1-0' would be down after its delete on machine 'm0', but its way is to surge"
    ]
    assert sentences(of, [delete(0, 0), create(1, 1)], [create(0, 1), delete(1, 0)]) == []


@pytest.mark.parametrize("way", [Way.AUTO, Way.EITHER])
def test_other_ways_permit_both_orders(way):
    cluster = tiny([[9]] * 2, [[1]], [2])
    of = migration(cluster, [0, 0], [1, 1], way=(way,))
    assert sentences(of, [create(0, 1), delete(1, 0)], [delete(0, 0), create(1, 1)]) == []


def test_a_surging_container_that_is_to_be_deleted_may_go_down():
    cluster = tiny([[9]], [[1]], [1])
    assert sentences(migration(cluster, [0], [-1], way=(Way.SURGE,)), [delete(0, 0)]) == []


def test_pinned_containers_do_not_move_but_may_begin():
    cluster = tiny([[9]] * 2, [[1]], [2], rules=(Pinned(containers=(0,)),))
    assert sentences(migration(cluster, [0, 0], [1, 1]), [create(0, 1)], [delete(0, 0)]) == [
        "batch 1: 'w0-0' is pinned and would be created on machine 'm1'",
        "batch 2: 'w0-0' is pinned and would be deleted on machine 'm0'",
    ]
    assert sentences(migration(cluster, [-1, 0], [1, 1]), [create(0, 1), create(1, 1)]) == []


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"batch": 2}, "batch 1: 3 steps at the same time, at most 2 allowed"),
        ({"machine": 1}, "batch 1: 2 steps on machine 'm1' at the same time, at most 1 allowed"),
        ({"service": 1}, "batch 1: 2 steps of service 's0' at the same time, at most 1 allowed"),
        ({"group": 2, "level": 1}, "batch 1: 3 steps in rack 'k0' at the same time, at most 2 allowed"),
    ],
)
def test_limits_are_kept(limits, sentence):
    cluster = tiny([[9]] * 4, [[1], [1]], [2, 1], racks=[0, 0, 0, 1])
    steps = [create(0, 1), create(1, 1), create(2, 2)]
    assert sentences(migration(cluster, [0, 0, 0], [1, 1, 2], limits=limits), steps) == [sentence]
    assert sentences(migration(cluster, [0, 0, 0], [1, 1, 2], limits={**limits, next(iter(limits)): 3}), steps) == []


# ---- steps that cannot be made ----


@pytest.mark.parametrize(
    ("batches", "sentence"),
    [
        ([[delete(0, 1)]], "batch 1: 'w0-0' is to be deleted on machine 'm1', where it does not run"),
        ([[create(0, 0)]], "batch 1: 'w0-0' is to be created on machine 'm0', where it runs already"),
        ([[create(0, 1)], [create(0, 2)]], "batch 2: 'w0-0' is to be created on machine 'm2', a third one"),
        ([[create(0, 1), delete(0, 0)]], "batch 1: 'w0-0' has 2 steps at the same time, at most 1 allowed"),
        ([[create(7, 1)]], "batch 1: a step names container 7 and machine 1; there is no such pair"),
        ([[create(0, -1)]], "batch 1: a step names container 0 and machine -1; there is no such pair"),
    ],
)
def test_steps_that_cannot_be_made_are_reported(batches, sentence):
    cluster = tiny([[9]] * 3, [[1]], [1])
    checked = check_migration(migration(cluster, [0], [1]), plan(*batches))
    assert sentences_of(checked) == [sentence]
    assert checked.violations[0].rule == "step"


def test_both_steps_of_a_container_in_one_batch_are_made():
    cluster = tiny([[9]] * 3, [[1]], [1])
    checked = check_migration(migration(cluster, [0], [1], alive=1.0), plan([create(0, 1), delete(0, 0)]))
    assert checked.arrived
    assert [violation.rule for violation in checked.violations] == ["step", "alive"]


# ---- batch summaries ----


def test_the_summary_counts_steps_stopovers_and_doubled_containers():
    cluster = tiny([[10], [10], [0]], [[4]], [2])
    of = migration(cluster, [0, 1], [1, -1])
    checked = check_migration(of, plan([create(0, 2), delete(1, 1)], [delete(0, 0)], [create(0, 1)]))
    first, second, third = checked.batches
    assert (first.steps, first.creates, first.deletes, first.stopovers, first.doubled) == (2, 1, 1, 1, 1)
    assert (second.stopovers, second.doubled, third.stopovers, third.doubled) == (0, 0, 0, 1)
    assert checked.stopovers == 1
    assert [batch.peak for batch in checked.batches] == [0.4, 0.4, 0.4]
    assert checked.not_arrived.tolist() == [0]  # it still runs on the third machine
    assert not checked.arrived


def test_coming_back_to_the_start_is_no_stopover():
    cluster = tiny([[10], [10]], [[4]], [1])
    checked = check_migration(migration(cluster, [0], [1]), plan([create(0, 1)], [delete(0, 0)], [create(0, 0)], [delete(0, 1)]))
    assert checked.stopovers == 0
    assert checked.not_arrived.tolist() == [0]


def test_under_an_empty_plan_what_had_to_move_does_not_arrive():
    cluster = tiny([[10], [10]], [[4]], [2])
    checked = check_migration(migration(cluster, [0, 0], [0, 1]), plan())
    assert checked.safe
    assert checked.not_arrived.tolist() == [1]
    assert (checked.peak, checked.least_alive, checked.least_workload) == (0.8, 1.0, -1)


def test_a_start_in_the_middle_of_a_surge_is_finished_by_one_delete():
    cluster = tiny([[10], [10]], [[4]], [1], rules=(CAPACITY,))
    of = Migration(cluster=cluster, start=Running(machine_of=[0], second=[1]), target=on(1), policy=MigrationPolicy(alive=1.0))
    checked = check_migration(of, plan([delete(0, 0)]))
    assert checked.safe
    assert checked.arrived
    assert np.array_equal(checked.running.machine_of, [1])
