"""The tables of docs/verbs/production-week.md, from the rows of turns, cells, answers in turn and plans in turn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

from experiments.production.week_settings import ALONE, KEY, PER_DAY
from experiments.results import Row, picked, table

NEAR = 0.03  # points: what the loop should stay within, of a fresh optimisation
MOST_MOVED = 0.05  # share of the containers, of one execution ([RASA] §III-C)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFigures:
    """What the turns of a cell come to. 'Later' is after the first day, or the second half of a shorter cell."""

    end: Row  # of week-cells.csv
    turns: Sequence[Row]
    alone: Sequence[Row]  # turns of the same days without a loop

    @property
    def first_later(self) -> int:
        """The first turn that counts as later."""
        last = len(self.turns) - 1
        return PER_DAY if last > PER_DAY else last // 2

    @property
    def later(self) -> Sequence[Row]:
        """The turns after the first day."""
        return self.turns[self.first_later :]

    @property
    def shares(self) -> list[float]:
        """Of the containers, moved by each execution."""
        return [int(row["moved"]) / int(row["containers"]) for row in self.turns if int(row["moved"])]

    @property
    def later_shares(self) -> list[float]:
        """The same, of later ones."""
        return [int(row["moved"]) / int(row["containers"]) for row in self.later if int(row["moved"])]

    @property
    def below_fresh(self) -> list[float]:
        """Points of local traffic by which a fresh optimisation would be ahead, at later instants."""
        return [float(row["fresh"]) - float(row["local"]) for row in self.later if row["fresh"]]

    @property
    def executions_first(self) -> int:
        """On the first day."""
        return sum(int(row["moved"]) > 0 for row in self.turns[: self.first_later])

    @property
    def executions_later(self) -> float:
        """A day, after the first one."""
        return sum(int(row["moved"]) > 0 for row in self.later) * PER_DAY / max(1, len(self.later) - 1)

    @property
    def held(self) -> int:
        """Workloads that were held at one time, at most."""
        return max((int(row["held"] or 0) for row in self.turns), default=0)

    @property
    def name(self) -> str:
        """The cell in words."""
        return f"{self.end['cluster']}, {self.end['variant']}, seed {self.end['seed']}"


def figures_of(turns: Sequence[Row], cells: Sequence[Row]) -> list[CellFigures]:
    """Each cell with its turns, and with those of the same cluster and seed without a loop."""
    figures = []
    for cell in cells:
        own = picked(turns, **{name: cell[name] for name in KEY})
        alone = [
            row for row in picked(turns, cluster=cell["cluster"], seed=cell["seed"], variant=ALONE) if int(row["turn"]) < len(own)
        ]
        figures.append(CellFigures(end=cell, turns=own, alone=alone))
    return figures


def local_mean(rows: Sequence[Row]) -> float:
    """Mean share of local traffic."""
    return mean(float(row["local"]) for row in rows)


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
    """What the paper says of its production, beside what the weeks of a goal came to."""
    weeks = [each for each in figures if each.end["variant"] == variant and float(each.end["days"]) >= 2]
    if not weeks:
        return []
    shares = [share for each in weeks for share in each.later_shares]
    below = [value for each in weeks for value in each.below_fresh]
    daily = [each.executions_later for each in weeks]
    gains = [local_mean(each.later) - local_mean(each.alone[each.first_later :]) for each in weeks if each.alone]
    moved = max(shares, default=0.0)
    lines = [
        [
            "less than 5 % of the containers are relocated in each execution",
            f"after the first day at most {moved:.1%}, {mean(shares) if shares else 0:.1%} on average",
            _holds(moved <= MOST_MOVED),
        ],
        [
            "reallocation happens a few times a day",
            f"after the first day {', '.join(f'{value:.1f}' for value in daily)} times a day",
            _holds(max(daily) <= 6),
        ],
        [
            "gained affinity remains consistently high",
            f"{', '.join(f'{100 * value:.0f}' for value in gains)} points above the default scheduler alone",
            _holds(bool(gains) and min(gains) > 0),
        ],
        [
            "(ours) within 3 points of a fresh optimisation of the same instant",
            f"below it by {_points(mean(below))} points on average, {_points(max(below))} at most",
            _holds(max(below) <= NEAR),
        ],
        ["what a fresh optimisation would move for that", _price_of_fresh(weeks), ""],
    ]
    return table(("statement", f"measured, goal `{variant}`", "verdict"), lines)


def _price_of_fresh(weeks: Sequence[CellFigures]) -> str:
    """How much a fresh optimisation would move for that, at later instants."""
    rows = [row for each in weeks for row in each.later if row["fresh_moved"]]
    shares = [int(row["fresh_moved"]) / int(row["containers"]) for row in rows] or [0.0]
    return f"{min(shares):.0%} to {max(shares):.0%} of the containers"


def _holds(claim: bool) -> str:
    return "holds" if claim else "**does not hold**"


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
