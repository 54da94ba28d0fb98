"""What [RASA] §III says of the running system beside simulated weeks of the loop. A case is a week, or an execution in one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from bayplan.words import count
from experiments.production.week_figures import CellFigures, figures_of, local_mean, weeks_of
from experiments.production.week_settings import LOCAL, STEADY
from experiments.results import rows
from experiments.verdicts import Claim, above, at_most, below, judged

MOST_MOVED = 0.05  # share of the containers, of one execution (§III-B)
FEW = 6  # executions a day: "a few times"
PAGE = "verbs/production-week.md"


def week_claims_in(folder: Path) -> list[Claim]:
    """The claims, for both goals of the loop."""
    figures = figures_of(rows(folder / "week-turns.csv"), rows(folder / "week-cells.csv"))
    found = []
    for goal in (LOCAL, STEADY):
        weeks = weeks_of(figures, goal)
        names = sorted({each.end["cluster"] for each in weeks})
        scale = f"simulated, {count(len(weeks), 'week')} of {', '.join(names)}"
        found += [replace(claim, text=f"{claim.text} (goal `{goal}`)", scale=scale, page=PAGE) for claim in week_claims(weeks)]
    return found


def week_claims(weeks: Sequence[CellFigures]) -> Iterator[Claim]:
    """Churn, executions and affinity after the first day."""
    moved = {f"{each.name}, {n}": share for each in weeks for n, share in enumerate(each.later_shares, start=1)}
    text, most = "less than 5 % of the containers move in each execution", max(moved.values(), default=0.0)
    shown = f"at most {most:.1%} after day 1, {mean(moved.values()):.1%} on average" if moved else "no execution"
    yield judged("§III-B", text, below(MOST_MOVED), most if weeks else None, paper="below 5 %", ours=shown)
    daily = {each.name: each.executions_later for each in weeks}
    shown = f"{', '.join(f'{value:.1f}' for value in daily.values())} times a day after day 1"
    text = f"executions happen a few times a day, at most {FEW}"
    yield judged("§III-B", text, at_most(FEW), daily, paper="a few", ours=shown)
    gains = {each.name: local_mean(each.later) - local_mean(each.alone[each.first_later :]) for each in weeks if each.alone}
    shown = f"{', '.join(f'{100 * value:.0f}' for value in gains.values())} points above the default scheduler"
    yield judged("§III-A", "gained affinity remains consistently high", above(), gains, paper="high", ours=shown)
