"""Every one-shot method keeps its promises, on any problem."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.one_shot_problems import fits, one_shot_problems
from tests.naive.admit_oneshot import cheapest

from bayplan.decide.admit.one_shot import ONE_SHOTS
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotOptions, OneShotProblem
from bayplan.generate.one_shot_problems import random_case

every_one_shot = pytest.mark.parametrize("one_shot", ONE_SHOTS.values(), ids=ONE_SHOTS)
few = settings(max_examples=30, deadline=None)
OPTIONS = OneShotOptions()


def flat(cost, demand, free, *, traffic=0.0, link=0.0, bandwidth=np.inf):
    """One resource, one table; the same traffic, price and bandwidth everywhere between two."""
    cost = np.asarray(cost, dtype=float)
    v, z = cost.shape
    return OneShotProblem(
        cost=cost,
        demand=np.asarray(demand).reshape(v, 1),
        free=np.asarray(free).reshape(z, 1),
        traffic=traffic * (1 - np.eye(v)),
        link=np.where(np.eye(z, dtype=bool), 0.0, link)[None],
        pair=np.zeros((v, v)),
        bandwidth=np.full((z, z), bandwidth),
    )


@every_one_shot
@few
@given(problem=one_shot_problems(), nodes=st.sampled_from([None, 0, 1, 5]))
def test_never_over_capacity_or_bandwidth_and_its_cost_is_right(one_shot, problem, nodes):
    placement = one_shot(problem, OneShotOptions(nodes=nodes), seed=0)
    if placement.zone is None:
        assert placement.cost == np.inf
    else:
        assert fits(problem, placement.zone)
        assert placement.cost == pytest.approx(problem.cost_of(placement.zone))


@every_one_shot
@few
@given(problem=one_shot_problems(), nodes=st.sampled_from([None, 0, 1, 5]))
def test_its_bound_holds_and_a_complete_no_is_true(one_shot, problem, nodes):
    placement, best = one_shot(problem, OneShotOptions(nodes=nodes), seed=0), cheapest(problem)
    assert placement.bound <= best * (1 + 1e-9)
    assert placement.cost >= best * (1 - 1e-9)
    assert placement.zone is not None or not placement.complete or best == np.inf


@every_one_shot
@few
@given(problem=one_shot_problems(), seed=st.integers(0, 3))
def test_the_same_seed_gives_the_same_placement(one_shot, problem, seed):
    first, second = (one_shot(problem, OPTIONS, seed=seed) for _ in range(2))
    assert first.cost == second.cost
    assert (first.zone is None) == (second.zone is None)
    assert first.zone is None or first.zone.tolist() == second.zone.tolist()


@every_one_shot
def test_a_single_member_goes_to_its_cheapest_zone(one_shot):
    assert one_shot(flat([[3.0, 1.0, 2.0]], [1], [1, 1, 1]), OPTIONS, seed=0).zone.tolist() == [1]


@every_one_shot
def test_a_single_zone_takes_all(one_shot):
    placement = one_shot(flat([[3.0], [1.0]], [1, 1], [2], traffic=5.0), OPTIONS, seed=0)
    assert placement.zone.tolist() == [0, 0]
    assert placement.cost == pytest.approx(4.0)


@every_one_shot
def test_no_zone_is_large_enough(one_shot):
    placement = one_shot(flat([[0.0, 0.0]], [5], [4, 4]), OPTIONS, seed=0)
    assert placement.zone is None
    assert placement.cost == np.inf


@every_one_shot
def test_no_zones_at_all(one_shot):
    assert one_shot(flat(np.zeros((2, 0)), [1, 1], []), OPTIONS, seed=0).zone is None


@every_one_shot
def test_no_resources_at_all(one_shot):
    problem = replace(flat([[1.0, 2.0]], [1], [1, 1]), demand=np.zeros((1, 0)), free=np.zeros((2, 0)))
    assert one_shot(problem, OPTIONS, seed=0).zone.tolist() == [0]


@every_one_shot
def test_any_resource_that_overflows_closes_a_zone(one_shot):
    problem = replace(flat([[0.0, 9.0]], [1], [1, 1]), demand=np.array([[1, 5]]), free=np.array([[9, 4], [9, 5]]))
    assert one_shot(problem, OPTIONS, seed=0).zone.tolist() == [1]


@every_one_shot
@pytest.mark.parametrize("barrier", [{"link": np.inf}, {"link": 0.0, "bandwidth": 1.0}], ids=["no link", "narrow links"])
def test_members_that_talk_stay_together_where_no_link_carries_them(one_shot, barrier):
    problem = flat([[0.0, 0.1], [0.9, 0.1]], [1, 1], [2, 2], traffic=2.0, **barrier)
    placement = one_shot(problem, OPTIONS, seed=0)
    assert placement.zone is not None
    assert placement.zone[0] == placement.zone[1]


@every_one_shot
def test_without_traffic_the_cheapest_zone_of_each_is_taken_unless_all_must_be_in_one(one_shot):
    placement = one_shot(flat([[1.0, 2.0], [4.0, 3.0]], [1, 1], [2, 2], link=np.inf), OPTIONS, seed=0)
    assert placement.zone.tolist() == ([0, 0] if one_shot is ONE_SHOTS["nscd"] else [0, 1])


@every_one_shot
def test_places_where_all_prices_are_zero(one_shot):
    placement = one_shot(flat(np.zeros((3, 3)), [2, 2, 2], [9, 9, 9], traffic=1.0), OPTIONS, seed=0)
    assert placement.cost == 0.0
    assert placement.zone is not None


def test_greedy_takes_the_emptiest_of_zones_that_cost_nothing():
    placement = ONE_SHOTS["greedy"](flat(np.zeros((3, 3)), [4, 4, 4], [10, 30, 20]), OPTIONS, seed=0)
    assert placement.zone.tolist() == [1, 2, 1]


@pytest.mark.parametrize("same_zone", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_nothing_beats_exact_on_the_questions_of_the_paper(same_zone, seed):
    problem = random_case(np.random.default_rng(seed), 6, 7, 2, same_zone)
    best = ONE_SHOTS["exact"](problem, OPTIONS, seed=0)
    assert best.complete
    assert best.bound == best.cost
    for name, one_shot in ONE_SHOTS.items():
        assert one_shot(problem, OneShotOptions(samples=2), seed=seed).cost >= best.cost - 1e-9, name


def test_exact_out_of_nodes_says_so():
    problem = random_case(np.random.default_rng(0), 8, 9, 2, True)
    whole, cut = (ONE_SHOTS["exact"](problem, OneShotOptions(nodes=nodes), seed=0) for nodes in (None, 3))
    assert whole.complete
    assert not cut.complete
    assert 0 < cut.bound <= whole.cost <= cut.cost


def test_sampling_draws_where_it_cannot_try_all():
    problem = random_case(np.random.default_rng(0), 5, 9, 1, True)
    assert ONE_SHOTS["sampling"](problem, OneShotOptions(samples=2), seed=0).complete
    drawn = ONE_SHOTS["sampling"](problem, OneShotOptions(samples=5, nodes=50), seed=0)
    assert drawn.zone is not None
    assert not drawn.complete


@every_one_shot
def test_many_members_and_zones_do_not_fill_the_memory(one_shot):
    problem = flat(np.ones((100, 100)), np.ones(100), np.full(100, 200), traffic=1.0, link=1.0)
    placement = one_shot(problem, OPTIONS, seed=0)
    assert fits(problem, placement.zone)
    assert placement.bound <= placement.cost


@pytest.mark.parametrize("epsilon", [1e-200, 1e-160, 0.01, 1e9])
@pytest.mark.parametrize("members", [1, 4])
def test_sampling_takes_any_epsilon(epsilon, members):
    problem = random_case(np.random.default_rng(0), members, 3)
    assert ONE_SHOTS["sampling"](problem, OneShotOptions(epsilon=epsilon), seed=0).zone is not None
