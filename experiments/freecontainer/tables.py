"""The tables of docs/verbs/place.md and docs/verbs/rebalance.md, from the rows of the CSV files."""

from collections.abc import Sequence

from experiments.freecontainer.claims import (
    BASELINES,
    PLACED,
    REBALANCERS_COMPARED,
    against_baselines,
    lowest_total,
    placing,
    rebalancing,
)
from experiments.freecontainer.measures import TERMS
from experiments.freecontainer.settings import DELTA, DELTAS, START, TABLE_4, TABLE_6, A, B
from experiments.freecontainer.statistics import Series
from experiments.results import Row, measured_on
from experiments.verdicts import RULE, claim_table

GAIN = f"*Gain* of x over y: 1 − x / y of normalised costs, mean over seeds. *Cases* are seeds. {RULE}"


def place_lines(measured: Sequence[Row]) -> list[str]:
    """Everything about placing; nothing if nothing was measured."""
    mine = [row for row in measured if row["table"] in PLACED]
    if not mine:
        return []
    series = Series(mine)
    lines = [_about(mine), ""]
    for centre in (A, B):
        lines += [f"**Table IV, {centre}**", "", *cost_table(series, centre, TABLE_4), ""]
        lines += [f"**Table V, {centre}** (dr-ws is ca-wfd)", "", *cost_table(series, centre, ("ca-wfd", "ws-dp", "c-c")), ""]
    lines += ["**CA-WFD against each baseline**: gain, and seeds in which CA-WFD is lower", "", *against_baselines(series), ""]
    lines += [*lowest_total(series, "best", ("ca-wfd", *BASELINES)), ""]
    return [*lines, "**What the paper claims**", "", GAIN, "", *claim_table(placing(series))]


def rebalance_lines(measured: Sequence[Row]) -> list[str]:
    """Everything about rebalancing; nothing if nothing was measured."""
    mine = [row for row in measured if row["table"] not in PLACED]
    if not mine:
        return []
    series = Series(mine)
    lines = [_about(mine), "", "The start is the generated layout with the new service placed by CA-WFD.", ""]
    for centre in (A, B):
        lines += [f"**Table VI, {centre}**", "", *cost_table(series, centre, TABLE_6), ""]
    lines += [f"**Table VII, {A}**: mean CPU utilisation of the hottest machines", "", *cpu_table(series), ""]
    lines += [f"**Table VIII, {A}**: Sweep&Search by delta", "", *delta_table(series), ""]
    lines += [f"**The stages, {A}**", "", *cost_table(series, A, (START, "sweep-only", "search-only", "sweep-search")), ""]
    lines += [*lowest_total(series, "search", (START, *REBALANCERS_COMPARED)), ""]
    return [*lines, "**What the paper claims**", "", GAIN, "", *claim_table(rebalancing(series))]


def _about(measured: Sequence[Row]) -> str:
    """Seeds, seconds, commit and machine of the rows."""
    seeds = sorted({int(row["seed"]) for row in measured})
    allowed = ", ".join(sorted({row["allowed"] for row in measured}))
    violated = sum(int(row["rules_violated"]) for row in measured)
    over = f"Means over seeds {seeds[0]}-{seeds[-1]}" if len(seeds) > 1 else f"Seed {seeds[0]}"
    setting = f"{over}; at most {allowed} s for methods that use time, one thread; on {measured_on(measured)}."
    return f"{setting} Rules violated in all these answers: {violated}."


def cost_table(series: Series, centre: str, methods: Sequence[str]) -> list[str]:
    """Normalised costs as in the paper, the raw ones, the total of (6), seconds."""
    head = ["method", "U", "B", "C", "U raw", "B raw", "C raw", "total (6)", "moved", "unplaced", "seconds"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for method in methods:
        if series.has(centre, method):
            numbers = [series.mean(centre, method, f"{term}_normalised") for term in TERMS]
            raw = [series.mean(centre, method, term) for term in TERMS]
            others = [series.mean(centre, method, name) for name in ("moved", "unplaced", "seconds")]
            cells = [f"{v:.4f}" for v in numbers] + [f"{raw[0]:.5f}", f"{raw[1]:,.1f}", f"{raw[2]:,.0f}"]
            cells += [f"{series.mean(centre, method, 'total'):.5f}", f"{others[0]:,.0f}", f"{others[1]:,.1f}", f"{others[2]:.2f}"]
            lines.append(f"| {method} | {' | '.join(cells)} |")
    return lines


def cpu_table(series: Series) -> list[str]:
    """[FreeContainer] Table VII; the last column is from the text about Figure 5."""
    columns = {
        "top 1 %": "cpu_top1",
        "top 5 %": "cpu_top5",
        "top 10 %": "cpu_top10",
        "top 300": "cpu_top300",
        "highest": "cpu_max",
        "lower bound (mean of all)": "cpu_mean",
    }
    lines = [f"| method | {' | '.join(columns)} | machines above 60 % |", "|---" * (len(columns) + 2) + "|"]
    for method in TABLE_6:
        if series.has(A, method):
            cells = [f"{100 * series.mean(A, method, name):.2f} %" for name in columns.values()]
            lines.append(f"| {method} | {' | '.join(cells)} | {series.mean(A, method, 'cpu_hot'):,.0f} |")
    return lines


def delta_table(series: Series) -> list[str]:
    """[FreeContainer] Table VIII."""
    lines = ["| delta | U | B | C | total (6) | seconds |", "|---|---|---|---|---|---|"]
    for delta in (DELTA, *DELTAS):
        if series.of(A, "sweep-search", "total", delta):
            cells = [f"{series.mean(A, 'sweep-search', f'{term}_normalised', delta):.4f}" for term in TERMS]
            total, seconds = (series.mean(A, "sweep-search", name, delta) for name in ("total", "seconds"))
            lines.append(f"| {100 * delta:g} % | {' | '.join(cells)} | {total:.5f} | {seconds:.2f} |")
    return lines


def real_lines(measured: Sequence[Row]) -> list[str]:
    """Real layouts; nothing if nothing was measured."""
    if not measured:
        return []
    allowed = ", ".join(sorted({row["allowed"] for row in measured}))
    head = ["layout", "method", "machines too full", "by", "limits violated", "by", "other rules violated"]
    head += ["U raw", "B raw", "crossing", "total (6)", "moved", "seconds"]
    lines = [
        "**Real layouts** (Alibaba/Tianchi 2018)",
        "",
        "Requests are the peaks of the day, so the start is over capacity: it violates rules. *By*: in "
        "largest machines, and in containers. Limits are interference rules. *Crossing*: the share of traffic between machines. "
        "The traffic is a synthetic pairing with Alibaba's call graphs: the trace itself has none. "
        f"{allowed} s each, one thread, seed 0; on {measured_on(measured)}.",
        "",
        f"| {' | '.join(head)} |",
        "|---" * len(head) + "|",
    ]
    for row in measured:
        cells = [row["layout"], row["method"], row["capacity_places"], f"{float(row['overload']):,.1f}"]
        cells += [row["interference_places"], f"{float(row['interference_excess']):,.0f}", row["others"]]
        cells += [f"{float(row['utilisation']):.5f}", f"{float(row['balance']):,.0f}", _crossing(row)]
        cells += [f"{float(row['total']):.5f}", row["moved"], row["seconds"]]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _crossing(row: Row) -> str:
    """The share of the traffic between machines."""
    return f"{100 * float(row['communication']) / float(row['traffic']):.2f} %"
