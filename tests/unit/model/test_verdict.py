"""The one test of optimality: relative, the same in every verb, and deaf to no bound that is passed."""

import pytest

from bayplan.errors import InternalError, ModelError
from bayplan.model import Result, Status, gap_closed, verdict
from bayplan.model.result import OPTIMAL_GAP, SLACK, relative_gap

MAGNITUDES = (1e-300, 1e-10, 1e-5, 1.0, 1e5, 1e12, 1e300)


@pytest.mark.parametrize("unit", MAGNITUDES)
@pytest.mark.parametrize(("goal", "better"), [("value", 1), ("total", -1)])
@pytest.mark.parametrize(
    ("share", "status"),
    [(0.0, Status.OPTIMAL), (OPTIMAL_GAP / 2, Status.OPTIMAL), (1e-7, Status.FEASIBLE), (8.0, Status.FEASIBLE)],
)
def test_the_unit_of_values_does_not_matter(unit, goal, better, share, status):
    value = unit / 16
    assert verdict(goal, value, value + better * share * value) == (status, value + better * share * value)


@pytest.mark.parametrize("unit", MAGNITUDES)
@pytest.mark.parametrize(("goal", "better"), [("value", 1), ("total", -1)])
def test_rounding_passes_a_bound_and_more_is_a_numbered_fault(unit, goal, better):
    assert verdict(goal, unit, unit * (1 - better * SLACK / 2)) == (Status.OPTIMAL, unit)
    with pytest.raises(InternalError, match=r"E2101 internal fault: .* passes its bound") as raised:
        verdict(goal, unit, unit * (1 - better * 1e-7))
    assert raised.value.code == "E2101"


def test_without_a_bound_nothing_is_optimal():
    assert verdict("value", 3.0, None) == (Status.FEASIBLE, None)


def test_a_zero_is_only_met_by_zero():
    assert gap_closed(0.0, 0.0)
    assert not gap_closed(0.0, 1e-300)
    assert relative_gap("value", 0.0, 1e-300) is None


def test_an_internal_fault_has_a_known_number():
    with pytest.raises(ModelError, match="not in bayplan"):
        InternalError("E9999", "nothing")


@pytest.mark.parametrize("value", [1.0, 1e-5, 1e-10, 1e9])
def test_a_result_is_called_optimal_only_where_value_and_bound_meet(value):
    assert (
        Result(status=Status.OPTIMAL, solution=1, score={"total": value}, bound=value * (1 - OPTIMAL_GAP / 2)).gap < OPTIMAL_GAP
    )
    for bound in (value * (1 - 1e-7), value / 2):
        with pytest.raises(ModelError, match="is called optimal"):
            Result(status=Status.OPTIMAL, solution=1, score={"total": value}, bound=bound)
