import math
from dataclasses import replace

import pytest
from tests.builders.tiny_clusters import on, tiny

from bayplan.model import AntiAffinity, Capacity, Objective, Spread, Term, floats
from bayplan.score import Bounds, bounds, normalised

FITS = (Capacity(resources=(0,)),)


def of_communication(cluster, placement) -> Bounds:
    return bounds(cluster, placement, Objective.default(cluster))[Term.COMMUNICATION]


def test_a_service_that_fits_on_one_machine_can_have_no_communication_or_all_of_it():
    cluster = tiny([[4]] * 4, [[1]], [4], clique=[1.0], rules=FITS)
    assert of_communication(cluster, on(0, 1, 2, 3)) == Bounds(0.0, 6.0)
    assert normalised(cluster, on(0, 1, 2, 3), Objective.default(cluster))["communication"] == 1.0
    assert normalised(cluster, on(0, 0, 0, 0), Objective.default(cluster))["communication"] == 0.0


def test_capacity_raises_the_lower_bound_of_communication():
    cluster = tiny([[3], [1], [1]], [[1]], [4], clique=[1.0], rules=FITS)
    assert of_communication(cluster, on(0, 0, 0, 1)).lower == 3.0  # three together, one apart


def test_conflict_raises_the_lower_bound_of_communication():
    cluster = tiny(
        [[9]] * 3, [[1], [1]], [2, 2], service=[0, 0], clique=[1.0], rules=(*FITS, AntiAffinity(workloads=(0,), limit=1))
    )
    assert of_communication(cluster, on(0, 1, 0, 0)).lower == 3.0  # at most 1 + 2 together


def test_spread_raises_the_lower_bound_of_communication():
    cluster = tiny([[9]] * 4, [[1]], [5], clique=[1.0], rules=(*FITS, Spread(service=0, minimum=3)))
    assert of_communication(cluster, on(0, 0, 0, 1, 2)).lower == 10.0 - 3.0  # 3 + 1 + 1


def test_more_containers_than_machines_cannot_all_be_apart():
    cluster = tiny([[9]] * 2, [[1]], [5], clique=[1.0])
    assert of_communication(cluster, on(0, 0, 0, 1, 1)).upper == 6.0  # 3 x 2


def test_an_edge_that_cannot_meet_on_one_machine_has_a_lower_bound():
    cluster = tiny([[2]] * 3, [[1], [2]], [2, 2], edges=[(0, 1, 8.0)], rules=FITS)
    # one container of w1 fits on a machine: each of w0 meets at most one of two
    assert of_communication(cluster, on(0, 0, 1, 2)) == Bounds(4.0, 8.0)


def test_full_and_empty_machines_are_the_worst_utilisation():
    cluster = tiny([[4]] * 4, [[2]], [4], rules=FITS)
    shares = [
        normalised(cluster, on(*where), Objective.default(cluster))["utilisation"] for where in ([0, 0, 1, 1], [0, 1, 2, 3])
    ]
    assert shares == [1.0, 0.0]


def test_without_a_capacity_rule_everything_on_the_smallest_machine_is_the_worst():
    cluster = tiny([[4], [2]], [[2]], [4])
    assert normalised(cluster, on(1, 1, 1, 1), Objective.default(cluster))["utilisation"] == pytest.approx(1.0)


def test_balance_bounds_meet_when_there_is_one_machine():
    cluster = tiny([[10, 10]], [[6, 1]], [1], rules=(Capacity(resources=(0, 1)),))
    lower, upper = bounds(cluster, on(0), Objective.default(cluster))[Term.BALANCE]
    assert lower == pytest.approx(0.5)  # |0.4 - 0.9|
    assert upper >= lower


def test_opposite_residuals_are_the_worst_balance():
    cluster = tiny([[10, 10]] * 2, [[10, 0], [0, 10]], [1, 1], rules=(Capacity(resources=(0, 1)),))
    objective = Objective.default(cluster)
    assert normalised(cluster, on(0, 1), objective)["balance"] == pytest.approx(1.0)
    assert normalised(cluster, on(0, 0), objective)["balance"] == pytest.approx(0.0)


def test_each_level_has_its_own_bounds():
    cluster = tiny([[1]] * 4, [[1]], [2], clique=[1.0], racks=[0, 0, 1, 1], rules=FITS)
    objective = replace(Objective.default(cluster), hop=floats([1.0, 10.0]))
    limits = bounds(cluster, on(0, 1), objective)[Term.COMMUNICATION]
    assert limits == Bounds(1.0, 11.0)  # two machines of one rack .. two racks


def test_beyond_its_bounds_a_placement_has_no_rank():
    cluster = tiny([[2]] * 3, [[1]], [4], clique=[1.0], rules=FITS)
    crowded = normalised(cluster, on(0, 0, 0, 0), Objective.default(cluster))
    assert math.isnan(crowded["communication"])
    assert math.isnan(crowded["utilisation"])
    assert normalised(cluster, on(0, 0, 1, 1), Objective.default(cluster))["communication"] == 0.0
