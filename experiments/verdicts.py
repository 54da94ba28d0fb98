"""Does what was measured agree with what a paper states? One rule for every experiment, and the words of its answers.

A paper states a number, a range, a limit, or that one thing is better than another. `about`, `near` and `between` are
two-sided: ten times the stated gain agrees as little as a tenth of it. `at_least`, `at_most`, `above` and `below` are one-sided,
since the statement is, and say so. `spanning` is for a paper that says from where to where its cases range. What is measured is
one value per *case*: a seed, a setting, a cluster.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import copysign, inf, isnan
from statistics import fmean

from bayplan.words import count
from experiments.results import table

TOLERANCE = 0.2  # of what is stated, as a distance from no difference
ENOUGH = 0.9  # of the cases
ROUNDING = 1e-9
NAMED = 3  # cases at which a statement fails: more are only counted
ONE_SIDED = "one-sided"
LONGEST = 160  # characters in a line of a page


class Verdict(StrEnum):
    """The words for how a statement and a measurement agree."""

    REPRODUCED = "reproduced"  # the mean is within what is stated, and nine tenths of the cases are on the stated side
    DIRECTION = "direction only"  # the mean is on the stated side of no difference; its size, or some cases, are not as stated
    NOT = "not reproduced"  # neither
    UNTESTED = "not tested"  # nothing was measured


RULE = (
    "*Reproduced*: the mean is within what the paper states, and at least nine tenths of the cases are on its side of no "
    "difference. *Direction only*: the mean is on that side, but not of that size, or not in enough cases. *Not reproduced*: "
    "neither. *Not tested*: nothing was measured. The rule beside a number says how far off it may be on both sides, ±20 % of a "
    "stated difference if nothing else is agreed (*both ends*: of the least and of the largest case); statements such as *at "
    "least* or *better than* are one-sided."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What a paper states: where the mean has to lie, and on which side of no difference each case."""

    low: float = -inf  # tolerance included
    high: float = inf
    neutral: float = 0.0  # no difference
    side: int = 0  # 1: above neutral, -1: below it, 0: neither; then each case has to lie within low and high
    rule: str = ONE_SIDED
    ends: tuple[tuple[float, float], tuple[float, float]] | None = None  # of a span: where the least and the largest case lie

    def fits(self, values: Sequence[float]) -> bool:
        """Are the cases as stated: their mean, or the ends of their span?"""
        if self.ends is None:
            return self.within(fmean(values))
        return all(low - ROUNDING <= end <= high + ROUNDING for (low, high), end in zip(self.ends, _ends(values), strict=True))

    def within(self, value: float) -> bool:
        """Is a mean as stated?"""
        return self.low - ROUNDING <= value <= self.high + ROUNDING and (not self.side or self.same_side(value))

    def same_side(self, value: float) -> bool:
        """Does it differ as stated, by whatever amount? Where no side is stated: is it within?"""
        return self.side * (value - self.neutral) > 0 if self.side else self.within(value)


def about(value: float, *, neutral: float = 0.0, tolerance: float = TOLERANCE) -> Stated:
    """A difference of that size: two-sided, within a share of it."""
    return between(value, value, neutral=neutral, tolerance=tolerance)


def between(low: float, high: float, *, neutral: float = 0.0, tolerance: float = TOLERANCE) -> Stated:
    """A difference in that range: two-sided, each end may be passed by a share of its own distance from no difference."""
    wide = [tolerance * abs(end - neutral) for end in (low, high)]
    side = _side((low + high) / 2 - neutral)
    return Stated(low=low - wide[0], high=high + wide[1], neutral=neutral, side=side, rule=f"±{100 * tolerance:g} %")


def spanning(low: float, high: float, *, neutral: float = 0.0, tolerance: float = TOLERANCE) -> Stated:
    """Differences that range from one to the other, over cases: two-sided, the least and the largest case are each judged."""
    wide = [tolerance * abs(end - neutral) for end in (low, high)]
    ends = (low - wide[0], low + wide[0]), (high - wide[1], high + wide[1])
    return Stated(neutral=neutral, side=_side((low + high) / 2 - neutral), rule=f"both ends ±{100 * tolerance:g} %", ends=ends)


def level(value: float, *, tolerance: float = TOLERANCE) -> Stated:
    """A level rather than a difference, such as a share that is served: two-sided, within a share of it."""
    return Stated(low=value - tolerance * abs(value), high=value + tolerance * abs(value), rule=f"±{100 * tolerance:g} %")


def near(value: float, slack: float, *, neutral: float | None = None) -> Stated:
    """A number, within an amount on both sides; on its side of no difference, if that is given."""
    side = 0 if neutral is None or abs(value - neutral) <= slack else _side(value - neutral)
    return Stated(low=value - slack, high=value + slack, neutral=neutral or 0.0, side=side, rule=f"±{slack:g}")


