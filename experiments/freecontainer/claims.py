"""What section VI of [FreeContainer] claims, what we measured, and whether that agrees.

A gain of x over y is 1 - x / y, of normalised costs, in each seed; then the mean over seeds. Verdicts by one rule:
*reproduced* if the claim holds in at least nine tenths of the seeds and the mean is at least half of the paper's figure,
*not reproduced* if it does not hold on average, *in part* otherwise.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from experiments.freecontainer.settings import DELTA, TABLE_4, TABLE_6, A, B
from experiments.freecontainer.statistics import NORMALISED, Series, gains, mean

SEEDS_ENOUGH, HALF = 0.9, 0.5
SIMILAR = 0.05  # "better or similar": no more than this above
BASELINES = TABLE_4[1:-1]
UP_TO = {A: 0.577, B: 0.455}
OVER_GREEDY = {A: {"U": 0.404, "B": 0.690, "C": 0.091}, B: {"U": 0.339, "B": 0.727, "C": 0.063}}
OVER_NLS = {A: {"U": 0.306, "B": 0.660, "C": 0.062}, B: {"U": 0.212, "B": 0.804, "C": 0.038}}
BY_DELTA = {0.10: {"B": 0.653, "C": 0.374}, 0.20: {"B": 0.719, "C": 0.489}}
REPRODUCED, IN_PART, NOT = "reproduced", "in part", "not reproduced"


class Claim(NamedTuple):
    """One line: what the paper says, what we measured."""

    text: str
    paper: str
    ours: str
    seeds: str
    verdict: str


def judged(text: str, paper: float | None, by_seed: dict[int, float]) -> Claim:
    """A claim that something is above 0, by about `paper` if that is stated."""
    average, kept = mean(list(by_seed.values())), sum(value > 0 for value in by_seed.values())
    enough = kept >= SEEDS_ENOUGH * len(by_seed) and (paper is None or average >= HALF * paper)
    verdict = NOT if not average > 0 else REPRODUCED if enough else IN_PART
    figure = "" if paper is None else percent(paper)
    return Claim(text, figure, percent(average), f"{kept} of {len(by_seed)}", verdict)


def percent(value: float) -> str:
    """'40.4 %'."""
    return f"{100 * value:.1f} %"


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
        yield judged("Table V: U of WS-DP is further behind (less ahead of) DR-WS in DC_B than in DC_A, points", None, more)


def _u(series: Series, centre: str, method: str) -> dict[int, float]:
    return series.of(centre, method, NORMALISED["U"])


def _table_4(series: Series, centre: str) -> Iterator[Claim]:
    u = {method: _u(series, centre, method) for method in ("ca-wfd", *BASELINES)}
    best = max(BASELINES, key=lambda method: mean(list(gains(u["ca-wfd"], u[method]).values())))
    text = f"Table IV, {centre}: U of CA-WFD is below the others by up to (here {best})"
    yield judged(text, UP_TO[centre], gains(u["ca-wfd"], u[best]))
    rivals = {seed: min(u[method][seed] for method in BASELINES) for seed in _common(u)}
    yield judged(f"Table IV, {centre}: U of CA-WFD is the lowest", None, gains(u["ca-wfd"], rivals))
    others = [method for method in BASELINES if method != "enf"]
    lowest_other = {seed: min(u[method][seed] for method in others) for seed in _common(u)}
    yield judged(f"Table IV, {centre}: ENF is second in U, so below the other baselines", None, gains(u["enf"], lowest_other))
    yield judged(f"Table IV, {centre}: U of Binpack is almost twice that of CA-WFD", 0.5, gains(u["ca-wfd"], u["binpack"]))
    for term in ("B", "C"):
        cost = {method: series.of(centre, method, NORMALISED[term]) for method in ("ca-wfd", *BASELINES)}
        lowest = {seed: min(cost[method][seed] for method in BASELINES) * (1 + SIMILAR) for seed in _common(cost)}
        text = f"Table IV, {centre}: {term} of CA-WFD is better or similar (at most {percent(SIMILAR)} above the best baseline)"
        yield judged(text, None, gains(cost["ca-wfd"], lowest))
    c = {method: series.of(centre, method, NORMALISED["C"]) for method in ("ca-wfd", *BASELINES)}
    highest = {seed: max(c[method][seed] for method in c if method != "ha") for seed in _common(c)}
    yield judged(f"Table IV, {centre}: HA is worst in C", None, gains(highest, c["ha"]))


def _common(by_method: dict[str, dict[int, float]]) -> list[int]:
    """Seeds that all methods have."""
    return sorted(set.intersection(*(set(values) for values in by_method.values())))


def _table_5(series: Series, centre: str) -> Iterator[Claim]:
    for other in ("ws-dp", "c-c"):
        total = gains(series.of(centre, "ca-wfd", "total"), series.of(centre, other, "total"))
        yield judged(f"Table V, {centre}: total of DR-WS is below {other.upper()}", None, total)
    for term in ("U", "B"):
        mine, single = (series.of(centre, method, NORMALISED[term]) for method in ("ca-wfd", "c-c"))
        yield judged(f"Table V, {centre}: C-C is worse than DR-WS in {term}", None, gains(mine, single))
    single, mine = (series.of(centre, method, NORMALISED["C"]) for method in ("c-c", "ca-wfd"))
    yield judged(f"Table V, {centre}: C-C is slightly better than DR-WS in C", None, gains(single, mine))


def rebalancing(series: Series) -> Iterator[Claim]:
    """Tables VI, VII and VIII, and the ablation."""
    for centre in (A, B):
        for other, figures in (("greedy", OVER_GREEDY), ("nls", OVER_NLS)):
            if series.has(centre, "sweep-search", other):
                for term, paper in figures[centre].items():
                    both = (series.of(centre, method, NORMALISED[term]) for method in ("sweep-search", other))
                    yield judged(f"Table VI, {centre}: {term} of S&S is below {other}", paper, gains(*both))
    if series.has(A, "sweep-search", "nls", "greedy"):
        yield from _table_7(series)
    for delta, figures in BY_DELTA.items():
        if series.of(A, "sweep-search", "total", delta):
            yield from _table_8(series, delta, figures)
    for other in ("sweep-only", "search-only"):
        if series.has(A, "sweep-search", other):
            both = (series.of(A, method, "total") for method in ("sweep-search", other))
            yield judged(f"Section VI-B2, {A}: total of both stages is below {other}", None, gains(*both))


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
        text = f"Table VII, {A}: CPU of the hottest machines under {other} is above S&S by up to (here {where})"
        yield judged(text, 0.70, ratio[largest])
    highest, average = series.of(A, "sweep-search", "cpu_max"), series.of(A, "sweep-search", "cpu_mean")
    above = mean([highest[seed] / average[seed] - 1 for seed in highest])
    near = sum(highest[seed] <= 1.05 * average[seed] for seed in highest)
    verdict = REPRODUCED if near >= SEEDS_ENOUGH * len(highest) else NOT
    text = f"Table VII, {A}: after S&S the highest CPU utilisation (52 %) is near the mean (51.16 %); near: within 5 %"
    yield Claim(text, percent(0.52 / 0.5116 - 1), percent(above), f"{near} of {len(highest)}", verdict)


def _table_8(series: Series, delta: float, figures: dict[str, float]) -> Iterator[Claim]:
    for term in ("U", "B", "C"):
        wide, narrow = (series.of(A, "sweep-search", NORMALISED[term], share) for share in (delta, DELTA))
        text = f"Table VIII, {A}: {term} with delta {percent(delta)} is below that with 2 %"
        yield judged(text, figures.get(term), gains(wide, narrow))


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
