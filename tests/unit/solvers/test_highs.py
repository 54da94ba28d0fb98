from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.errors import ModelError
from bayplan.model import Status
from bayplan.solvers.highs import solve
from bayplan.solvers.program import LinearExpression, ProgramBuilder


def knapsack(value: list[int], size: list[int], room: int, start: list[float] | None = None) -> ProgramBuilder:
    draft = ProgramBuilder()
    columns = [draft.column(-v, upper=1.0, integral=True, start=start[i] if start else 0.0) for i, v in enumerate(value)]
    draft.row(LinearExpression(columns, size), at_most=room)
    return draft


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=6), st.integers(0, 20))
def test_a_knapsack_is_solved_as_by_trying_all(things, room):
    value, size = ([thing[i] for thing in things] for i in range(2))
    choices = (np.array(choice) for choice in product((0, 1), repeat=len(value)))
    best = max(int(choice @ value) for choice in choices if choice @ size <= room)
    answer = solve(knapsack(value, size, room).program())
    assert answer.status is Status.OPTIMAL
    assert answer.cost == pytest.approx(-best)
    assert answer.bound == pytest.approx(-best, abs=1e-6)
    assert np.array(size) @ answer.point <= room


def test_a_linear_program_needs_no_whole_numbers():
    draft = ProgramBuilder()
    x = draft.column(-1.0)
    draft.row(LinearExpression([x], [2.0]), at_most=5.0)
    answer = solve(draft.program())
    assert (answer.status, answer.cost, answer.bound) == (Status.OPTIMAL, -2.5, -2.5)


def test_what_contradicts_itself_is_infeasible():
    draft = ProgramBuilder()
    x = draft.column(1.0, upper=1.0, integral=True)
    draft.row(LinearExpression([x], [1.0]), at_least=2.0)
    answer = solve(draft.program())
    assert (answer.status, answer.point, answer.bound) == (Status.INFEASIBLE, None, None)


@pytest.mark.parametrize(("limit", "status"), [(0.0, Status.OPTIMAL), (-1.0, Status.INFEASIBLE)])
def test_a_program_without_columns_is_decided_by_its_constants(limit, status):
    draft = ProgramBuilder()
    draft.row(LinearExpression([], [], 0.0), at_most=limit)
    assert solve(draft.program()).status is status


def test_without_a_cheapest_point_there_is_no_answer():
    draft = ProgramBuilder()
    draft.column(-1.0)
    with pytest.raises(ModelError, match="no cheapest point"):
        solve(draft.program())


def test_without_time_the_start_is_the_answer():
    value, size = list(range(5, 45)), [7 * i % 23 + 3 for i in range(40)]
    start = [1.0] + [0.0] * 39
    answer = solve(knapsack(value, size, 100, start).program(), seconds=0.0)
    assert answer.status in (Status.FEASIBLE, Status.OUT_OF_BUDGET)
    assert answer.point is None or answer.cost <= -5.0


def test_costs_that_are_tiny_beside_each_other_count():
    draft = ProgramBuilder()
    columns = [draft.column(cost, upper=1.0, integral=True) for cost in (3e-7, 2e-7, 4e-7)]
    draft.row(LinearExpression(columns, [1.0] * 3), at_least=1.0)
    assert solve(draft.program()).point.tolist() == [0.0, 1.0, 0.0]


def test_an_excess_is_the_positive_part_of_a_line():
    draft = ProgramBuilder()
    x = draft.column(-1.0, upper=3.0, integral=True, start=3.0)
    above = draft.excess(LinearExpression([x], [10.0], -15.0), 0.15)
    assert draft.start[above] * 10.0 == 15.0
    answer = solve(draft.program())
    assert answer.point[0] == 2.0  # the second unit costs 0.75, the third 1.5
    assert answer.cost == pytest.approx(-1.25)


def test_parts_that_do_not_fit_are_refused():
    draft = ProgramBuilder()
    draft.column(float("nan"))
    with pytest.raises(ModelError, match="not finite"):
        draft.program()
