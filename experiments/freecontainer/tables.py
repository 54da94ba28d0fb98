"""The tables of docs/verbs/place.md and docs/verbs/rebalance.md, from the rows of the CSV files."""

from collections.abc import Sequence

from experiments.freecontainer.measures import TERMS
from experiments.freecontainer.place_claims import BASELINES, against_baselines, placing
from experiments.freecontainer.rebalance_claims import COMPARED, OVER, lowest_total, rebalancing
from experiments.freecontainer.settings import (
    DELTA,
    DELTAS,
    JOINT,
    MINUTE,
    PLACED,
    SEQUENTIAL,
    START,
    SWEEPS,
    TABLE_4,
    TABLE_6,
    THRESHOLDS,
    A,
    B,
)
from experiments.freecontainer.statistics import NORMALISED, USUAL, Series, Setting, gains, mean
from experiments.results import Row, measured_on, table
from experiments.verdicts import RULE, claim_table, percent

START_IS = (
    "The start is the generated layout with the new service placed by CA-WFD; then 51.16 % of the CPU are requested. Distances "
    "count the switches between two servers: 1 within a rack, 3 within a zone, 5 between zones. *Threshold*: above it a server "
    "is hot; *1.25x* is 1.25 times the mean of U(h). The paper's claims are judged by the rows with *sequential* and 0.8."
)
SETTINGS = (
    *(USUAL._replace(threshold=threshold) for threshold in THRESHOLDS),
    USUAL._replace(transient=JOINT),
)  # of Table VI
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
    mine = [row for row in measured if row["table"] not in (*PLACED, "minute")]
    if not mine:
        return []
    series = Series(mine)
    lines = [_about(mine), "", START_IS, ""]
    for centre in (A, B):
        lines += [f"**Table VI, {centre}**", "", *cost_table(series, centre, TABLE_6, SETTINGS), ""]
    lines += [
        "**Gain of S&S by transient rule and threshold**: over other methods, mean over seeds",
        "",
        *setting_table(series),
        "",
    ]
    lines += [f"**Table VII, {A}**: mean CPU utilisation of the hottest machines", "", *cpu_table(series), ""]
    lines += [f"**Figure 5(b), (c), {A}**: memory and SSD", "", *others_table(series), ""]
    lines += [f"**Table VIII, {A}**: Sweep&Search by delta", "", *delta_table(series), ""]
    lines += [f"**The stages, {A}**", "", *cost_table(series, A, (START, "sweep-only", "search-only", "sweep-search")), ""]
    lines += [*lowest_total(series, "search", (START, *COMPARED)), ""]
    lines += minute_lines([row for row in measured if row["table"] == "minute"])
    return [*lines, "**What the paper claims**", "", GAIN, "", *claim_table(rebalancing(series))]


def minute_lines(measured: Sequence[Row]) -> list[str]:
    """The methods with more time; nothing if nothing was measured."""
    if not measured:
        return []
    series = Series(measured)
    head = [f"**{B}, {measured[0]['allowed']} s**", "", _about(measured), ""]
    return [*head, *cost_table(series, B, MINUTE), "", *lowest_total(series, "search", MINUTE[1:]), ""]


def _about(measured: Sequence[Row]) -> str:
    """Seeds, seconds, commit and machine of the rows."""
    seeds = sorted({int(row["seed"]) for row in measured})
    allowed = ", ".join(sorted({row["allowed"] for row in measured}))
    violated = sum(int(row["rules_violated"]) for row in measured)
    over = f"Means over seeds {seeds[0]}-{seeds[-1]}" if len(seeds) > 1 else f"Seed {seeds[0]}"
    setting = f"{over}; at most {allowed} s of CPU time for methods that use time, one thread; on {measured_on(measured)}."
    return f"{setting} Rules violated in all these answers: {violated}."


def cost_table(series: Series, centre: str, methods: Sequence[str], settings: Sequence[Setting] = ()) -> list[str]:
    """Normalised costs as in the paper, the raw ones, the total of (6), seconds; for each setting if there are any."""
    own = ["transient", "threshold"] if settings else []
    head = ["method", *own, "U", "B", "C", "U raw", "B raw", "C raw", "total (6)", "moved", "unplaced", "seconds", "CPU s"]
    body = []
    for transient in (SEQUENTIAL, JOINT):
        for method in methods:
            for setting in _settings_of(method, [how for how in settings or (USUAL,) if how.transient == transient]):
                if series.has(centre, method, setting=setting):
                    said = [transient, setting.threshold if method in SWEEPS else "-"] if settings else []
                    body.append([method, *said, *_costs(series, centre, method, setting)])
    return table(head, body)


def _settings_of(method: str, settings: Sequence[Setting]) -> Sequence[Setting]:
    """Those that differ for a method: only some have a threshold."""
    return settings if method in SWEEPS else settings[:1]


def _costs(series: Series, centre: str, method: str, setting: Setting) -> list[str]:
    def of(name: str) -> float:
        return series.mean(centre, method, name, setting)

    raw = [f"{of('utilisation'):.5f}", f"{of('balance'):,.1f}", f"{of('communication'):,.0f}", f"{of('total'):.5f}"]
    counted = [f"{of('moved'):,.0f}", f"{of('unplaced'):,.1f}", f"{of('seconds'):.2f}", f"{of('cpu'):.2f}"]
    return [*(f"{of(f'{term}_normalised'):.4f}" for term in TERMS), *raw, *counted]


def setting_table(series: Series) -> list[str]:
    """By how much Sweep&Search is below the others, in each setting."""
    terms = ("U", "B", "C")
    head = ["centre", "transient", "threshold", *(f"{term}: {other}" for other in OVER for term in terms)]
    body = []
    for centre in (A, B):
        for setting in SETTINGS:
            if series.has(centre, "sweep-search", setting=setting):
                shares = [_gain(series, centre, other, term, setting) for other in OVER for term in terms]
                body.append([centre, setting.transient, setting.threshold, *shares])
    return table(head, body)


def _gain(series: Series, centre: str, other: str, term: str, setting: Setting) -> str:
    both = (series.of(centre, method, NORMALISED[term], setting) for method in ("sweep-search", other))
    gained = list(gains(*both).values())
    return percent(mean(gained)) if gained else "-"


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


def others_table(series: Series) -> list[str]:
    """[FreeContainer] Figure 5(b), (c): what the text says of SSD, and the same of memory."""
    columns = [f"{resource}_{column}" for resource in ("memory", "ssd") for column in ("top300", "max", "mean")]
    head = ["method", *(f"{r} {c}" for r in ("memory", "SSD") for c in ("top 300", "highest", "mean"))]
    methods = [method for method in TABLE_6 if series.has(A, method)]
    return table(head, [[method, *(percent(series.mean(A, method, name)) for name in columns)] for method in methods])


def delta_table(series: Series) -> list[str]:
    """[FreeContainer] Table VIII."""
    lines = ["| delta | U | B | C | total (6) | CPU s | CPU s of Sweep |", "|---|---|---|---|---|---|---|"]
    for delta in (DELTA, *DELTAS):
        wide = USUAL._replace(delta=delta)
        if series.has(A, "sweep-search", setting=wide):
            cells = [f"{series.mean(A, 'sweep-search', f'{term}_normalised', wide):.4f}" for term in TERMS]
            total, cpu, sweep = (series.mean(A, "sweep-search", name, wide) for name in ("total", "cpu", "sweep_cpu"))
            lines.append(f"| {100 * delta:g} % | {' | '.join(cells)} | {total:.5f} | {cpu:.2f} | {sweep:.2f} |")
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
