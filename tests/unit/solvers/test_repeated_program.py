"""One program, many costs and bounds: the same answers as solving each afresh."""

from dataclasses import replace

import numpy as np
import pytest

from bayplan.errors import ModelError
from bayplan.model import Status
from bayplan.solvers.highs import RepeatedProgram, solve
from bayplan.solvers.program import LinearExpression, ProgramBuilder


def drawn(rng, integral=False):
    draft = ProgramBuilder()
    for _ in range(6):
        draft.column(0.0, upper=1.0, integral=integral)
    for _ in range(4):
        draft.row(LinearExpression(range(6), rng.random(6).tolist()), at_least=0.0, at_most=1.0)
    return draft.program()


def test_each_solve_is_as_good_as_one_from_afresh_and_says_when_there_is_no_point():
    rng = np.random.default_rng(0)
    program = drawn(rng)
    repeated = RepeatedProgram(program)
    seen = set()
    for _ in range(40):
        low = rng.random(4) * 2.5
        changed = replace(program, cost=rng.normal(size=6), row_lower=low, row_upper=low + rng.random(4))
        answer, point = solve(changed), repeated.solve(changed.cost, changed.row_lower, changed.row_upper)
        seen.add(answer.status)
        assert (point is None) == (answer.status is Status.INFEASIBLE)
        assert point is None or changed.cost @ point == pytest.approx(answer.cost, abs=1e-6)
    assert seen == {Status.OPTIMAL, Status.INFEASIBLE}


def test_whole_variables_are_refused():
    with pytest.raises(ModelError, match="integer variables; expected none"):
        RepeatedProgram(drawn(np.random.default_rng(0), integral=True))


def test_a_program_without_columns_is_decided_by_its_rows():
    draft = ProgramBuilder()
    draft.row(LinearExpression([], []), at_most=1.0)
    repeated = RepeatedProgram(draft.program())
    assert repeated.solve(np.zeros(0), np.array([0.0]), np.array([1.0])).tolist() == []
    assert repeated.solve(np.zeros(0), np.array([0.5]), np.array([1.0])) is None
