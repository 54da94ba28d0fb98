"""What a unit more is worth in a linear program, by both methods; programs that grow."""

import highspy
import numpy as np
import pytest

from bayplan.errors import WorldError
from bayplan.solvers.master import Master, duals_of
from bayplan.solvers.program import LinearExpression, ProgramBuilder


def knapsack(room: float):
    """Two goods of value 3 and 2, one unit of room each, at most one of the first."""
    draft = ProgramBuilder()
    first, second = draft.column(-3.0, upper=1.0), draft.column(-2.0)
    draft.row(LinearExpression([first, second], [1.0, 1.0]), at_most=room)
    return draft.program()


@pytest.mark.parametrize("interior", [True, False], ids=["interior", "simplex"])
def test_duals_are_the_worth_of_one_more(interior):
    duals = duals_of(knapsack(4.0), interior=interior)
    assert duals.row == pytest.approx(np.array([-2.0]), abs=1e-6)
    assert duals.column == pytest.approx(np.array([-1.0, 0.0]), abs=1e-6)


@pytest.mark.parametrize("interior", [True, False], ids=["interior", "simplex"])
def test_a_program_without_a_point_has_no_duals(interior):
    draft = ProgramBuilder()
    only = draft.column(-1.0, upper=1.0)
    draft.row(LinearExpression([only], [1.0]), at_least=2.0)
    assert duals_of(draft.program(), interior=interior) is None


@pytest.mark.parametrize("interior", [True, False], ids=["interior", "simplex"])
def test_without_columns_rows_alone_say_whether_there_is_an_optimum(interior):
    feasible = Master(np.array([-1.0, 0.0]), np.array([0.0, 2.0]), interior=interior)
    for cost, value, dual in (feasible.solve(), feasible.solve_within(1.0)):
        assert (cost, value.tolist(), dual.tolist()) == (0.0, [], [0.0, 0.0])
    infeasible = Master(np.ones(1), np.ones(1), interior=interior)
    assert infeasible.solve_within(1.0) is None
    with pytest.raises(WorldError, match="0 columns"):
        infeasible.solve()


def test_without_columns_a_program_has_duals_if_its_rows_hold():
    for at_most, wanted in ((0.0, [0.0]), (-1.0, None)):
        draft = ProgramBuilder()
        draft.row(LinearExpression([], []), at_most=at_most)
        duals = duals_of(draft.program())
        assert (duals and duals.row.tolist()) == wanted


@pytest.mark.parametrize("seconds", [None, 60.0], ids=["no limit", "a minute"])
def test_a_master_that_highs_gives_up_on_gets_a_fresh_start(seconds, monkeypatch):
    master, run = Master(np.ones(1), np.full(1, np.inf)), Master._run
    master.add(2.0, [0], [1.0])
    states = iter([highspy.HighsModelStatus.kUnknown])
    monkeypatch.setattr(Master, "_run", lambda self: next(states, None) or run(self))
    cost, value, dual = master.solve_within(seconds)
    assert (cost, value.tolist(), dual.tolist()) == (2.0, [1.0], [2.0])


def test_a_master_without_time_is_not_solved():
    master = Master(np.ones(1), np.full(1, np.inf))
    master.add(2.0, [0], [1.0])
    assert master.solve_within(0.0) is None
    assert master.solve()[0] == 2.0
