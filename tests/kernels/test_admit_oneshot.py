"""The kernels that place one request against their naive twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.one_shot_problems import fits, one_shot_problems
from tests.naive.admit_oneshot import by_exchange, cheapest, greedily

from bayplan.decide.admit.one_shot.kernel_tables import costs_of, local_scratch, question_of, standing_of, tables_of, tree_of
from bayplan.decide.admit.one_shot.tree_search import PASSED, best_of_starts
from bayplan.generate.one_shot_problems import random_case
from bayplan.kernels.admit.branch import branch
from bayplan.kernels.admit.greedy import greedy
from bayplan.kernels.admit.local_search import cost_of
from bayplan.kernels.admit.message_bound import sum_of_least, tighten
from bayplan.kernels.admit.repair import repair

few = settings(max_examples=30, deadline=None)


def searched(problem, nodes=10**6):
    question = question_of(problem)
    zone, best = np.zeros(len(problem.cost), dtype=np.int64), np.array([np.inf, 0.0])
    branch(question, tables_of(question, costs_of(question)), tree_of(question), nodes, best, zone)
    return zone, *best.tolist()


@few
@given(problem=one_shot_problems())
def test_greedy_puts_each_member_where_the_twin_does(problem):
    zone = np.zeros(len(problem.cost), dtype=np.int64)
    cost = greedy(*question_of(problem), zone)
    twin = greedily(problem)
    assert zone.tolist() == ([-1] * len(zone) if twin is None else twin.tolist())
    assert cost == pytest.approx(np.inf if twin is None else problem.cost_of(twin))


@few
@given(problem=one_shot_problems())
def test_the_tree_search_finds_what_trying_all_placements_finds(problem):
    zone, cost, bound = searched(problem)
    assert cost == pytest.approx(cheapest(problem))
    assert bound == cost
    assert cost == np.inf or fits(problem, zone)


@pytest.mark.parametrize("same_zone", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_tree_search_is_right_where_there_are_many_placements(same_zone, seed):
    problem = random_case(np.random.default_rng(seed), 5, 5, 2, same_zone, largest=4.0)
    assert searched(problem)[1] == pytest.approx(cheapest(problem))


@few
@given(problem=one_shot_problems(), nodes=st.integers(0, 6))
def test_out_of_nodes_the_bound_still_holds(problem, nodes):
    _, cost, bound = searched(problem, nodes)
    best = cheapest(problem)
    assert bound <= best * (1 + 1e-9)
    assert cost >= best * (1 - 1e-9)


@pytest.mark.parametrize("same_zone", [False, True])
def test_moving_costs_onto_members_changes_no_placement_and_never_lowers_the_bound(same_zone):
    problem = random_case(np.random.default_rng(1), 4, 3, 1, same_zone)
    question = question_of(problem)
    tables = tables_of(question, costs_of(question))
    single, lam, members = tables.single.copy(), np.zeros((4, 4, 3)), np.arange(4)
    bound = sum_of_least(members, single)
    for _ in range(5):
        raised = tighten(tables.pair, tables.talks, members, single, lam, np.zeros((3, 3)))
        assert raised >= bound - 1e-12
        bound = raised
    for zone in np.ndindex(3, 3, 3, 3):
        total = sum(single[v, zone[v]] for v in range(4))
        for v in range(4):
            for w in range(v):
                left = tables.pair[v, w, zone[v], zone[w]] - lam[v, w, zone[v]] - lam[w, v, zone[w]]
                assert left >= -1e-12
                total += left
        assert total == pytest.approx(problem.cost_of(np.array(zone)))
    assert bound <= cheapest(problem)


@few
@given(problem=one_shot_problems())
def test_exchange_ends_where_no_move_of_one_or_two_members_helps(problem):
    question = question_of(problem)
    zone, cost = best_of_starts(question, local_scratch(question, 3 * PASSED))
    if cost == np.inf:
        return
    assert fits(problem, zone)
    for v in range(len(zone)):
        for w in range(v + 1):
            for y, z in np.ndindex(problem.cost.shape[1], problem.cost.shape[1]):
                other = zone.copy()
                other[w], other[v] = y, z
                assert not fits(problem, other) or problem.cost_of(other) >= cost - 1e-9


@few
@given(problem=one_shot_problems(), starts=st.integers(1, 6))
def test_exchange_finds_what_the_twin_finds(problem, starts):
    question = question_of(problem)
    _, cost = best_of_starts(question, local_scratch(question, starts * PASSED))
    assert cost == pytest.approx(by_exchange(problem, starts))


@few
@given(problem=one_shot_problems(), seed=st.integers(0, 99))
def test_a_repaired_placement_fits_and_one_that_fits_stays(problem, seed):
    question = question_of(problem)
    costs = costs_of(question)
    before = np.random.default_rng(seed).integers(0, problem.cost.shape[1], len(problem.cost))
    zone = before.copy()
    cost = repair(question, costs, standing_of(question), zone)
    if fits(problem, before):
        assert zone.tolist() == before.tolist()
        assert cost == pytest.approx(problem.cost_of(before))
    elif cost < np.inf:
        assert fits(problem, zone)
        assert cost == pytest.approx(problem.cost_of(zone))


@few
@given(problem=one_shot_problems())
def test_a_forbidden_choice_costs_more_than_all_that_are_allowed(problem):
    question = question_of(problem)
    costs = costs_of(question)
    for zone in np.ndindex(*[problem.cost.shape[1]] * len(problem.cost)):
        at = np.array(zone)
        real, seen = problem.cost_of(at), cost_of(question, costs, at)
        assert seen == pytest.approx(real) if np.isfinite(real) else seen >= costs.forbidden_cost[0]
        assert not np.isfinite(real) or real < costs.forbidden_cost[0]
