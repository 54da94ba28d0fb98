"""Lower bounds small enough to work out, and those of the challenge's instances."""

from dataclasses import replace

import numpy as np
import pytest
from tests.builders.published import GMRP_BEST, GMRP_LOWER_BOUND
from tests.builders.tiny_clusters import on, tiny

from bayplan.formats.gmrp import read_gmrp
from bayplan.model import Allow, BalanceTarget, Capacity, MoveCosts, Objective, Pinned, Term, Transient, floats, ints
from bayplan.score import lower_bound, weighted

FITS = (Capacity(resources=(0,)),)
close = pytest.approx


def only(cluster, *terms, **parts):
    """The default objective with weight 1 on the given terms alone; one unit of overload costs 1."""
    weight = dict.fromkeys(terms, 1.0)
    return replace(Objective.default(cluster), weight=weight, overload_weight=floats([1.0] * len(cluster.resources)), **parts)


def test_what_is_more_than_all_safety_capacity_is_overload_somewhere():
    cluster = tiny([[9], [9]], [[4]], [4], safety=[[6], [5]], rules=FITS)
    assert lower_bound(cluster, only(cluster, Term.OVERLOAD), on(0, 0, 1, 1)) == 16 - 11
    assert lower_bound(cluster, only(cluster, Term.OVERLOAD), on(-1, -1, -1, -1)) == 16 - 11


def test_overload_of_what_cannot_leave_counts_although_other_machines_are_free():
    cluster = tiny([[9], [9]], [[4]], [2], safety=[[5], [9]], rules=(*FITS, Pinned(containers=(0, 1))))
    assert lower_bound(cluster, only(cluster, Term.OVERLOAD), on(0, 0)) == 3
    free = replace(cluster, rules=FITS)
    assert lower_bound(free, only(free, Term.OVERLOAD), on(0, 0)) == 0


@pytest.mark.parametrize("capacity", [[49, 3], [98, 47, 3], [7 * 2**40, 3 * 10**6, 12_345]])
def test_free_amounts_that_cancel_prove_nothing(capacity):
    """Everything free is in balance, but 49 times 1 / 49 is less than 1 in floats: the bound keeps below what that leaves."""
    rules = (Capacity(resources=tuple(range(len(capacity)))),)
    cluster = tiny([capacity, capacity], [[0] * len(capacity)], [2], rules=rules)
    objective = only(cluster, Term.BALANCE)
    assert weighted(cluster, on(0, 1), objective) == 0
    assert lower_bound(cluster, objective, on(0, 1)) <= 0
    assert lower_bound(cluster, objective, on(-1, -1)) <= 0


def test_a_container_that_fits_nowhere_else_while_it_moves_cannot_leave():
    rules = (*FITS, Transient(resource=0))
    cluster = tiny([[9], [9]], [[6], [5]], [1, 1], safety=[[4], [9]], rules=rules)
    assert lower_bound(cluster, only(cluster, Term.OVERLOAD), on(0, 1)) == 2  # 4 of 9 are free on the other machine


def test_containers_may_change_places_unless_a_rule_charges_both_machines():
    cluster = tiny([[5], [5]], [[5], [1]], [1, 1], safety=[[1], [5]], rules=FITS)
    objective = only(cluster, Term.OVERLOAD)
    assert weighted(cluster, on(1, 0), objective) == 0
    assert lower_bound(cluster, objective, on(0, 1)) == 0
    charged = replace(cluster, rules=(*FITS, Transient(resource=0)))
    assert lower_bound(charged, objective, on(0, 1)) == 4


def test_containers_cannot_be_cut():
    """Half of a container would have to leave: no machine would be overloaded."""
    cluster = tiny([[8], [8]], [[4]], [3], safety=[[6], [6]], rules=(*FITS, Transient(resource=0)))
    objective, movable = only(cluster, Term.OVERLOAD), np.array([True, True, False])
    assert {weighted(cluster, on(*places), objective) for places in ((0, 0, 1), (0, 1, 1), (1, 0, 1))} == {2}
    bound = lower_bound(cluster, objective, on(0, 0, 1), movable)
    assert bound is not None
    assert 0 < bound <= 2


def test_frozen_containers_stay():
    cluster = tiny([[9], [9]], [[4]], [2], safety=[[5], [9]], rules=FITS)
    objective = only(cluster, Term.OVERLOAD)
    assert lower_bound(cluster, objective, on(0, 0), np.array([False, False])) == 3
    assert lower_bound(cluster, objective, on(0, 0), np.array([False, True])) == 0
    assert lower_bound(cluster, objective, on(0, -1), np.array([False, False])) == 0  # a new one is not frozen


def test_free_amounts_below_their_target_count_in_total():
    cluster = tiny([[10, 10], [10, 10]], [[1, 6]], [2], rules=(Capacity(resources=(0, 1)),))
    objective = only(cluster, Term.TARGETS, targets=(BalanceTarget(r1=0, r2=1, target=2, weight=3),))
    assert lower_bound(cluster, objective, on(0, 1)) == 3 * (2 * 18 - 8)


def test_residual_balance_counts_in_total():
    cluster = tiny([[10, 10], [10, 10]], [[1, 6]], [2], rules=(Capacity(resources=(0, 1)),))
    assert lower_bound(cluster, only(cluster, Term.BALANCE), on(0, 1)) == close((18 - 8) / 10)