def at_least(value: float, *, neutral: float | None = None) -> Stated:
    """No less than that: one-sided."""
    return Stated(low=value, neutral=neutral or 0.0, side=0 if neutral is None else 1)


def at_most(value: float, *, neutral: float | None = None) -> Stated:
    """No more than that: one-sided."""
    return Stated(high=value, neutral=neutral or 0.0, side=0 if neutral is None else -1)


def above(neutral: float = 0.0) -> Stated:
    """More, by whatever amount: one-sided."""
    return Stated(low=neutral, neutral=neutral, side=1)


def below(neutral: float = 0.0) -> Stated:
    """Less, by whatever amount: one-sided."""
    return Stated(high=neutral, neutral=neutral, side=-1)


def _side(distance: float) -> int:
    return int(copysign(1, distance)) if distance else 0


def verdict(measured: Iterable[float | None], stated: Stated) -> Verdict:
    """The verdict on the values of all cases; those without a value (None, nan) do not count."""
    values = _known(measured)
    if not values:
        return Verdict.UNTESTED
    mean = fmean(values)
    if not stated.same_side(mean):
        return Verdict.NOT
    enough = sum(map(stated.same_side, values)) >= ENOUGH * len(values) - ROUNDING
    return Verdict.REPRODUCED if enough and stated.fits(values) else Verdict.DIRECTION


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on cells that each have a stated number of their own: the best that nine tenths of them reach."""
    tested = [one for one in verdicts if one is not Verdict.UNTESTED]
    if not tested:
        return Verdict.UNTESTED
    for word, enough in ((Verdict.REPRODUCED, _REPRODUCED), (Verdict.DIRECTION, _TOWARDS)):
        if sum(one in enough for one in tested) >= ENOUGH * len(tested) - ROUNDING:
            return word
    return Verdict.NOT


def weakest(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on numbers that all have to agree."""
    order = (Verdict.NOT, Verdict.DIRECTION, Verdict.REPRODUCED, Verdict.UNTESTED)
    return min(verdicts, key=order.index, default=Verdict.UNTESTED)


_REPRODUCED = (Verdict.REPRODUCED,)
_TOWARDS = (Verdict.REPRODUCED, Verdict.DIRECTION)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _known(measured: Iterable[float | None]) -> list[float]:
    return [value for value in measured if value is not None and not isnan(value)]


# ---- claims --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement of a paper beside what we measured."""

    where: str  # 'Table IV, DC_A'
    text: str
    stated: str  # as the paper has it; '-' if it gives no number
    ours: str
    verdict: Verdict
    rule: str = ONE_SIDED
    cases: str = ""  # '9 of 10; not at V=2'
    scale: str = ""  # what is smaller here than in the paper, or other
    page: str = ""  # with the details, as a path in docs/


def judged(
    where: str,
    text: str,
    stated: Stated,
    measured: Mapping[str, float | None] | float | None,
    *,
    paper: str = "-",
    ours: str | None = None,
) -> Claim:
    """A claim with its verdict. `measured`: a value for each case, by its name, or one value."""
    by_case = measured if isinstance(measured, Mapping) else {"": measured}
    known = _known(by_case.values())
    shown = "-" if not known else percent(fmean(known)) if ours is None else ours
    found = verdict(by_case.values(), stated)
    return Claim(where=where, text=text, stated=paper, ours=shown, verdict=found, rule=stated.rule, cases=_cases(by_case, stated))


def _cases(by_case: Mapping[str, float | None], stated: Stated) -> str:
    """'35 of 42; not at V=2, V=3 and 5 others'; nothing of a single case. Seeds that fail are not named."""
    fine = {name: stated.same_side(value) for name, value in by_case.items() if value is not None and not isnan(value)}
    if len(fine) < 2:
        return ""
    failed = [name for name, good in fine.items() if not good and not name.isdecimal()] if any(fine.values()) else []
    more = f" and {count(len(failed) - NAMED, 'other')}" if len(failed) > NAMED else ""
    return f"{sum(fine.values())} of {len(fine)}{'; not at ' if failed else ''}{', '.join(failed[:NAMED])}{more}"


def percent(value: float) -> str:
    """'40.4 %'."""
    return f"{100 * value:.1f} %"


def claim_table(claims: Iterable[Claim]) -> list[str]:
    """One line of Markdown for each claim; cases are only counted where naming them would make it too long."""
    head = ["claim", "the paper", "ours", "rule", "cases", "verdict"]
    body = [[f"{c.where}: {c.text}", c.stated, c.ours, c.rule, c.cases or "-", str(c.verdict)] for c in claims]
    for cells in body:
        if sum(map(len, cells)) + 3 * len(cells) >= LONGEST:
            cells[4] = cells[4].partition(";")[0]
    return table(head, body)


def yes(holds: bool) -> str:
    """The answer to a question of our own, which no paper states."""
    return "yes" if holds else "**no**"
