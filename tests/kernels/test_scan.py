"""The scans against one move at a time."""

import numpy as np
import pytest
from benchmarks.all_rules import all_rules
from hypothesis import given, settings
from tests.stress.search_walks import problems, standing

from bayplan.kernels.search.delta_cost import delta_cost
from bayplan.kernels.search.evaluate_all import evaluate_all, new_evaluation
from bayplan.kernels.search.feasible import dependants_kept, fits
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.scan import scan_shifts, scan_swaps
from bayplan.model.rules import RULES
from bayplan.search.game import new_game

FEW = settings(max_examples=40)


def view_of(game):
    return new_evaluation(len(game.cluster.machines.name), len(game.cluster.resources))


def may(board, i, origin, m):
    return fits(board, i, m) and dependants_kept(board, i, origin, m)


def shifts(game):
    """The change of the objective by each allowed shift."""
    board = game.arrays
    for i in standing(game).tolist():
        origin = lift(board, i)
        here = delta_cost(board, i, origin)
        for m in range(len(game.cluster.machines.name)):
            if m != origin and may(board, i, origin, m):
                yield delta_cost(board, i, m) - here
        drop(board, i, origin)


def swaps(game):
    """The change by each allowed swap, made and undone."""
    board, items = game.arrays, standing(game).tolist()
    for i in items:
        for j in items:
            origin, m = int(game.machine_of[i]), int(game.machine_of[j])
            if origin == m:
                continue
            before = game.total
            lift(board, i)
            lift(board, j)
            if may(board, i, origin, m):
                drop(board, i, m)
                if may(board, j, m, origin):
                    drop(board, j, origin)
                    yield game.total - before
                    lift(board, j)
                lift(board, i)
            drop(board, j, m)
            drop(board, i, origin)


def expect_same(game, slow, fast):
    best, before, total = np.zeros(1), game.machine_of.copy(), game.total
    expected = list(slow(game.copy()))
    assert fast(game.arrays, best) == len(expected)
    assert best[0] == pytest.approx(min(expected, default=np.inf), rel=1e-9, abs=1e-9)
    assert game.machine_of.tolist() == before.tolist()
    assert game.total == total


@FEW
@given(problem=problems())
def test_a_scan_prices_every_allowed_shift_and_moves_nothing(problem):
    game = new_game(problem)
    expect_same(game, shifts, lambda board, best: scan_shifts(board, standing(game), view_of(game), best))


@FEW
@given(problem=problems())
def test_a_survey_finds_the_machines_that_fit_at_their_prices(problem):
    game = new_game(problem)
    board, view, machines = game.arrays, view_of(game), range(len(game.cluster.machines.name))
    for i in standing(game).tolist():
        origin = lift(board, i)
        found = evaluate_all(board, i, view)
        expected = [m for m in machines if fits(board, i, m)]
        assert view.machine[:found].tolist() == expected
        assert view.delta[:found] == pytest.approx([delta_cost(board, i, m) for m in expected], rel=1e-9, abs=1e-9)
        drop(board, i, origin)


@FEW
@given(problem=problems())
def test_a_scan_prices_every_allowed_swap_and_moves_nothing(problem):
    game = new_game(problem)
    expect_same(game, swaps, lambda board, best: scan_swaps(board, standing(game), standing(game), best))


def test_the_benchmark_has_every_kind_of_rule_and_breaks_none():
    snapshot = all_rules()  # raises if a rule is broken
    assert {rule.kind for rule in snapshot.cluster.rules} == set(RULES)
    assert len(snapshot.cluster.machines.name) == 2513
    assert len(snapshot.placement.placed) >= 10_000
