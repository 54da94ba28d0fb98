from dataclasses import replace

import pytest
from tests.builders.published import GMRP_INITIAL
from tests.builders.tiny_clusters import on, tiny

from bayplan.formats.gmrp import read_gmrp
from bayplan.model import BalanceTarget, MoveCosts, Objective, ints
from bayplan.score import gmrp_cost, machine_overload, move_cost, moved, moves, overload_cost, score, target_cost


@pytest.mark.data
@pytest.mark.parametrize(("instance", "cost"), GMRP_INITIAL.items(), ids=GMRP_INITIAL)
def test_the_initial_assignment_costs_what_the_contest_says(data_folder, instance, cost):
    snapshot = read_gmrp(data_folder / "gmrp" / f"model_{instance}.txt")
    placement = snapshot.placement
    assert gmrp_cost(snapshot.cluster, placement, snapshot.objective, placement).total == cost
    assert score(snapshot.cluster, placement, snapshot.objective)["gmrp"] == cost


def test_overload_is_what_exceeds_the_safety_capacity():
    cluster = tiny([[10, 10], [10, 10]], [[4, 2]], [3], safety=[[6, 6], [3, 6]])
    assert machine_overload(cluster, on(0, 0, 1)).tolist() == [[2, 0], [1, 0]]
    objective = replace(Objective.default(cluster), overload_weight=ints([10, 1]))
    assert overload_cost(cluster, on(0, 0, 1), objective) == 30


def test_targets_are_one_sided():
    cluster = tiny([[10, 20]], [[4, 12]], [1])
    assert target_cost(cluster, on(0), (BalanceTarget(r1=0, r2=1, target=2, weight=5),)) == 5 * (2 * 6 - 8)
    assert target_cost(cluster, on(0), (BalanceTarget(r1=1, r2=0, target=0, weight=5),)) == 0


def test_targets_beyond_int64_are_exact():
    cluster = tiny([[2**62, 0]], [[0, 0]], [1])
    assert target_cost(cluster, on(0), (BalanceTarget(r1=0, r2=1, target=1000, weight=7),)) == 7000 * 2**62


def priced(cluster) -> Objective:
    costs = MoveCosts(
        container=ints([3, 5]), machine=ints([[0, 1], [7, 0]]), container_weight=10, service_weight=100, machine_weight=1000
    )
    return replace(Objective.default(cluster), move_costs=costs)


def test_move_costs_are_per_container_of_the_most_moved_service_and_between_machines():
    cluster = tiny([[9], [9]], [[1], [1]], [3, 1])
    objective = priced(cluster)
    cost = move_cost(cluster, on(1, 1, 0, 0), objective.move_costs, on(0, 0, 0, 1))
    assert (cost.container, cost.service, cost.machine) == (10 * (3 + 3 + 5), 100 * 2, 1000 * (1 + 1 + 7))
    assert cost.total == 110 + 200 + 9000


def test_a_container_without_a_machine_pays_no_way():
    cluster = tiny([[9], [9]], [[1], [1]], [1, 1])
    cost = move_cost(cluster, on(-1, 1), priced(cluster).move_costs, on(0, -1))
    assert (cost.container, cost.service, cost.machine) == (30, 100, 0)


def test_without_a_before_nothing_has_moved():
    cluster = tiny([[9], [9]], [[1], [1]], [1, 1])
    assert gmrp_cost(cluster, on(0, 1), priced(cluster)).moves.total == 0


def test_replicas_that_swap_machines_are_moved_by_name_but_not_in_fact():
    cluster = tiny([[9], [9]], [[1]], [2])
    assert moved(on(1, 0), on(0, 1)) == 2
    assert moves(cluster, on(1, 0), on(0, 1)) == 0


def test_new_containers_are_not_moves():
    cluster = tiny([[9], [9]], [[1]], [2])
    assert moves(cluster, on(0, 1), on(0, -1)) == 0
    assert moves(cluster, on(0, -1), on(0, 1)) == 1