def test_utilisation_varies_no_less_than_what_cannot_leave_makes_it():
    cluster = tiny([[10], [10], [10]], [[8], [1]], [1, 4], rules=(*FITS, Pinned(containers=(0,))))
    # 0.8 stays, 0.4 is left for two machines: 0.8, 0.2, 0.2
    assert lower_bound(cluster, only(cluster, Term.UTILISATION), on(0, 1, 1, 2, 2)) == close(np.var([0.8, 0.2, 0.2]))
    assert lower_bound(cluster, only(cluster, Term.UTILISATION), on(-1, 1, 1, 2, 2)) == 0


def test_unlike_machines_vary_least_when_larger_ones_take_more_of_what_is_missing():
    cluster = tiny([[10], [10], [30]], [[9], [1]], [1, 6], rules=(*FITS, Pinned(containers=(0,))))
    # u = c + k C within limits; by hand: minimise var(0.9, x, y) with 10 x + 30 y = 6
    x = np.linspace(0, 0.6, 200_001)
    best = np.var([np.full_like(x, 0.9), x, (6 - 10 * x) / 30], axis=0).min()
    assert lower_bound(cluster, only(cluster, Term.UTILISATION), on(0, 1, 1, 1, 2, 2, 2)) == close(best, rel=1e-6)


def test_communication_has_its_own_bound():
    cluster = tiny([[3], [1], [1]], [[1]], [4], clique=[1.0], rules=FITS)
    assert lower_bound(cluster, only(cluster, Term.COMMUNICATION), on(0, 0, 0, 1)) == close(3.0)


def test_affinity_gains_one_at_most():
    cluster = tiny([[9], [9]], [[1], [1]], [1, 1], edges=[(0, 1, 5.0)], rules=FITS)
    assert lower_bound(cluster, only(cluster, Term.AFFINITY), on(0, 1)) == -1
    assert weighted(cluster, on(0, 0), only(cluster, Term.AFFINITY)) == -1
    without = tiny([[9], [9]], [[1], [1]], [1, 1], rules=FITS)
    assert lower_bound(without, only(without, Term.AFFINITY), on(0, 1)) == 0


def test_a_container_that_must_leave_pays_for_the_cheapest_move():
    rules = (*FITS, Allow(workloads=(0,), machines="others"))
    cluster = replace(tiny([[9], [9], [9]], [[1]], [1]), rules=rules, machine_sets={"others": ints([1, 2])})
    prices = MoveCosts(container=ints([7]), machine=ints([[0, 5, 3], [5, 0, 1], [3, 1, 0]]), machine_weight=10)
    assert lower_bound(cluster, only(cluster, Term.MOVE_COST, move_costs=prices), on(0)) == 7 + 30
    assert lower_bound(cluster, only(cluster, Term.MOVES), on(0)) == 1
    assert lower_bound(cluster, only(cluster, Term.MOVES), on(1)) == 0
    assert lower_bound(cluster, only(cluster, Term.MOVES, Term.MOVE_COST, move_costs=prices), on(-1)) == 0  # it is new


def test_replicas_that_follow_each_other_are_one_move_although_both_are_priced():
    rules = (*FITS, Allow(workloads=(0,), machines="others"))
    cluster = replace(tiny([[1], [1], [1]], [[1]], [2]), rules=rules, machine_sets={"others": ints([1, 2])})
    far = ints([[0, 0, 9], [0, 0, 0], [9, 0, 0]])  # from the first machine to the last, but not by way of the second
    prices = MoveCosts(container=ints([0]), machine=far, service_weight=0)
    objective = replace(only(cluster, move_costs=prices), weight={Term.MOVES: 10.0, Term.MOVE_COST: 1.0})
    assert weighted(cluster, on(1, 2), objective, on(0, 1)) == 10
    bound = lower_bound(cluster, objective, on(0, 1))
    assert bound is not None
    assert bound <= 10


def test_whole_costs_have_whole_bounds_and_others_are_not_rounded():
    rules = (*FITS, Allow(workloads=(0,), machines="others"))
    cluster = replace(tiny([[9], [9]], [[1]], [1]), rules=rules, machine_sets={"others": ints([1])})
    half = replace(only(cluster, Term.MOVES), weight={Term.MOVES: 0.5})
    assert lower_bound(cluster, half, on(0)) == close(0.5)


def test_nothing_is_proven_where_nothing_fits_or_a_price_is_negative():
    cluster = tiny([[3], [3]], [[4]], [1], rules=FITS)
    assert lower_bound(cluster, Objective.default(cluster), on(-1)) is None
    roomy = tiny([[3], [3]], [[1]], [1], rules=FITS)
    paid = only(roomy, Term.MOVE_COST, move_costs=MoveCosts(container=ints([-1]), machine=ints(np.zeros((0, 0)))))
    assert lower_bound(roomy, paid, on(0)) is None


def test_more_than_all_machines_hold_is_refused():
    cluster = tiny([[3], [3]], [[1]], [7], rules=FITS)
    assert lower_bound(cluster, Objective.default(cluster), on(*[-1] * 7)) is None


@pytest.mark.data
@pytest.mark.parametrize("name", GMRP_LOWER_BOUND)
def test_bounds_of_the_challenge_are_near_those_published_and_below_the_best_costs(data_folder, name):
    snapshot = read_gmrp(data_folder / "gmrp" / f"model_{name}.txt")
    bound = lower_bound(snapshot.cluster, snapshot.objective, snapshot.placement)
    assert bound is not None
    assert bound <= GMRP_BEST[name]
    share = {"a2_2": 0.8, "a2_3": 0.85, "a1_4": 0.9999, "a2_5": 0.9999}.get(name, 1.0)  # held moves are harder to bound
    assert bound >= share * GMRP_LOWER_BOUND[name]
