"""The table of every cluster, from the rows of cells.csv: all scores side by side, medians over the seeds."""

from collections.abc import Iterator, Sequence
from statistics import median

from experiments.combined.settings import (
    ALL,
    BEST,
    CAPS,
    LOCAL,
    M1,
    M3,
    PACK,
    PLANS,
    RASA,
    REBALANCER,
    START,
    SWEEP,
    TIANCHI,
    TINY,
)
from experiments.results import Row, picked, table

CLUSTERS = (M3, M1, TIANCHI, TINY)
METHODS = (*PLANS, BEST, RASA, LOCAL, SWEEP, REBALANCER)
NAMES = {
    START: "now",
    "plan": "**`plan`, steady**",
    "plan-local": "`plan`, local-traffic",
    "plan-balance": "`plan`, balance",
    BEST: "`collocate`, best",
    RASA: "`collocate`, rasa",
    LOCAL: "`rebalance`, local traffic alone",
    SWEEP: "`rebalance`, sweep-search",
    PACK: "`pack`",
    REBALANCER: "Meta's Rebalancer",
}
HEAD = (
    *("method", "at most", "seeds", "moved", "violated", "above safety", "overload", "local traffic", "variance"),
    *("95 % of cpu", "fullest", "machines", "FreeContainer (6)", "stated total", "can be ordered", "batches", "CPU s"),
)
FIRST = 9  # columns of the first table; the others are in a second one


def cluster_lines(measured: Sequence[Row], cluster: str) -> list[str]:
    """One line per method and limit of moves; then what could not be answered, and why."""
    mine = picked(measured, cluster=cluster)
    body = list(_lines([row for row in mine if not row["fault"]]))
    lines = [*_part(body, slice(2, FIRST)), "", *_part(body, slice(FIRST, None))]
    faults = list(dict.fromkeys(f"- {NAMES[row['method']]}: {row['fault']}." for row in mine if row["fault"]))
    return [*lines, *(["", *faults] if faults else [])]


def _part(body: Sequence[Sequence[str]], columns: slice) -> list[str]:
    """A table of some columns, behind those that say what a line is about."""
    return table((*HEAD[:2], *HEAD[columns]), [[*line[:2], *line[columns]] for line in body])


def _lines(mine: Sequence[Row]) -> Iterator[list[str]]:
    for cap, methods in ((ALL, (START,)), *((cap, METHODS) for cap in CAPS), (ALL, (RASA, PACK))):
        for method in methods:
            some = picked(mine, method=method, cap=cap)
            if some:
                limit = "" if method == START else "any number" if cap == ALL else cap.replace("%", " %")
                yield [NAMES[method], limit, *_cells(some)]


def _cells(some: Sequence[Row]) -> list[str]:
    def mid(column: str) -> float:
        return median(float(row[column] or 0) for row in some)

    asked = [row for row in some if row["migrated"]]
    batches = [float(row["batches"]) for row in asked if row["batches"]]
    return [
        str(len(some)),
        f"{mid('moved') / mid('containers'):.1%}",
        f"{mid('violated'):,.0f}",
        f"{mid('hot'):,.0f}",
        f"{mid('overload'):.3g}",
        f"{mid('local'):.3f}",
        f"{mid('variance'):.4f}",
        f"{mid('cpu95'):.1%}",
        f"{mid('fullest'):.1%}",
        f"{mid('machines'):,.0f}",
        f"{mid('paper'):.4f}",
        stated_total(some),
        f"{sum(row['migrated'] == 'yes' for row in asked)} of {len(asked)}" if asked else "",
        f"{median(batches):,.0f}" if batches else "",
        f"{mid('cpu'):.0f}" if asked else "",
    ]


def stated_total(some: Sequence[Row]) -> str:
    """The goal `steady` in its ranks; those that are as they should be are not said."""
    third = f"{median(float(row['third']) for row in some):.4f}"
    broken = median(float(row["violated"]) for row in some)
    over = median(float(row["overload"]) for row in some)
    first = [f"{broken:,.0f} violated"] if broken else []
    second = [f"{over:.3g} above safety"] if over else []
    return "; ".join([*first, *second, third])
