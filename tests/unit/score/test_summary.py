import numpy as np
import pytest
from tests.builders.tiny_clusters import on, tiny

from bayplan.model import Capacity, Confidence, Objective, Placement, Snapshot, Term
from bayplan.score import containers_on, loads, resource_use, score, summarise, utilisation_cost, weighted
from bayplan.score.utilisation import mean_of_top


@pytest.mark.parametrize(("machines", "percent", "counted"), [(100, 1, 1), (101, 1, 2), (101, 5, 6), (30, 10, 3)])
def test_the_top_is_rounded_up_to_whole_machines(machines, percent, counted):
    shuffled = np.random.default_rng(0).permutation(machines).astype(float)
    assert mean_of_top(shuffled, percent) == np.arange(machines)[-counted:].mean()


def test_the_top_is_at_least_one_machine():
    assert mean_of_top(np.array([0.2, 0.9, 0.4]), 1) == 0.9


def test_loads_are_exact_beyond_what_floats_hold():
    cluster = tiny([[2**62]], [[2**53 + 1]], [3])
    assert loads(cluster, on(0, 0, 0)).tolist() == [[3 * (2**53 + 1)]]


def test_resource_use_leaves_out_machines_without_the_resource():
    cluster = tiny([[10, 0], [10, 4]], [[5, 0], [0, 2]], [1, 1])
    cpu, gpu = resource_use(cluster, on(0, 1))
    assert (cpu.mean, cpu.maximum, cpu.load, cpu.capacity) == (0.25, 0.5, 5, 20)
    assert (gpu.mean, gpu.p50, gpu.top1, gpu.capacity) == (0.5, 0.5, 0.5, 4)


def test_scores_that_do_not_apply_are_absent():
    cluster = tiny([[9]], [[1]], [1])
    assert set(score(cluster, on(0))) == {"utilisation", "balance", "communication", "total", "overload", "machines"}


def test_scores_that_apply_are_there():
    cluster = tiny([[9]] * 2, [[1], [1]], [1, 1], edges=[(0, 1, 1.0)], rules=(Confidence(resource=0, alpha=0.9),))
    scores = score(cluster, on(0, 1), Objective.default(cluster), on(0, 0))
    assert (scores["affinity"], scores["moves"], scores["ucac"], scores["machines"]) == (0.0, 1, 2.0, 2)


def test_a_total_without_weights_is_not_given():
    cluster = tiny([[9]], [[1]], [1])
    assert "total" not in score(cluster, on(0), Objective.default(cluster).with_weights({Term.AFFINITY: 1.0}))


def test_affinity_is_a_gain_and_moves_are_a_cost():
    cluster = tiny([[9]] * 2, [[1], [1]], [1, 1], edges=[(0, 1, 1.0)])
    objective = Objective.default(cluster).with_weights({Term.AFFINITY: 10.0, Term.MOVES: 1.0})
    assert weighted(cluster, on(0, 1), objective, on(0, 1)) == 0.0
    assert weighted(cluster, on(0, 0), objective, on(0, 1)) == -9.0


def test_a_summary_names_the_hottest_machines_first():
    cluster = tiny([[10, 10]] * 3, [[4, 1], [1, 9]], [2, 1], safety=[[5, 10]] * 3, rules=(Capacity(resources=(0, 1)),))
    summary = summarise(Snapshot(cluster=cluster, placement=on(0, 0, 2), objective=Objective.default(cluster)), hot=2)
    assert [(hot.machine, hot.resource, hot.over_safety, hot.containers) for hot in summary.hot] == [
        ("m2", "r1", False, 1),
        ("m0", "r0", True, 2),
    ]
    assert summary.counts == {
        "machines": 3,
        "machines_used": 2,
        "services": 2,
        "workloads": 2,
        "containers": 3,
        "unplaced": 0,
        "edges": 0,
        "rules": 1,
    }
    assert set(summary.normalised) == {"utilisation", "balance", "communication"}


def test_nothing_placed_is_a_state_too():
    cluster = tiny([[9], [0]], [[1], [1]], [2, 2], edges=[(0, 1, 1.0)], clique=[1.0, 1.0])
    summary = summarise(Snapshot(cluster=cluster, placement=Placement.empty(4), objective=Objective.default(cluster)))
    assert summary.score["machines"] == summary.score["communication"] == 0
    assert containers_on(cluster, Placement.empty(4)).tolist() == [0, 0]
    assert [hot.machine for hot in summary.hot] == ["m0"]  # m1 has nothing that could be hot


def test_a_machine_that_runs_what_it_has_none_of_is_the_hottest():
    cluster = tiny([[10, 0], [10, 4], [10, 0]], [[9, 0], [1, 2]], [1, 1])
    snapshot = Snapshot(cluster=cluster, placement=on(1, 0), objective=Objective.default(cluster))
    summary = summarise(snapshot)
    hot = summary.hot[0]
    assert (hot.machine, hot.resource, hot.load, hot.capacity, hot.utilisation) == ("m0", "r1", 2, 0, float("inf"))
    assert [hot.over_capacity for hot in summary.hot] == [True, False, False]
    cpu, gpu = summary.use
    assert (cpu.maximum, cpu.over_capacity) == (0.9, 0)
    assert (gpu.maximum, gpu.over_capacity, gpu.mean, gpu.top1) == (float("inf"), 1, 0.0, 0.0)


def test_one_unit_too_much_is_over_capacity_even_where_floats_do_not_see_it():
    cluster = tiny([[2**60]], [[2**60 + 1]], [1])
    (hot,) = summarise(Snapshot(cluster=cluster, placement=on(0), objective=Objective.default(cluster))).hot
    assert hot.utilisation == 1.0
    assert hot.over_capacity


def test_equal_machines_have_no_variance_at_all():
    cluster = tiny([[10], [10], [10]], [[1]], [3])
    assert utilisation_cost(cluster, on(0, 1, 2)) == 0.0
