"""What section VI of [FreeContainer] says beside what we measured.

A gain of x over y is 1 - x / y, of normalised costs, in each seed; then the mean over seeds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bayplan.words import count
from experiments.freecontainer.settings import DELTA, TABLE_4, TABLE_6, A, B
from experiments.freecontainer.statistics import NORMALISED, Series, gains, mean
from experiments.results import Row, rows
from experiments.verdicts import Claim, about, above, at_most, judged, level, percent

SIMILAR = 0.05  # "better or similar": no more than this above
BASELINES = TABLE_4[1:-1]
UP_TO = {A: 0.577, B: 0.455}
OVER_GREEDY = {A: {"U": 0.404, "B": 0.690, "C": 0.091}, B: {"U": 0.339, "B": 0.727, "C": 0.063}}
OVER_NLS = {A: {"U": 0.306, "B": 0.660, "C": 0.062}, B: {"U": 0.212, "B": 0.804, "C": 0.038}}
BY_DELTA = {0.10: {"B": 0.653, "C": 0.374}, 0.20: {"B": 0.719, "C": 0.489}}
HOT = {"greedy": 330, "nls": 210}  # section VI-B1: servers above 60 % of CPU
HIGHEST, AVERAGE = 0.52, 0.5116  # of CPU after Sweep&Search
PLACED = ("table4", "table5")
PLACE_PAGE, REBALANCE_PAGE = "verbs/place.md", "verbs/rebalance.md"


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """Every claim of section VI that costs.csv has the rows for."""
    measured = rows(folder / "costs.csv")
    placed, rebalanced = ([row for row in measured if (row["table"] in PLACED) == wanted] for wanted in (True, False))
    first = [replace(claim, scale=_scale(placed), page=PLACE_PAGE) for claim in placing(Series(placed))]
    return first + [replace(claim, scale=_scale(rebalanced), page=REBALANCE_PAGE) for claim in rebalancing(Series(rebalanced))]


def _scale(measured: Sequence[Row]) -> str:
    seeds = len({row["seed"] for row in measured})
    seconds = max((float(row["allowed"]) for row in measured), default=0.0)
    return f"generated data centres, {count(seeds, 'seed')}, {seconds:g} s"


def _gain(where: str, text: str, paper: float | None, by_seed: dict[int, float]) -> Claim:
    """A claim that something is above 0, by about `paper` if that is stated."""
    figure = "-" if paper is None else percent(paper)
    measured = {str(seed): value for seed, value in by_seed.items()}
    return judged(where, text, above() if paper is None else about(paper), measured, paper=figure)


def placing(series: Series) -> Iterator[Claim]:
    """Tables IV and V."""
    for centre in (A, B):
        if series.has(centre, *TABLE_4[:-1]):
            yield from _table_4(series, centre)
        if series.has(centre, "ca-wfd", "ws-dp", "c-c"):
            yield from _table_5(series, centre)
    if all(series.has(centre, "ca-wfd", "ws-dp") for centre in (A, B)):
        behind = {c: gains(_u(series, c, "ca-wfd"), _u(series, c, "ws-dp")) for c in (A, B)}
        more = {seed: behind[B][seed] - behind[A][seed] for seed in behind[B] if seed in behind[A]}
        yield _gain("Table V", "U of WS-DP is further behind (less ahead of) DR-WS in DC_B than in DC_A, points", None, more)


def _u(series: Series, centre: str, method: str) -> dict[int, float]:
    return series.of(centre, method, NORMALISED["U"])


def _table_4(series: Series, centre: str) -> Iterator[Claim]:
    u = {method: _u(series, centre, method) for method in ("ca-wfd", *BASELINES)}
    best = max(BASELINES, key=lambda method: mean(list(gains(u["ca-wfd"], u[method]).values())))
    text = f"U of CA-WFD is below the others by up to (here {best})"
    yield _gain(f"Table IV, {centre}", text, UP_TO[centre], gains(u["ca-wfd"], u[best]))
    rivals = {seed: min(u[method][seed] for method in BASELINES) for seed in _common(u)}
    yield _gain(f"Table IV, {centre}", "U of CA-WFD is the lowest", None, gains(u["ca-wfd"], rivals))
    others = [method for method in BASELINES if method != "enf"]
    lowest_other = {seed: min(u[method][seed] for method in others) for seed in _common(u)}
    yield _gain(f"Table IV, {centre}", "ENF is second in U, so below the other baselines", None, gains(u["enf"], lowest_other))
    yield _gain(f"Table IV, {centre}", "U of Binpack is almost twice that of CA-WFD", 0.5, gains(u["ca-wfd"], u["binpack"]))
    for term in ("B", "C"):
        cost = {method: series.of(centre, method, NORMALISED[term]) for method in ("ca-wfd", *BASELINES)}
        lowest = {seed: min(cost[method][seed] for method in BASELINES) for seed in _common(cost)}
        over = {str(seed): cost["ca-wfd"][seed] / least - 1 if least else 0.0 for seed, least in lowest.items()}
        text = f"{term} of CA-WFD is better or similar (above the best baseline by at most {SIMILAR:.0%})"
        yield judged(f"Table IV, {centre}", text, at_most(SIMILAR), over, paper="better or similar")
    c = {method: series.of(centre, method, NORMALISED["C"]) for method in ("ca-wfd", *BASELINES)}
    highest = {seed: max(c[method][seed] for method in c if method != "ha") for seed in _common(c)}
    yield _gain(f"Table IV, {centre}", "HA is worst in C", None, gains(highest, c["ha"]))


def _common(by_method: dict[str, dict[int, float]]) -> list[int]:
    """Seeds that all methods have."""
    return sorted(set.intersection(*(set(values) for values in by_method.values())))


def _table_5(series: Series, centre: str) -> Iterator[Claim]:
    for other in ("ws-dp", "c-c"):
        total = gains(series.of(centre, "ca-wfd", "total"), series.of(centre, other, "total"))
        yield _gain(f"Table V, {centre}", f"total of DR-WS is below {other.upper()}", None, total)
    for term in ("U", "B"):
        mine, single = (series.of(centre, method, NORMALISED[term]) for method in ("ca-wfd", "c-c"))
        yield _gain(f"Table V, {centre}", f"C-C is worse than DR-WS in {term}", None, gains(mine, single))
    single, mine = (series.of(centre, method, NORMALISED["C"]) for method in ("c-c", "ca-wfd"))
    yield _gain(f"Table V, {centre}", "C-C is slightly better than DR-WS in C", None, gains(single, mine))


def rebalancing(series: Series) -> Iterator[Claim]:
    """Tables VI, VII and VIII, and the ablation."""
    for centre in (A, B):
        for other, figures in (("greedy", OVER_GREEDY), ("nls", OVER_NLS)):
            if series.has(centre, "sweep-search", other):
                for term, paper in figures[centre].items():
                    both = (series.of(centre, method, NORMALISED[term]) for method in ("sweep-search", other))
                    yield _gain(f"Table VI, {centre}", f"{term} of S&S is below {other}", paper, gains(*both))
    if series.has(A, "sweep-search", "nls", "greedy"):
        yield from _table_7(series)
    for delta, figures in BY_DELTA.items():
        if series.of(A, "sweep-search", "total", delta):
            yield from _table_8(series, delta, figures)
    for other in ("sweep-only", "search-only"):
        if series.has(A, "sweep-search", other):
            both = (series.of(A, method, "total") for method in ("sweep-search", other))
            yield _gain(f"§VI-B2, {A}", f"total of both stages is below {other}", None, gains(*both))


def _table_7(series: Series) -> Iterator[Claim]:
    """'Up to 70 %' is read as the ratio of utilisations minus 1: 52 % against 88 % would be that."""
    tops = ("cpu_top1", "cpu_top5", "cpu_top10", "cpu_top300")
    for other in ("greedy", "nls"):
        ratio = {
            top: {seed: series.of(A, other, top)[seed] / value - 1 for seed, value in series.of(A, "sweep-search", top).items()}
            for top in tops
        }
        largest = max(tops, key=lambda top: mean(list(ratio[top].values())))
        where = largest.removeprefix("cpu_")
        text = f"CPU of the hottest machines under {other} is above S&S by up to (here {where})"
        yield _gain(f"Table VII, {A}", text, 0.70, ratio[largest])
    highest, average = series.of(A, "sweep-search", "cpu_max"), series.of(A, "sweep-search", "cpu_mean")
    over = {str(seed): highest[seed] / average[seed] - 1 for seed in highest}
    text = f"after S&S the highest CPU utilisation is near the mean: above it by at most {SIMILAR:.0%}"
    yield judged(f"Table VII, {A}", text, at_most(SIMILAR), over, paper=percent(HIGHEST / AVERAGE - 1))
    yield from _figure_5(series)


def _figure_5(series: Series) -> Iterator[Claim]:
    """Numbers of servers depend on how full the data centre is, so they are levels."""
    by_seed = {str(seed): value for seed, value in series.of(A, "sweep-search", "cpu_max").items()}
    text = "the highest CPU utilisation after S&S"
    yield judged(f"Figure 5, {A}", text, level(HIGHEST), mean(list(by_seed.values())), paper=percent(HIGHEST))
    for other, servers in HOT.items():
        hot = mean(list(series.of(A, other, "cpu_hot").values()))
        text = f"servers above 60 % of CPU under {other}"
        yield judged(f"Figure 5, {A}", text, level(servers), hot, paper=f"about {servers}", ours=f"{hot:,.0f}")


def _table_8(series: Series, delta: float, figures: dict[str, float]) -> Iterator[Claim]:
    gained = {}
    for term in ("U", "B", "C"):
        wide, narrow = (series.of(A, "sweep-search", NORMALISED[term], share) for share in (delta, DELTA))
        gained[term] = gains(wide, narrow)
        text = f"{term} with delta {percent(delta)} is below that with 2 %"
        yield _gain(f"Table VIII, {A}", text, figures.get(term), gained[term])
    less = {seed: min(gained[term][seed] for term in "BC") - gain for seed, gain in gained["U"].items()}
    text = f"with delta {percent(delta)} U improves less than B and C, points"
    yield _gain(f"Table VIII, {A}", text, None, less)


def lowest_total(series: Series, ours: str, others: Sequence[str]) -> Iterator[str]:
    """Whether our own method has the lowest total cost in every seed: a sentence per data centre."""
    for centre in (A, B):
        mine = series.of(centre, ours, "total")
        rivals = {other: series.of(centre, other, "total") for other in others}
        lost = [
            f"seed {seed} ({other})"
            for seed in mine
            for other, total in rivals.items()
            if seed in total and total[seed] < mine[seed]
        ]
        if mine:
            held = "yes" if not lost else f"no: {', '.join(lost)}"
            yield f"- {centre}: does `{ours}` have the lowest total in every one of {len(mine)} seeds? **{held}**."


def against_baselines(series: Series) -> list[str]:
    """A table: CA-WFD beside each baseline, in how many seeds it is lower, and which has the lower total."""
    lines = ["| CA-WFD against | data centre | U | B | C | total | lower total |", "|---|---|---|---|---|---|---|"]
    for centre in (A, B):
        for other in BASELINES:
            if series.has(centre, "ca-wfd", other):
                shares = [gains(series.of(centre, "ca-wfd", q), series.of(centre, other, q)) for q in NORMALISED.values()]
                shown = [f"{percent(mean(list(g.values())))} ({sum(v > 0 for v in g.values())} of {len(g)})" for g in shares]
                total = shares[-1].values()
                lower = "CA-WFD" if all(v > 0 for v in total) else other if all(v < 0 for v in total) else "depends on the seed"
                lines.append(f"| {other} | {centre} | {' | '.join(shown)} | {lower} |")
    return lines if len(lines) > 2 else []


REBALANCERS_COMPARED = TABLE_6[1:-1]
