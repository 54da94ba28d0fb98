"""What [RASA] §III says of the running system beside simulated weeks of the loop. A case is a week, or an execution in one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from bayplan.words import count
from experiments.production.week_figures import CellFigures, figures_of, local_mean, weeks_of
from experiments.production.week_settings import LOCAL, NO_CAP, SECONDS, STEADY
from experiments.results import rows
from experiments.verdicts import Claim, at_most, below, judged, percent

MOST_MOVED = 0.05  # share of the containers, of one execution (§III-B)
FEW = 6  # executions a day: "a few times"
HIGH = 0.03  # points below a fresh optimisation that are still high: the gate lets smaller gains pass
PAGE = "verbs/production-week.md"


def week_claims_in(folder: Path) -> list[Claim]:
    """The claims, for both goals of the loop. The loop has a limit of 5 % of its own: what it moves is judged without it."""
    figures = figures_of(rows(folder / "week-turns.csv"), rows(folder / "week-cells.csv"))
    found = []
    for goal in (LOCAL, STEADY):
        weeks = weeks_of(figures, goal)
        names = sorted({each.end["cluster"] for each in weeks})
        seeds = sorted({each.end["seed"] for each in weeks})
        seconds = ", ".join(f"{SECONDS[name]:g} s" for name in names)
        scale = f"our loop, simulated: {count(len(weeks), 'week')} of {', '.join(names)}, {count(len(seeds), 'seed')}, "
        scale += f"{seconds} a plan (the paper: 60 s)"
        found += [replace(claim, text=f"{claim.text} (goal `{goal}`)", scale=scale, page=PAGE) for claim in week_claims(weeks)]
    free = [each for each in figures if each.end["variant"] == NO_CAP]
    words = ", ".join(f"{each.end['days']} day of {each.name}" for each in free)
    scale = f"our loop without its limit of moves, simulated: {words}"
    return [*found, *(replace(claim, scale=scale, page=PAGE) for claim in moved_claims(free))]


def moved_claims(cells: Sequence[CellFigures]) -> Iterator[Claim]:
    """What an execution moves where nothing limits it."""
    moved = {f"{each.name}, {n}": share for each in cells for n, share in enumerate(each.shares, start=1)}
    shown = f"{percent(mean(moved.values()))} on average, at most {percent(max(moved.values()))}" if moved else None
    text = "less than 5 % of the containers move in each execution (nothing limits them)"
    yield judged("§III-B", text, below(MOST_MOVED), max(moved.values(), default=None), paper="below 5 %", ours=shown)


def week_claims(weeks: Sequence[CellFigures]) -> Iterator[Claim]:
    """Executions and affinity after the first day."""
    daily = {each.name: each.executions_later for each in weeks}
    shown = f"{', '.join(f'{value:.1f}' for value in daily.values())} times a day after day 1"
    text = f"executions happen a few times a day, at most {FEW}"
    yield judged("§III-B", text, at_most(FEW), daily, paper="a few", ours=shown)
    below_fresh = {each.name: mean(each.below_fresh) for each in weeks if each.below_fresh}
    ahead = [100 * (local_mean(each.later) - local_mean(each.alone[each.first_later :])) for each in weeks if each.alone]
    shown = f"{', '.join(f'{100 * value:.1f}' for value in below_fresh.values())} points below a fresh optimisation, "
    shown += f"{', '.join(f'{value:.0f}' for value in ahead)} above the default scheduler"
    text = f"gained affinity remains consistently high: within {100 * HIGH:g} points of a fresh optimisation"
    yield judged("§III-A", text, at_most(HIGH), below_fresh, paper="high", ours=shown)
