"""The scans against one move at a time."""

import numpy as np
import pytest
from benchmarks.all_rules import all_rules
from hypothesis import given, settings
from tests.stress.search_walks import problems, standing

from bayplan.kernels.search.delta_cost import delta_cost
from bayplan.kernels.search.evaluate_all import evaluate_all, new_evaluation
from bayplan.kernels.search.feasible import fits, others_kept
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.scan import scan_shifts, scan_swaps
from bayplan.model.rules import RULES
from bayplan.search.state import new_search_state

FEW = settings(max_examples=30)


def view_of(state):
    return new_evaluation(len(state.cluster.machines.name), len(state.cluster.resources))


def may(arrays, i, origin, m):
    return fits(arrays, i, m) and others_kept(arrays, i, origin, m)


def shifts(state):
    """The change of the objective by each allowed shift."""
    arrays = state.arrays
    for i in standing(state).tolist():
        origin = lift(arrays, i)
        here = delta_cost(arrays, i, origin)
        for m in range(len(state.cluster.machines.name)):
            if m != origin and may(arrays, i, origin, m):
                yield delta_cost(arrays, i, m) - here
        drop(arrays, i, origin)


def swaps(state):
    """The change by each allowed swap, made and undone."""
    arrays, items = state.arrays, standing(state).tolist()
    for i in items:
        for j in items:
            origin, m = int(state.machine_of[i]), int(state.machine_of[j])
            if origin == m:
                continue
            before = state.total
            lift(arrays, i)
            lift(arrays, j)
            if may(arrays, i, origin, m):
                drop(arrays, i, m)
                if may(arrays, j, m, origin):
                    drop(arrays, j, origin)
                    yield state.total - before
                    lift(arrays, j)
                lift(arrays, i)
            drop(arrays, j, m)
            drop(arrays, i, origin)


def expect_same(state, slow, fast):
    best, before, total = np.zeros(1), state.machine_of.copy(), state.total
    expected = list(slow(state.copy()))
    assert fast(state.arrays, best) == len(expected)
    assert best[0] == pytest.approx(min(expected, default=np.inf), rel=1e-9, abs=1e-9)
    assert state.machine_of.tolist() == before.tolist()
    assert state.total == total


@FEW
@given(problem=problems())
def test_a_scan_prices_every_allowed_shift_and_moves_nothing(problem):
    state = new_search_state(problem)
    expect_same(state, shifts, lambda arrays, best: scan_shifts(arrays, standing(state), view_of(state), best))


@FEW
@given(problem=problems())
def test_a_survey_finds_the_machines_that_fit_at_their_prices(problem):
    state = new_search_state(problem)
    arrays, view, machines = state.arrays, view_of(state), range(len(state.cluster.machines.name))
    for i in standing(state).tolist():
        origin = lift(arrays, i)
        found = evaluate_all(arrays, i, view)
        expected = [m for m in machines if fits(arrays, i, m)]
        assert view.machine[:found].tolist() == expected
        assert view.delta[:found] == pytest.approx([delta_cost(arrays, i, m) for m in expected], rel=1e-9, abs=1e-9)
        drop(arrays, i, origin)


@FEW
@given(problem=problems())
def test_a_scan_prices_every_allowed_swap_and_moves_nothing(problem):
    state = new_search_state(problem)
    expect_same(state, swaps, lambda arrays, best: scan_swaps(arrays, standing(state), standing(state), best))


def test_the_benchmark_has_every_kind_of_rule_and_breaks_none():
    snapshot = all_rules()  # raises if a rule is violated
    assert {rule.kind for rule in snapshot.cluster.rules} == set(RULES)
    assert len(snapshot.cluster.machines.name) == 2513
    assert len(snapshot.placement.placed) >= 10_000
