"""Streams and exchanges: the fast versions against slow ones."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.schedules import drawn, overloads, problem, problems
from tests.naive import schedule_online as naive
from tests.naive.schedule_exchange import exchanged

from bayplan.decide.schedule.best_effort import profile_of
from bayplan.decide.schedule.local import ExchangeSearch
from bayplan.decide.schedule.online import FIRST_MULTIPLE, MULTIPLES, learning, served_at
from bayplan.decide.schedule.round_robin import round_robin
from bayplan.model import Fleet

some = settings(max_examples=30, deadline=None)
seeds = pytest.mark.parametrize("seed", range(6))


@pytest.mark.parametrize("move_on", [False, True])
@some
@given(instance=problems(max_requests=9, max_machines=5, kinds=3))
def test_machines_in_turn_are_those_of_looking_at_one_after_the_other(move_on, instance):
    assert round_robin(instance, move_on=move_on).tolist() == naive.in_turn(instance, move_on).tolist()


@seeds
@pytest.mark.parametrize("move_on", [False, True])
def test_machines_in_turn_at_high_load(seed, move_on):
    instance = drawn(seed, requests=200, machines=7, resources=1 + seed % 3, grid=16)
    assert round_robin(instance, move_on=move_on).tolist() == naive.in_turn(instance, move_on).tolist()


@seeds
def test_learnt_prices_are_those_of_the_slow_way(seed):
    instance = drawn(seed, requests=160, machines=3 + seed, resources=1 + seed % 3, grid=40)
    assert learning(instance).tolist() == naive.by_learnt_price(instance, MULTIPLES, FIRST_MULTIPLE).tolist()


@some
@given(instance=problems(max_requests=9, max_machines=3, kinds=2), multiple=st.sampled_from([0.5, 1.0, 2.0]), data=st.data())
def test_admission_at_given_costs_is_that_of_the_slow_way(instance, multiple, data):
    n = len(instance.requests.name)
    cost = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)), dtype=float)
    if instance.fleet.size and n:
        assert served_at(instance, cost, multiple).tolist() == naive.by_given_price(instance, cost, multiple).tolist()


def worth(search):
    return float(search._pool.score[search.machine_of >= 0].sum())


@seeds
def test_exchanges_keep_schedule_and_free_room_in_step(seed):
    instance = drawn(seed, requests=120, machines=4, grid=30)
    cost_per_value = np.random.default_rng(seed).uniform(0.2, 1.6, 120)
    search = ExchangeSearch(instance, np.full(120, -1), cost_per_value, seed)
    before = worth(search)
    for _ in range(20):
        search.go(5)
        after = worth(search)
        assert after >= before - 1e-9
        before = after
    assert overloads(instance, search.machine_of) == []
    fresh = profile_of(instance, search.machine_of, cells=search._profile.base.shape[1])
    assert np.array_equal(fresh.base, search._profile.base)
    assert np.array_equal(fresh.least, search._profile.least)
    assert (search.machine_of >= 0).sum() > 10


@seeds
def test_each_exchange_is_that_of_the_slow_way(seed):
    rng = np.random.default_rng(seed)
    instance = drawn(seed, requests=60, machines=2 + seed, resources=1 + seed % 3, grid=12)
    instance = replace(instance, requests=replace(instance.requests, value=rng.integers(0, 4, 60)))  # sums of quarters are exact
    search = ExchangeSearch(instance, round_robin(instance, move_on=True), rng.integers(1, 7, 60) / 4, seed)
    width, cells = search._profile.width, search._profile.base.shape[1]
    chance, slow, changes = search._random_state.copy(), search.machine_of.copy(), 0
    for _ in range(80):
        before = slow
        slow = exchanged(instance, slow, search._pool, (width, width * cells), chance)
        search.go(1)
        assert search.machine_of.tolist() == slow.tolist()
        changes += slow.tolist() != before.tolist()
    assert changes > 0


def test_who_starts_first_of_all_can_be_exchanged():
    rows = [(0, 9, [10, 10], 1.0), (0, 1, [10, 10], 1.0), (2, 3, [10, 10], 1.0), (4, 5, [10, 10], 1.0)]
    instance = problem(rows, 1)
    search = ExchangeSearch(instance, np.array([0, -1, -1, -1]), np.array([1.4, 0.3, 0.3, 0.3]), 0)
    search.go(100)
    assert search.machine_of.tolist() == [-1, 0, 0, 0]


def test_exchanges_on_machines_of_two_kinds_respect_each():
    instance = drawn(3, requests=80, machines=1, grid=20)
    fleet = Fleet(kind=("small", "large"), machines=[3, 2], capacity=[[4, 4], [12, 12]])
    instance = type(instance)(requests=instance.requests, fleet=fleet)
    search = ExchangeSearch(instance, round_robin(instance, move_on=True), np.full(80, 0.5), 0)
    search.go(200)
    assert overloads(instance, search.machine_of) == []
