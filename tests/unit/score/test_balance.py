from dataclasses import replace

import pytest
from tests.builders.tiny_clusters import on, tiny

from bayplan.model import Objective, Term, floats
from bayplan.score import balance_cost, communication_cost, residual, score, utilisation_cost

TWO = [[10, 10], [10, 10]]


def with_hops(cluster, *hop):
    return replace(Objective.default(cluster), hop=floats(hop))


def test_utilisation_cost_is_the_variance_over_machines_summed_over_resources():
    cluster = tiny(TWO, [[4, 2]], [2])
    assert utilisation_cost(cluster, on(0, 0)) == pytest.approx(0.4**2 + 0.2**2)  # 0.8 and 0, 0.4 and 0
    assert utilisation_cost(cluster, on(0, 1)) == 0.0


def test_a_machine_without_the_resource_does_not_count_for_it():
    cluster = tiny([[10, 4], [10, 4], [10, 0]], [[0, 2]], [2])
    assert utilisation_cost(cluster, on(0, 1)) == 0.0  # 0.5, 0.5 and nothing to use


def test_a_resource_that_no_machine_has_costs_nothing():
    cluster = tiny([[10, 0], [10, 0]], [[5, 0]], [2])
    assert utilisation_cost(cluster, on(0, 1)) == 0.0
    assert balance_cost(cluster, on(0, 1), Objective.default(cluster)) == 0.0


def test_residuals_are_relative_to_the_largest_machine():
    cluster = tiny([[10, 100], [5, 50]], [[5, 0]], [1])
    assert residual(cluster, on(1)).tolist() == [[1.0, 1.0], [0.0, 0.5]]


def test_balance_cost_counts_both_orders_with_the_target_ratio():
    cluster = tiny(TWO, [[6, 0]], [1])
    default = Objective.default(cluster)
    assert balance_cost(cluster, on(0), default) == pytest.approx(0.6)  # A = (0.4, 1): only (r1, r0) is positive
    twice = replace(default, ratio=floats([[1, 0.5], [2, 1]]))  # wants r0 : r1 = 1 : 2
    # machine 0: 0.4 - 0.5 < 0, 1 - 0.8 = 0.2; machine 1: 1 - 0.5 = 0.5, 1 - 2 < 0
    assert balance_cost(cluster, on(0), twice) == pytest.approx(0.7)


def test_a_machine_without_a_gpu_does_not_lack_one():
    cluster = tiny([[10, 0], [10, 4]], [[5, 0]], [1])
    assert balance_cost(cluster, on(0), Objective.default(cluster)) == 0.0


def test_communication_is_traffic_times_distance():
    cluster = tiny([[9]] * 4, [[1], [1]], [2, 2], service=[0, 0], clique=[2.0], racks=[0, 0, 1, 1])
    # machines 0, 1, 2, 0: five of six pairs are on different machines, three are in different racks
    assert communication_cost(cluster, on(0, 1, 2, 0), with_hops(cluster, 1, 0)) == 2.0 * 5
    assert communication_cost(cluster, on(0, 1, 2, 0), with_hops(cluster, 1, 10)) == 2.0 * (5 + 10 * 3)


def test_an_edge_is_shared_evenly_by_all_pairs_of_its_containers():
    cluster = tiny([[9]] * 3, [[1], [1]], [2, 3], edges=[(0, 1, 12.0)])
    # each of the 6 pairs carries 2; (0: machine 0, 1: machine 0) meet once
    assert communication_cost(cluster, on(0, 1, 0, 2, 2), with_hops(cluster, 1)) == 12.0 - 2.0


def test_unplaced_containers_do_not_talk():
    cluster = tiny([[9]] * 2, [[1], [1]], [2, 1], service=[0, 0], clique=[1.0], edges=[(0, 1, 4.0)])
    assert communication_cost(cluster, on(0, -1, 1), with_hops(cluster, 1)) == 1.0 + 2.0


def test_five_thousand_containers_of_a_service_are_never_paired():
    cluster = tiny([[9000]] * 2, [[1]], [5000], clique=[1.0])
    assert communication_cost(cluster, on(*[0, 1] * 2500), with_hops(cluster, 1)) == 2500.0**2


def test_the_total_weighs_the_three_costs():
    cluster = tiny(TWO, [[6, 0]], [2], clique=[1.0])
    objective = Objective.default(cluster).with_weights({Term.UTILISATION: 2.0, Term.BALANCE: 3.0, Term.COMMUNICATION: 5.0})
    parts = (utilisation_cost(cluster, on(0, 1)), balance_cost(cluster, on(0, 1), objective), 1.0)
    assert score(cluster, on(0, 1), objective)["total"] == pytest.approx(2 * parts[0] + 3 * parts[1] + 5 * parts[2])
