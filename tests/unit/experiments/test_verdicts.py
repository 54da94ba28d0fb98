"""The rule of verdicts: both tails, edges, cases, and what was not measured."""

from math import nan

import pytest
from experiments.verdicts import (
    Claim,
    Stated,
    Verdict,
    about,
    above,
    at_least,
    at_most,
    below,
    between,
    claim_table,
    judged,
    level,
    near,
    spanning,
    together,
    verdict,
    weakest,
    yes,
)

REPRODUCED, DIRECTION, NOT, UNTESTED = Verdict


@pytest.mark.parametrize(
    ("ours", "word"),
    [
        (0.15, REPRODUCED),
        (0.08, REPRODUCED),  # the lower edge: a fifth below 10 %
        (0.24, REPRODUCED),  # the upper edge: a fifth above 20 %
        (0.0799, DIRECTION),
        (0.2401, DIRECTION),
        (0.02, DIRECTION),  # 2 % more is not 10 to 20 % more
        (1.77, DIRECTION),  # and neither is 177 % more
        (0.0, NOT),
        (-0.15, NOT),
    ],
)
def test_ten_to_twenty_percent_more_is_neither_two_nor_a_hundred(ours, word):
    assert verdict([ours], between(0.10, 0.20)) is word


@pytest.mark.parametrize(
    ("ours", "word"),
    [(2.0, REPRODUCED), (1.8, REPRODUCED), (2.2, REPRODUCED), (4.62, DIRECTION), (1.1, DIRECTION), (1.0, NOT), (0.9, NOT)],
)
def test_twice_as_many_is_judged_from_no_difference_on(ours, word):
    assert verdict([ours], about(2.0, neutral=1.0)) is word


@pytest.mark.parametrize(
    ("ours", "word"),
    [(-0.2375, REPRODUCED), (-0.19, REPRODUCED), (-0.285, REPRODUCED), (-0.80, DIRECTION), (0.05, NOT), (0.0, NOT)],
)
def test_a_fall_is_judged_as_a_rise_is(ours, word):
    assert verdict([ours], about(-0.2375)) is word


def test_a_range_of_falls_is_widened_at_both_ends():
    stated = between(-0.7, -0.2)
    assert (stated.low, stated.high) == pytest.approx((-0.84, -0.16))
    assert verdict([-0.9], stated) is DIRECTION
    assert verdict([-0.1], stated) is DIRECTION


@pytest.mark.parametrize(
    ("cases", "word"),
    [
        ([0.1, 0.3, 0.5], REPRODUCED),
        ([0.08, 0.6], REPRODUCED),  # the edges: a fifth below 10 % and a fifth above 50 %
        ([0.12, 0.4], REPRODUCED),  # and the inner edges
        ([0.018, 0.686], DIRECTION),  # a mean of 35 % hides that both ends are elsewhere
        ([0.1, 0.7], DIRECTION),
        ([0.2, 0.5], DIRECTION),
        ([0.3], DIRECTION),  # one case has no span
        ([-0.5, -0.1], NOT),
    ],
)
def test_a_span_is_judged_at_both_ends(cases, word):
    assert verdict(cases, spanning(0.1, 0.5)) is word


def test_a_span_of_falls_has_its_ends_too():
    stated = spanning(-0.72, -0.17)
    assert stated.rule == "both ends ±20 %"
    assert [verdict(cases, stated) for cases in ([-0.7, -0.18], [-0.24, -0.18])] == [REPRODUCED, DIRECTION]


@pytest.mark.parametrize(("ours", "word"), [(0.5, REPRODUCED), (0.4, REPRODUCED), (0.6, REPRODUCED), (0.39, NOT), (0.61, NOT)])
def test_a_level_has_no_direction(ours, word):
    assert verdict([ours], level(0.5)) is word


@pytest.mark.parametrize(
    ("ours", "word"),
    [(0.94, REPRODUCED), (0.96, REPRODUCED), (0.92, REPRODUCED), (0.97, DIRECTION), (0.90, DIRECTION), (1.01, NOT)],
)
def test_a_number_may_be_off_by_an_amount(ours, word):
    assert verdict([ours], near(0.94, 0.02, neutral=1.0)) is word


def test_a_number_beside_no_difference_has_no_side():
    assert verdict([0.99], near(1.01, 0.02, neutral=1.0)) is REPRODUCED
    assert verdict([0.98], near(1.01, 0.02, neutral=1.0)) is NOT
    assert verdict([0.0], near(0.0, 0.0)) is REPRODUCED


