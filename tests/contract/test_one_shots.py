"""Every one-shot method keeps its promises, on any case."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.oneshot_cases import cases, fits
from tests.naive.admit_oneshot import cheapest

from bayplan.decide.admit.oneshot.case import Case
from bayplan.decide.admit.oneshot.registry import ONE_SHOTS
from bayplan.decide.admit.oneshot.signature import OneShotOptions
from bayplan.generate.one_shot_problems import random_case

every_one_shot = pytest.mark.parametrize("one_shot", ONE_SHOTS.values(), ids=ONE_SHOTS)
few = settings(max_examples=30, deadline=None)
OPTIONS = OneShotOptions()


def flat(cost, demand, room, *, traffic=0.0, link=0.0, bandwidth=np.inf):
    """One resource, one table; the same traffic, price and bandwidth everywhere between two."""
    cost = np.asarray(cost, dtype=float)
    v, z = cost.shape
    return Case(
        cost=cost,
        demand=np.asarray(demand).reshape(v, 1),
        room=np.asarray(room).reshape(z, 1),
        traffic=traffic * (1 - np.eye(v)),
        link=np.where(np.eye(z, dtype=bool), 0.0, link)[None],
        pair=np.zeros((v, v)),
        bandwidth=np.full((z, z), bandwidth),
    )


@every_one_shot
@few
@given(case=cases(), nodes=st.sampled_from([None, 0, 1, 5]))
def test_never_over_room_or_bandwidth_and_its_cost_is_right(one_shot, case, nodes):
    placing = one_shot(case, OneShotOptions(nodes=nodes), seed=0)
    if placing.zone is None:
        assert placing.cost == np.inf
    else:
        assert fits(case, placing.zone)
        assert placing.cost == pytest.approx(case.cost_of(placing.zone))


@every_one_shot
@few
@given(case=cases(), nodes=st.sampled_from([None, 0, 1, 5]))
def test_its_bound_holds_and_a_complete_no_is_true(one_shot, case, nodes):
    placing, best = one_shot(case, OneShotOptions(nodes=nodes), seed=0), cheapest(case)
    assert placing.bound <= best * (1 + 1e-9)
    assert placing.cost >= best * (1 - 1e-9)
    assert placing.zone is not None or not placing.complete or best == np.inf


@every_one_shot
@few
@given(case=cases(), seed=st.integers(0, 3))
def test_the_same_seed_gives_the_same_placement(one_shot, case, seed):
    first, second = (one_shot(case, OPTIONS, seed=seed) for _ in range(2))
    assert first.cost == second.cost
    assert (first.zone is None) == (second.zone is None)
    assert first.zone is None or first.zone.tolist() == second.zone.tolist()


@every_one_shot
def test_a_single_member_goes_to_its_cheapest_zone(one_shot):
    assert one_shot(flat([[3.0, 1.0, 2.0]], [1], [1, 1, 1]), OPTIONS, seed=0).zone.tolist() == [1]


@every_one_shot
def test_a_single_zone_takes_all(one_shot):
    placing = one_shot(flat([[3.0], [1.0]], [1, 1], [2], traffic=5.0), OPTIONS, seed=0)
    assert placing.zone.tolist() == [0, 0]
    assert placing.cost == pytest.approx(4.0)


@every_one_shot
def test_no_zone_is_large_enough(one_shot):
    placing = one_shot(flat([[0.0, 0.0]], [5], [4, 4]), OPTIONS, seed=0)
    assert placing.zone is None
    assert placing.cost == np.inf


@every_one_shot
def test_no_zones_at_all(one_shot):
    assert one_shot(flat(np.zeros((2, 0)), [1, 1], []), OPTIONS, seed=0).zone is None


@every_one_shot
def test_no_resources_at_all(one_shot):
    case = replace(flat([[1.0, 2.0]], [1], [1, 1]), demand=np.zeros((1, 0)), room=np.zeros((2, 0)))
    assert one_shot(case, OPTIONS, seed=0).zone.tolist() == [0]


@every_one_shot
def test_any_resource_that_overflows_closes_a_zone(one_shot):
    case = replace(flat([[0.0, 9.0]], [1], [1, 1]), demand=np.array([[1, 5]]), room=np.array([[9, 4], [9, 5]]))
    assert one_shot(case, OPTIONS, seed=0).zone.tolist() == [1]


@every_one_shot
@pytest.mark.parametrize("barrier", [{"link": np.inf}, {"link": 0.0, "bandwidth": 1.0}], ids=["no link", "narrow links"])
def test_members_that_talk_stay_together_where_no_link_carries_them(one_shot, barrier):
    case = flat([[0.0, 0.1], [0.9, 0.1]], [1, 1], [2, 2], traffic=2.0, **barrier)
    placing = one_shot(case, OPTIONS, seed=0)
    assert placing.zone is not None
    assert placing.zone[0] == placing.zone[1]


@every_one_shot
def test_without_traffic_the_cheapest_zone_of_each_is_taken_unless_all_must_be_in_one(one_shot):
    placing = one_shot(flat([[1.0, 2.0], [4.0, 3.0]], [1, 1], [2, 2], link=np.inf), OPTIONS, seed=0)
    assert placing.zone.tolist() == ([0, 0] if one_shot is ONE_SHOTS["nscd"] else [0, 1])


@every_one_shot
def test_places_where_all_prices_are_zero(one_shot):
    placing = one_shot(flat(np.zeros((3, 3)), [2, 2, 2], [9, 9, 9], traffic=1.0), OPTIONS, seed=0)
    assert placing.cost == 0.0
    assert placing.zone is not None


def test_greedy_takes_the_emptiest_of_zones_that_cost_nothing():
    placing = ONE_SHOTS["greedy"](flat(np.zeros((3, 3)), [4, 4, 4], [10, 30, 20]), OPTIONS, seed=0)
    assert placing.zone.tolist() == [1, 2, 1]


@pytest.mark.parametrize("same_zone", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_nothing_beats_exact_on_the_questions_of_the_paper(same_zone, seed):
    case = random_case(np.random.default_rng(seed), 6, 7, 2, same_zone)
    best = ONE_SHOTS["exact"](case, OPTIONS, seed=0)
    assert best.complete
    assert best.bound == best.cost
    for name, one_shot in ONE_SHOTS.items():
        assert one_shot(case, OneShotOptions(samples=2), seed=seed).cost >= best.cost - 1e-9, name


def test_exact_out_of_nodes_says_so():
    case = random_case(np.random.default_rng(0), 8, 9, 2, True)
    whole, cut = (ONE_SHOTS["exact"](case, OneShotOptions(nodes=nodes), seed=0) for nodes in (None, 3))
    assert whole.complete
    assert not cut.complete
    assert 0 < cut.bound <= whole.cost <= cut.cost


def test_sampling_draws_where_it_cannot_try_all():
    case = random_case(np.random.default_rng(0), 5, 9, 1, True)
    assert ONE_SHOTS["sampling"](case, OneShotOptions(samples=2), seed=0).complete
    drawn = ONE_SHOTS["sampling"](case, OneShotOptions(samples=5, nodes=50), seed=0)
    assert drawn.zone is not None
    assert not drawn.complete


@every_one_shot
def test_many_members_and_zones_do_not_fill_the_memory(one_shot):
    case = flat(np.ones((100, 100)), np.ones(100), np.full(100, 200), traffic=1.0, link=1.0)
    placing = one_shot(case, OPTIONS, seed=0)
    assert fits(case, placing.zone)
    assert placing.bound <= placing.cost


@pytest.mark.parametrize("epsilon", [1e-200, 1e-160, 0.01, 1e9])
@pytest.mark.parametrize("members", [1, 4])
def test_sampling_takes_any_epsilon(epsilon, members):
    case = random_case(np.random.default_rng(0), members, 3)
    assert ONE_SHOTS["sampling"](case, OneShotOptions(epsilon=epsilon), seed=0).zone is not None
