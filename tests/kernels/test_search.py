"""The kernels of the search against whole placements, scored and refereed anew.

`fits and others_kept` never lets anything pass that the referee minds. It minds a little more than the referee does:

- a resource with a transient rule counts as capped, whether a capacity rule names it or not;
- where a group above the machine violates a rule, what is in it may leave it, but not move within it;
- a container whose unit is scattered stays, and a new member of such a unit may go to one of its machines only;
- a service that uses too few groups while some of its containers wait gets another only in a new group that mends it;
- a container that a skew rule judges but does not count comes to no group that is beyond the limit.

So the converse is tested without these. A walk keeps every rule in every place; only dependencies and skew are counted all
together: an ejection may leave one container alone if it helps another. A dependency that is stated twice counts once.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.naive.search import allowed_move, breaches, change, same_broken_group
from tests.stress.search_walks import expect_sound, problems, standing, walked

from bayplan.errors import ModelError
from bayplan.kernels.search.delta_cost import delta_cost
from bayplan.kernels.search.feasible import fits, others_kept
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.state import MOVED
from bayplan.model import UNPLACED, Capacity, Skew, Spread, Transient
from bayplan.score.gmrp import moves
from bayplan.score.terms import TermInputs
from bayplan.search.state import new_search_state
from bayplan.search.verify_state import block, verify_state

seeds = st.integers(1, 2**63)
FEW = settings(max_examples=30)


def members(state, i):
    return state.items.container[state.items.start[i] : state.items.start[i + 1]].tolist()


def case(problem):
    return TermInputs(problem.cluster, problem.start, problem.objective, problem.before)


def machines(state):
    return range(len(state.cluster.machines.name))


@FEW
@given(problem=problems())
def test_prices_are_changes_of_the_objective(problem):
    state = new_search_state(problem)
    for i in standing(state).tolist():
        origin = lift(state.arrays, i)
        here = delta_cost(state.arrays, i, origin)
        for m in machines(state):
            expected = change(case(problem), members(state, i), origin, m)
            assert delta_cost(state.arrays, i, m) - here == pytest.approx(expected, rel=1e-9, abs=1e-9)
        drop(state.arrays, i, origin)


@FEW
@given(problem=problems())
def test_prices_of_new_containers_differ_as_the_objective_does(problem):
    state = new_search_state(problem)
    for i in np.flatnonzero(state.machine_of == UNPLACED).tolist():
        for m in machines(state):
            expected = change(case(problem), members(state, i), 0, m)
            assert delta_cost(state.arrays, i, m) - delta_cost(state.arrays, i, 0) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@FEW
@given(problem=problems())
def test_what_may_be_dropped_breaks_nothing(problem):
    state = new_search_state(problem)
    for i in standing(state).tolist():
        origin = lift(state.arrays, i)
        good = [
            m for m in machines(state) if m != origin and fits(state.arrays, i, m) and others_kept(state.arrays, i, origin, m)
        ]
        assert all(allowed_move(problem.cluster, problem.before, problem.start, members(state, i), m) for m in good)
        drop(state.arrays, i, origin)


@FEW
@given(problem=problems())
def test_new_containers_that_may_be_dropped_break_nothing(problem):
    state = new_search_state(problem)
    for i in np.flatnonzero(state.machine_of == UNPLACED).tolist():
        good = [m for m in machines(state) if fits(state.arrays, i, m)]
        assert all(allowed_move(problem.cluster, problem.before, problem.start, members(state, i), m) for m in good)


@FEW
@given(problem=problems())
def test_what_breaks_nothing_may_be_dropped(problem):
    cluster = problem.cluster
    capped = {r for rule in cluster.rules if isinstance(rule, Capacity) for r in rule.resources}
    assume(all(rule.resource in capped for rule in cluster.rules if isinstance(rule, Transient)))
    assume(all(rule.workload in rule.counts for rule in cluster.rules if isinstance(rule, Skew)))
    state, now = new_search_state(problem), breaches(cluster, problem.start, problem.before)
    waits = (problem.start.machine_of == UNPLACED).any()
    assume(not (waits and any(isinstance(rule, Spread) for rule in cluster.rules)))
    for i in standing(state).tolist():
        origin = lift(state.arrays, i)
        for m in machines(state):
            if m == origin or same_broken_group(cluster, now, origin, m):
                continue
            if allowed_move(cluster, problem.before, problem.start, members(state, i), m):
                assert fits(state.arrays, i, m)
                assert others_kept(state.arrays, i, origin, m)
        drop(state.arrays, i, origin)


@FEW
@given(problem=problems(), seed=seeds)
def test_walks_keep_sums_rules_and_the_best(problem, seed):
    expect_sound(problem, walked(problem, seed=seed))


@FEW
@given(problem=problems(broken=True), seed=seeds)
def test_walks_from_broken_starts_break_nothing_more(problem, seed):
    expect_sound(problem, walked(problem, seed=seed, heat=100.0))


@FEW
@given(problem=problems(), data=st.data())
def test_items_may_be_put_anywhere_at_once(problem, data):
    state = new_search_state(problem)
    anywhere = st.integers(UNPLACED, len(problem.cluster.machines.name) - 1)
    wanted = np.array(
        data.draw(st.lists(anywhere, min_size=len(state.machine_of), max_size=len(state.machine_of))), dtype=np.int64
    )
    state.move_to(wanted)
    assert state.machine_of.tolist() == wanted.tolist()
    verify_state(state, problem)


@FEW
@given(problem=problems(), seed=seeds)
def test_moves_of_units_are_counted_by_name(problem, seed):
    """Replicas are interchangeable, units are not; so the state never counts fewer moves than the score."""
    assume(problem.max_moves is not None)
    walk = walked(problem, seed=seed)
    counted = int(block(walk.state.arrays, "tally")[MOVED])
    scored = moves(problem.cluster, walk.state.placement(), problem.before)
    assert counted == scored if not walk.state.items.units else counted >= scored


@FEW
@given(problem=problems())
def test_an_audit_finds_any_wrong_sum(problem):
    state = new_search_state(problem)
    for name in ("amount", "count", "groups_used", "row_placed", "total", "utilisation_sum"):
        if len(block(state.arrays, name)):
            block(state.arrays, name)[0] += 1
            with pytest.raises(ModelError, match=name):
                verify_state(state, problem)
            block(state.arrays, name)[0] -= 1


def test_strolls_go_somewhere():
    """The walks above are not empty: most problems let something move."""
    went = []

    @settings(max_examples=30, database=None)
    @given(problem=problems(broken=False))
    def go(problem):
        went.append(walked(problem, heat=100.0).changes > 0)

    go()
    assert sum(went) > len(went) / 4
