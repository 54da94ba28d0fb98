"""The kernels that place one request against their naive twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.oneshot_cases import cases, fits
from tests.naive.admit_oneshot import cheapest, greedily

from bayplan.decide.admit.oneshot.local import climbed
from bayplan.decide.admit.oneshot.tables import question_of, standing_of, tables_of, tree_of
from bayplan.generate.one_shot_problems import random_case
from bayplan.kernels.admit.branch import branch
from bayplan.kernels.admit.climb import cost_of
from bayplan.kernels.admit.greedy import greedy
from bayplan.kernels.admit.messages import certain, tighten
from bayplan.kernels.admit.repair import repair

few = settings(max_examples=60, deadline=None)


def searched(case, nodes=10**6):
    question = question_of(case)
    zone, best = np.zeros(len(case.cost), dtype=np.int64), np.array([np.inf, 0.0])
    branch(question, tables_of(question), tree_of(question), nodes, best, zone)
    return zone, *best.tolist()


@few
@given(case=cases())
def test_greedy_puts_each_member_where_the_twin_does(case):
    zone = np.zeros(len(case.cost), dtype=np.int64)
    cost = greedy(*question_of(case), zone)
    twin = greedily(case)
    assert zone.tolist() == ([-1] * len(zone) if twin is None else twin.tolist())
    assert cost == pytest.approx(np.inf if twin is None else case.cost_of(twin))


@few
@given(case=cases())
def test_the_tree_search_finds_what_trying_all_placements_finds(case):
    zone, cost, bound = searched(case)
    assert cost == pytest.approx(cheapest(case))
    assert bound == cost
    assert cost == np.inf or fits(case, zone)


@pytest.mark.parametrize("same_zone", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_tree_search_is_right_where_there_are_many_placements(same_zone, seed):
    case = random_case(np.random.default_rng(seed), 5, 5, 2, same_zone, largest=4.0)
    assert searched(case)[1] == pytest.approx(cheapest(case))


@few
@given(case=cases(), nodes=st.integers(0, 6))
def test_out_of_nodes_the_bound_still_holds(case, nodes):
    _, cost, bound = searched(case, nodes)
    best = cheapest(case)
    assert bound <= best * (1 + 1e-9)
    assert cost >= best * (1 - 1e-9)


@pytest.mark.parametrize("same_zone", [False, True])
def test_moving_costs_onto_members_changes_no_placement_and_never_lowers_the_bound(same_zone):
    case = random_case(np.random.default_rng(1), 4, 3, 1, same_zone)
    tables = tables_of(question_of(case))
    single, lam, members = tables.single.copy(), np.zeros((4, 4, 3)), np.arange(4)
    bound = certain(members, single)
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
        assert total == pytest.approx(case.cost_of(np.array(zone)))
    assert bound <= cheapest(case)


@few
@given(case=cases())
def test_exchange_ends_where_no_move_of_one_or_two_members_helps(case):
    question = question_of(case)
    zone, cost = climbed(question, tables_of(question), 3)
    if cost == np.inf:
        return
    assert fits(case, zone)
    for v in range(len(zone)):
        for w in range(v + 1):
            for y, z in np.ndindex(case.cost.shape[1], case.cost.shape[1]):
                other = zone.copy()
                other[w], other[v] = y, z
                assert not fits(case, other) or case.cost_of(other) >= cost - 1e-9


@few
@given(case=cases(), seed=st.integers(0, 99))
def test_a_repaired_placement_fits_and_one_that_fits_stays(case, seed):
    question = question_of(case)
    tables = tables_of(question)
    before = np.random.default_rng(seed).integers(0, case.cost.shape[1], len(case.cost))
    zone = before.copy()
    cost = repair(question, tables, standing_of(question), zone)
    if fits(case, before):
        assert zone.tolist() == before.tolist()
        assert cost == pytest.approx(case.cost_of(before))
    elif cost < np.inf:
        assert fits(case, zone)
        assert cost == pytest.approx(case.cost_of(zone))


@few
@given(case=cases())
def test_a_forbidden_choice_costs_more_than_all_that_are_allowed(case):
    tables = tables_of(question_of(case))
    for zone in np.ndindex(*[case.cost.shape[1]] * len(case.cost)):
        at = np.array(zone)
        real, seen = case.cost_of(at), cost_of(tables, at)
        assert seen == pytest.approx(real) if np.isfinite(real) else seen >= tables.barred[0]
        assert not np.isfinite(real) or real < tables.barred[0]
