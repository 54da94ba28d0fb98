"""Whether a plan passes, and whether anything may be done now."""

from dataclasses import dataclass

import pytest
from tests.builders.operated import operation, talkers

from bayplan.operate.simulated import MONDAY
from bayplan.operate.stages.gate import acting_allowed, gate
from bayplan.operate.windows import read_window


@dataclass
class Gaining:
    """As much of a plan as the gate looks at."""

    gain: float
    urgent: bool = False


@pytest.mark.parametrize(
    ("gain", "most", "passes"), [(0.031, 0.031, True), (0.03, 0.03, False), (0.005, 0.2, True), (0.004, 0.2, False)]
)
def test_a_plan_passes_with_more_than_the_least_gain_in_all_and_a_part_of_it_by_itself(gain, most, passes):
    verdict = gate(operation().context, Gaining(gain), most)
    assert verdict.passes is passes
    assert f"{100 * most:.1f} points to gain" in verdict.why


def test_nothing_is_allowed_while_it_is_paused_or_outside_of_a_window():
    o = operation(windows=(read_window("00:00-01:00"),))
    assert acting_allowed(o.context).passes
    assert "closes in 60 minutes" in acting_allowed(o.context, duration=3601).why
    o.store.pause("ann", MONDAY, "release night")
    assert acting_allowed(o.context).why == "paused by ann: release night"
    o.store.resume("ann", MONDAY)
    o.cluster.wait(3600)
    assert "outside of the windows" in acting_allowed(o.context).why


def test_executions_of_an_hour_and_a_day_are_counted():
    o = operation(talkers(), executions_per_hour=1)
    assert o.loop.turn().verdict == "executed"
    assert "no further plan" in acting_allowed(o.context).why
    o.cluster.wait(3601)
    assert acting_allowed(o.context).passes
