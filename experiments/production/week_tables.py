"""The tables of docs/verbs/production-week.md, from the rows of turns, cells, answers in turn and plans in turn."""

from collections.abc import Iterator, Sequence
from statistics import mean

from experiments.production.week_claims import MOST_MOVED, moved_claims, week_claims
from experiments.production.week_figures import CellFigures, local_mean, weeks_of
from experiments.production.week_settings import ALONE, KEY, LOCAL, NO_CAP, PER_DAY
from experiments.results import Row, picked, table
from experiments.verdicts import claim_table, yes

NEAR = 0.03  # points: what the loop should stay within, of a fresh optimisation
REACHED = (
    "cluster",
    "how",
    "seed",
    "days",
    "after 6 h",
    "later, mean (least)",
    "alone, later",
    "fresh, later",
    "below fresh, mean (most)",
)
DONE = (
    "cluster",
    "how",
    "seed",
    "days",
    "executions on day 1",
    "a day later",
    "moved by one (most)",
    "rolled back",
    "held",
    "violations",
    "CPU s a turn",
)


def cell_lines(figures: Sequence[CellFigures]) -> list[str]:
    """Two lines for each cell with a loop: what was reached, and what was done for it."""
    looped = [each for each in figures if each.end["variant"] != ALONE]
    if not looped:
        return []
    return [*table(REACHED, map(_reached, looped)), "", *table(DONE, map(_done, looped))]


def _reached(each: CellFigures) -> list[str]:
    later, below = [float(row["local"]) for row in each.later], each.below_fresh
    fresh = [float(row["fresh"]) for row in each.later if row["fresh"]]
    return [
        *(each.end[name] for name in KEY),
        f"{float(each.turns[min(12, len(each.turns) - 1)]['local']):.3f}",
        f"{mean(later):.3f} ({min(later):.3f})",
        f"{local_mean(each.alone[each.first_later :]):.3f}" if each.alone else "-",
        f"{mean(fresh):.3f}" if fresh else "-",
        f"{_points(mean(below))} ({_points(max(below))})" if below else "-",
    ]


def _done(each: CellFigures) -> list[str]:
    shares = each.shares
    return [
        *(each.end[name] for name in KEY),
        str(each.executions_first),
        f"{each.executions_later:.1f}",
        f"{mean(shares):.1%} ({max(shares):.1%})" if shares else "-",
        each.end["rolled_back"],
        str(each.held),
        each.end["violations"],
        f"{mean(float(row['cpu']) for row in each.turns):.1f}",
    ]


def first_day_lines(figures: Sequence[CellFigures]) -> list[str]:
    """What each choice changes in the first day of the same cluster and seed; the second half of the day is the mean."""
    days = [each for each in figures if each.end["variant"] != ALONE and float(each.end["days"]) >= 1]
    seed = days[0].end["seed"] if days else ""
    same = [each for each in days if (each.end["seed"], each.end["cluster"]) == (seed, days[0].end["cluster"])]
    head = (
        "how",
        "executions",
        "moved in all",
        "largest execution",
        "local, second half of the day",
        "below fresh after the day",
    )
    return table(head, [_first_day(each) for each in same]) if same else []


def _first_day(each: CellFigures) -> list[str]:
    turns = each.turns[: PER_DAY + 1]
    shares = [int(row["moved"]) / int(row["containers"]) for row in turns if int(row["moved"])]
    last = turns[-1]
    return [
        each.end["variant"],
        str(len(shares)),
        f"{sum(shares):.0%}",
        f"{max(shares, default=0.0):.1%}",
        f"{local_mean(turns[PER_DAY // 2 :]):.3f}",
        _points(float(last["fresh"]) - float(last["local"])) if last["fresh"] else "-",
    ]


def _points(share: float) -> str:
    return f"{100 * share:.1f}"


def claim_lines(figures: Sequence[CellFigures], variant: str) -> list[str]:
    """What the paper says of its production beside what the weeks of a goal came to, then a question of our own."""
    weeks = weeks_of(figures, variant)
    if not weeks:
        return []
    below = [value for each in weeks for value in each.below_fresh]
    own = f"below it by {_points(mean(below))} points on average, {_points(max(below))} at most" if below else "not measured"
    near = yes(bool(below) and max(below) <= NEAR)
    free = [each for each in figures if each.end["variant"] == NO_CAP] if variant == LOCAL else []
    moved = max((share for each in weeks for share in each.later_shares), default=0.0)
    return [
        *claim_table([*week_claims(weeks), *(moved_claims(free) if free else ())]),
        "",
        f"- At most {MOST_MOVED:.0%} of the containers in each execution, as the loop's own setting says? "
        f"{yes(moved <= MOST_MOVED)}: at most {moved:.1%} after day 1.",
        f"- Within 3 points of a fresh optimisation of the same instant? {near}: {own}.",
        f"- What a fresh optimisation would move for that: {_price_of_fresh(weeks)}.",
    ]


def _price_of_fresh(weeks: Sequence[CellFigures]) -> str:
    """How much a fresh optimisation would move for that, at later instants."""
    rows = [row for each in weeks for row in each.later if row["fresh_moved"]]
    shares = [int(row["fresh_moved"]) / int(row["containers"]) for row in rows] or [0.0]
    return f"{min(shares):.0%} to {max(shares):.0%} of the containers"


def again_lines(measured: Sequence[Row]) -> list[str]:
    """One line for each answer that starts from the one before."""
    names = {"rasa": "`rasa`", "best": "`best`"}
    body = [
        [
            names.get(row["method"], row["method"]),
            row["number"],
            row["start"],
            f"{float(row['before']):.3f}",
            f"{float(row['after']):.3f}",
            f"{int(row['moved']):,} ({int(row['moved']) / int(row['containers']):.1%})",
            row["cpu"],
        ]
        for row in measured
    ]
    head = ("method", "answer", "starts from", "affinity before", "after", "moved", "CPU s")
    return table(head, body) if body else []


def step_lines(measured: Sequence[Row]) -> list[str]:
    """One line for each goal, way and seed; gained affinity after each plan in turn."""
    ways = list(dict.fromkeys((row["method"], row["start"], row["seed"]) for row in measured))
    numbers = sorted({int(row["number"]) for row in measured})
    body = [[goal, way, seed, *_after(picked(measured, method=goal, start=way, seed=seed), numbers)] for goal, way, seed in ways]
    return table(("goal", "plans", "seed", *(str(number) for number in numbers)), body) if ways else []


def _after(measured: Sequence[Row], numbers: Sequence[int]) -> Iterator[str]:
    after = {int(row["number"]): row["after"] for row in measured}
    return (f"{float(after[number]):.3f}" if number in after else "-" for number in numbers)
