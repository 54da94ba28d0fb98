"""Further rounds: they cover the walk, their noise leaves no trace, and what comes out is the best that was seen."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stress.search_walks import expect_few_moves, expect_no_more_broken, problems

from bayplan.check import check
from bayplan.model import Budget, Tick
from bayplan.score.terms import weighted
from bayplan.search import cooling, walker
from bayplan.search.anneal import search
from bayplan.search.cooling import HOT, AnnealingRound, Cooling, temperatures
from bayplan.search.noise import Noise
from bayplan.search.state import new_search_state
from bayplan.search.verify_state import block, verify_state

SOME = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
LOAD = ("overload", "mean", "square", "cost", "total")


@pytest.fixture
def always_rounds(monkeypatch):
    """However few steps there are; and every look at the state compares it with a fresh one."""
    monkeypatch.setattr(cooling, "PLENTY", 0.0)
    monkeypatch.setattr(walker, "FIRST_TURN", 7)
    monkeypatch.setenv("BAYPLAN_DEBUG", "1")


def test_there_is_one_round_unless_there_is_plenty_of_time():
    assert cooling.annealing_rounds(0.99 * cooling.PLENTY) == [AnnealingRound(0, 0.0, 1.0)]
    assert len(cooling.annealing_rounds(cooling.PLENTY)) == cooling.FURTHER + 1


def test_rounds_follow_each_other_without_a_gap():
    parts = cooling.annealing_rounds(2 * cooling.PLENTY)
    assert [part.number for part in parts] == list(range(len(parts)))
    assert [part.begin for part in parts] == [0.0, *(part.end for part in parts[:-1])]
    assert parts[-1].end == 1.0
    assert all(part.inner(part.begin) == 0.0 and part.inner(part.end) == 1.0 for part in parts)


def test_a_further_round_begins_cooler_and_ends_as_cold():
    first = Cooling(scale=2.0, hot=12.0, cold=0.02, hindered=0.0)
    further = first.further()
    assert first.at(0.0, unmet=False).temperature == 12.0
    assert first.cold < further.at(0.0, unmet=False).temperature < first.hot
    assert further.at(0.96, unmet=False).temperature == pytest.approx(first.at(0.96, unmet=False).temperature, rel=0.1)
    assert further.at(0.99, unmet=False).temperature == 0.0


def test_a_longer_walk_begins_hotter_and_all_end_as_cold():
    rises = np.arange(1.0, 101.0)
    of_ease = [temperatures(50.0, rises, ease) for ease in (0.0, 0.01, 0.1, 0.3, 1.0, 1e6)]
    hot, cold = zip(*of_ease, strict=True)
    assert set(cold) == {np.quantile(rises, cooling.COLD)}
    assert hot[0] == hot[1] == hot[2] == cold[0] < hot[3] < hot[4] == hot[5] == pytest.approx(HOT * 50.0)


def test_a_walk_that_no_move_makes_worse_is_a_descent():
    assert temperatures(0.0, np.zeros(0), 1.0) == (0.0, 0.0)


@SOME
@given(problem=problems(), seed=st.integers(0, 99))
def test_noise_leaves_no_trace(problem, seed):
    state = new_search_state(problem)
    noise, before = Noise(state, seed=seed), {name: block(state.arrays, name).copy() for name in LOAD}
    if noise.possible:
        noise.begin()
        noise.end()
    verify_state(state, problem)
    for name in LOAD[:3]:
        assert (block(state.arrays, name) == before[name]).all()
    assert block(state.arrays, "total") == pytest.approx(before["total"], rel=1e-12, abs=1e-12)


@SOME
@given(problem=problems(), seed=st.integers(0, 99))
def test_noise_keeps_the_price_of_one_resource(problem, seed):
    state = new_search_state(problem)
    noise = Noise(state, seed=seed)
    for turn in range(len(noise.priced) if noise.possible else 0):
        noise.begin()
        kept = noise.priced[turn]
        assert block(state.arrays, "overload")[kept] == noise.true.overload[kept]
        assert block(state.arrays, "mean")[kept] == noise.true.mean[kept]
    noise.end()
    verify_state(state, problem)


@SOME
@given(problem=problems(), seed=st.integers(0, 99))
def test_what_further_rounds_find_is_sound(always_rounds, problem, seed):
    """The audit of the board runs within; a total under noise that got into the book would make the answer cost more."""
    found = search(problem, budget=Budget(iterations=400), seed=seed)
    expect_no_more_broken(problem, found)
    expect_few_moves(problem, found)
    costs = [weighted(problem.cluster, some, problem.objective, problem.before) for some in (found, problem.start)]
    if not check(problem.cluster, problem.start, problem.before):
        assert costs[0] <= costs[1] + 1e-9 * (1 + abs(costs[1]))


@SOME
@given(problem=problems(broken=False), seed=st.integers(0, 99))
def test_the_best_only_falls_and_is_what_comes_out(always_rounds, problem, seed):
    told: list[Tick] = []
    found = search(problem, budget=Budget(iterations=400), seed=seed, progress=told.append)
    scores = [tick.score for tick in told if tick.stage == "searching"]
    assert all(later <= sooner for sooner, later in pairwise(scores))
    gained = new_search_state(problem).total - (scores[-1] if scores else new_search_state(problem).total)
    costs = [weighted(problem.cluster, some, problem.objective, problem.before) for some in (problem.start, found)]
    assert costs[0] - costs[1] >= gained - 1e-9 * (1 + abs(costs[0]) + abs(gained))


@SOME
@given(problem=problems(), seed=st.integers(0, 99))
def test_walkers_that_exchange_their_best_repeat_themselves(always_rounds, problem, seed):
    both = [search(problem, budget=Budget(iterations=200, threads=2), seed=seed).machine_of for _ in range(2)]
    assert np.array_equal(*both)
