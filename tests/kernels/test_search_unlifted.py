"""Tests and prices without lifting against those with the items lifted, and lists of machines against a test of each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stress.search_walks import problems, standing

from bayplan.kernels.search.delta_cost import delta_cost, machine_cost
from bayplan.kernels.search.eject import new_lifted_set
from bayplan.kernels.search.feasible import fits_if_emptied, fits_ignoring_dependencies
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.reach import list_size, listed_machine, random_machine
from bayplan.kernels.search.state import BUSIEST_MOVE, NOWHERE
from bayplan.kernels.search.steps import best_partner, cheapest_refuge
from bayplan.kernels.search.unlifted import may_enter, shift_floor
from bayplan.kernels.search.walk import StepSettings
from bayplan.search import reach
from bayplan.search.state import new_search_state
from bayplan.search.verify_state import block

FEW = settings(max_examples=30)
ALL = StepSettings(shift_tries=1, eject_tries=1_000, eject_finds=1_000, scan=1_000)
seeds = st.integers(1, 2**63)


def machines(state):
    return range(len(state.cluster.machines.name))


def close_to(value, *parts):
    """Sums of floats in another order differ by so little."""
    return 1e-9 * (1.0 + abs(value) + sum(map(abs, parts)))


@FEW
@given(problem=problems())
def test_lists_hold_every_machine_that_an_item_could_run_on(problem):
    state = new_search_state(problem)
    arrays, items = state.arrays, state.items
    allowed, allow_row = block(arrays, "allowed").reshape(-1, len(machines(state))), block(arrays, "allow_row")
    for i in np.flatnonzero(items.only == NOWHERE).tolist():
        listed = [listed_machine(arrays, i, 0, t) for t in range(list_size(arrays, i))]
        expected = {m for m in machines(state) if fits_if_emptied(arrays, i, m)}
        home = {int(items.home[i])} - {NOWHERE}
        assert len(set(listed)) == len(listed)
        assert {m for m in {*listed, *home} if allowed[allow_row[items.kind_of[i]], m]} == expected


@FEW
@given(problem=problems())
def test_what_has_no_choice_can_run_nowhere_else(problem):
    state = new_search_state(problem)
    for i in np.flatnonzero(~state.has_choice & (state.machine_of != NOWHERE)).tolist():
        elsewhere = [m for m in machines(state) if m != state.machine_of[i] and fits_if_emptied(state.arrays, i, m)]
        assert elsewhere == []


@FEW
@given(problem=problems(), seed=seeds, listed=st.booleans())
def test_machines_are_drawn_from_the_list_and_the_home(problem, seed, listed):
    with pytest.MonkeyPatch.context() as patch:
        if not listed:
            patch.setattr(reach, "MAX_LISTED", 0)
        state = new_search_state(problem)
    rng = np.array([seed], dtype=np.uint64)
    for i in range(len(state.items.kind_of)):
        size = list_size(state.arrays, i)
        possible = {listed_machine(state.arrays, i, 0, t) for t in range(size)} | {int(state.items.home[i])}
        drawn = {random_machine(state.arrays, i, rng) for _ in range(20)}
        assert drawn <= possible
        assert NOWHERE not in drawn or not size


@FEW
@given(problem=problems())
def test_nothing_that_may_be_dropped_is_kept_out_beforehand(problem):
    state = new_search_state(problem)
    for i in standing(state).tolist():
        origin = int(state.machine_of[i])
        entered = [m for m in machines(state) if m != origin and may_enter(state.arrays, i, m)]
        lift(state.arrays, i)
        fitting = [m for m in machines(state) if m != origin and fits_ignoring_dependencies(state.arrays, i, m)]
        drop(state.arrays, i, origin)
        assert set(fitting) <= set(entered)


@FEW
@given(problem=problems())
def test_a_price_without_lifting_is_that_with_lifting(problem):
    """Never more; the same where no service that moves most is paid for and no dependency is unmet."""
    state = new_search_state(problem)
    arrays, at = state.arrays, state.arrays.at
    exact = block(arrays, "move_price")[BUSIEST_MOVE] == 0
    for i in standing(state).tolist():
        origin, kind, empty = int(state.machine_of[i]), int(state.items.kind_of[i]), int(at["empty_kind"][0])
        left = machine_cost(arrays, origin, empty, kind)
        floor = [shift_floor(arrays, i, m, left) for m in machines(state)]
        lift(arrays, i)
        here = delta_cost(arrays, i, origin)
        change = [delta_cost(arrays, i, m) - here for m in machines(state)]
        drop(arrays, i, origin)
        for m in machines(state):
            if m != origin:
                assert floor[m] <= change[m] + close_to(change[m], here, state.total)
                assert not exact or floor[m] == pytest.approx(change[m], rel=1e-9, abs=close_to(0.0, here, state.total))


def change_of_pair(state, i, m, j, target):
    """What it costs to put i on m and j, which leaves it, on the target; None if that may not be."""
    arrays, total = state.arrays, state.total
    origin, there = lift(arrays, i), lift(arrays, j)
    change = None
    if fits_ignoring_dependencies(arrays, i, m):
        drop(arrays, i, m)
        if fits_ignoring_dependencies(arrays, j, target):
            change = state.total - total + delta_cost(arrays, j, target)
        lift(arrays, i)
    drop(arrays, i, origin)
    drop(arrays, j, there)
    return change


def pairs(state):
    """Items of different kinds on different machines, the first few."""
    items = standing(state).tolist()
    kind_of, on = state.items.kind_of, state.machine_of
    return [(i, j) for i in items for j in items if kind_of[i] != kind_of[j] and on[i] != on[j]][:12]


@FEW
@given(problem=problems(), seed=seeds)
def test_no_ejection_that_is_cheap_enough_is_given_up_before_lifting(problem, seed):
    state = new_search_state(problem)
    rng, lifted = np.array([seed], dtype=np.uint64), new_lifted_set(len(problem.cluster.resources))
    for i, j in pairs(state):
        m = int(state.machine_of[j])
        changes = [change_of_pair(state, i, m, j, target) for target in machines(state) if target != m]
        limit = min((change for change in changes if change is not None), default=None)
        if limit is not None:
            allowance = limit + close_to(limit, state.total)
            assert cheapest_refuge(state.arrays, i, m, j, ALL, rng, allowance, lifted) >= 0


@FEW
@given(problem=problems(), seed=seeds)
def test_no_swap_that_is_cheap_enough_is_given_up_before_lifting(problem, seed):
    state = new_search_state(problem)
    rng = np.array([seed], dtype=np.uint64)
    for i, j in pairs(state):
        m, origin = int(state.machine_of[j]), int(state.machine_of[i])
        limit = change_of_pair(state, i, m, j, origin)
        if limit is not None:
            assert best_partner(state.arrays, i, m, limit + close_to(limit, state.total), rng) >= 0