@pytest.mark.parametrize(
    ("stated", "good", "edge", "bad"),
    [
        (at_least(0.75), 1.0, 0.75, 0.74),
        (at_most(0.12), 0.0, 0.12, 0.13),
        (above(), 100.0, 1e-6, 0.0),
        (below(2.0), 0.0, 2.0 - 1e-6, 2.0),
    ],
)
def test_a_limit_or_a_direction_is_one_sided_and_says_so(stated, good, edge, bad):
    assert stated.rule == "one-sided"
    assert [verdict([value], stated) for value in (good, edge, bad)] == [REPRODUCED, REPRODUCED, NOT]


def test_a_limit_beside_no_difference_knows_a_direction():
    stated = at_least(13.83, neutral=1.0)
    assert [verdict([value], stated) for value in (84.0, 13.83, 2.0, 0.5)] == [REPRODUCED, REPRODUCED, DIRECTION, NOT]


def test_two_sided_rules_state_their_tolerance():
    rules = [stated.rule for stated in (about(1.0), between(1.0, 2.0), level(1.0), near(1.0, 0.02), about(1.0, tolerance=0.05))]
    assert rules == ["±20 %", "±20 %", "±20 %", "±0.02", "±5 %"]


@pytest.mark.parametrize(
    ("gains", "word"),
    [
        ([0.5] * 10, REPRODUCED),
        ([0.5] * 9 + [-0.1], REPRODUCED),  # nine tenths of the cases
        ([0.6] * 8 + [-0.1] * 2, DIRECTION),  # too few cases
        ([0.1] * 9 + [-2.0], NOT),  # not on average
    ],
)
def test_nine_tenths_of_the_cases_have_to_be_on_the_stated_side(gains, word):
    assert verdict(gains, about(0.5)) is word


def test_a_limit_is_asked_of_the_mean_and_of_nine_tenths_of_the_cases():
    assert verdict([1.0] * 9 + [2.5], below(2.0)) is REPRODUCED
    assert verdict([1.0] * 8 + [2.5] * 2, below(2.0)) is DIRECTION
    assert verdict([1.0, 4.0], below(2.0)) is NOT


def test_what_is_missing_does_not_count():
    assert verdict([], about(0.5)) is UNTESTED
    assert verdict([None, nan], about(0.5)) is UNTESTED
    assert verdict([None, 0.5, nan], about(0.5)) is REPRODUCED
    claim = judged("here", "text", about(0.5), {"a": None})
    assert (claim.ours, claim.cases, claim.verdict) == ("-", "", UNTESTED)
    assert judged("here", "text", about(0.5), None, ours="never shown").ours == "-"


def test_cells_with_numbers_of_their_own_are_judged_together():
    assert together([REPRODUCED] * 9 + [NOT]) is REPRODUCED
    assert together([REPRODUCED] * 5 + [DIRECTION] * 4 + [NOT]) is DIRECTION
    assert together([REPRODUCED] * 8 + [NOT] * 2) is NOT
    assert together([REPRODUCED, UNTESTED]) is REPRODUCED
    assert together([UNTESTED]) is together([]) is UNTESTED
    assert weakest([REPRODUCED, DIRECTION, NOT]) is NOT
    assert weakest([REPRODUCED, DIRECTION]) is DIRECTION
    assert weakest([]) is UNTESTED


def test_a_claim_names_where_it_fails_but_not_seeds():
    claim = judged("Figure 4", "below 2", below(2.0), {"V=2": 1.0, "V=3": 3.0, "V=4": 1.0})
    assert (claim.cases, claim.ours) == ("2 of 3; not at V=3", "166.7 %")
    assert judged("x", "x", above(), {"0": 1.0, "1": -0.5}).cases == "1 of 2"
    many = {f"V={v}": float(v) for v in range(-6, 2)}
    assert judged("x", "x", above(), many).cases == "1 of 8; not at V=-6, V=-5, V=-4 and 4 others"
    assert judged("x", "x", above(), {"a": -1.0, "b": -1.0}).cases == "0 of 2"


def test_a_long_line_only_counts_its_cases():
    claim = judged("Figure 4", "x" * 130, below(2.0), {"V=2": 1.0, "V=3": 3.0, "V=4": 1.0})
    assert "| 2 of 3 |" in claim_table([claim])[-1]
    short = claim_table([Claim(where="§I", text="t", stated="2", ours="3", verdict=NOT)])
    assert short[-1] == "| §I: t | 2 | 3 | one-sided | - | not reproduced |"


def test_no_side_is_stated_by_default():
    assert Stated().within(1e300) and Stated().same_side(-1.0)
    assert (yes(True), yes(False)) == ("yes", "**no**")
