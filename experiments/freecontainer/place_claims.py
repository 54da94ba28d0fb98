"""What [FreeContainer] §VI-A says of placing, Tables IV and V, beside what we measured."""

from collections.abc import Iterator

from experiments.freecontainer.settings import TABLE_4, A, B
from experiments.freecontainer.statistics import NORMALISED, Series, gain_claim, gains, mean
from experiments.verdicts import Claim, at_most, judged, percent

SIMILAR = 0.05  # "better or similar": no more than this above
BASELINES = TABLE_4[1:-1]
UP_TO = {A: 0.577, B: 0.455}


def placing(series: Series) -> Iterator[Claim]:
    """Tables IV and V."""
    for centre in (A, B):
        yield from _table_4(series, centre)
        yield from _table_5(series, centre)
    yield from _figure_4(series)
    behind = {c: gains(_u(series, c, "ca-wfd"), _u(series, c, "ws-dp")) for c in (A, B)}
    more = {seed: behind[B][seed] - behind[A][seed] for seed in behind[B] if seed in behind[A]}
    yield gain_claim("Table V", "U of WS-DP is further behind (less ahead of) DR-WS in DC_B than in DC_A, points", None, more)


def _u(series: Series, centre: str, method: str) -> dict[int, float]:
    return series.of(centre, method, NORMALISED["U"])


def _table_4(series: Series, centre: str) -> Iterator[Claim]:
    u = {method: _u(series, centre, method) for method in ("ca-wfd", *BASELINES)}
    best = max(BASELINES, key=lambda method: mean(list(gains(u["ca-wfd"], u[method]).values())))
    text = f"U of CA-WFD is below the others by up to (here {best})"
    yield gain_claim(f"Table IV, {centre}", text, UP_TO[centre], gains(u["ca-wfd"], u[best]))
    rivals = {seed: min(u[method][seed] for method in BASELINES) for seed in _common(u)}
    yield gain_claim(f"Table IV, {centre}", "U of CA-WFD is the lowest", None, gains(u["ca-wfd"], rivals))
    others = [method for method in BASELINES if method != "enf"]
    lowest_other = {seed: min(u[method][seed] for method in others) for seed in _common(u)}
    yield gain_claim(
        f"Table IV, {centre}", "ENF is second in U, so below the other baselines", None, gains(u["enf"], lowest_other)
    )
    yield gain_claim(f"Table IV, {centre}", "U of Binpack is almost twice that of CA-WFD", 0.5, gains(u["ca-wfd"], u["binpack"]))
    for term in ("B", "C"):
        cost = {method: series.of(centre, method, NORMALISED[term]) for method in ("ca-wfd", *BASELINES)}
        lowest = {seed: min(cost[method][seed] for method in BASELINES) for seed in _common(cost)}
        over = {str(seed): cost["ca-wfd"][seed] / least - 1 if least else 0.0 for seed, least in lowest.items()}
        text = f"{term} of CA-WFD is better or similar (above the best baseline by at most {SIMILAR:.0%})"
        yield judged(f"Table IV, {centre}", text, at_most(SIMILAR), over, paper="better or similar")
    c = {method: series.of(centre, method, NORMALISED["C"]) for method in ("ca-wfd", *BASELINES)}
    highest = {seed: max(c[method][seed] for method in c if method != "ha") for seed in _common(c)}
    yield gain_claim(f"Table IV, {centre}", "HA is worst in C", None, gains(highest, c["ha"]))


def _figure_4(series: Series) -> Iterator[Claim]:
    """Balanced: the 300 hottest servers are near the mean of all."""
    for resource in ("cpu", "memory", "ssd"):
        tail = {}
        for method in ("ca-wfd", *BASELINES):
            hottest, average = (series.of(A, method, f"{resource}_{column}") for column in ("top300", "mean"))
            tail[method] = {seed: hottest[seed] - average[seed] for seed in hottest}
        least = {seed: min(tail[method][seed] for method in BASELINES) for seed in _common(tail)}
        text = f"{resource} is more balanced after CA-WFD: its 300 hottest servers are nearer to the mean than after any other"
        yield gain_claim(f"Figure 4, {A}", text, None, gains(tail["ca-wfd"], least))


def _common(by_method: dict[str, dict[int, float]]) -> list[int]:
    """Seeds that all methods have."""
    return sorted(set.intersection(*(set(values) for values in by_method.values())))


def _table_5(series: Series, centre: str) -> Iterator[Claim]:
    for other in ("ws-dp", "c-c"):
        total = gains(series.of(centre, "ca-wfd", "total"), series.of(centre, other, "total"))
        yield gain_claim(f"Table V, {centre}", f"total of DR-WS is below {other.upper()}", None, total)
    for term in ("U", "B"):
        mine, single = (series.of(centre, method, NORMALISED[term]) for method in ("ca-wfd", "c-c"))
        yield gain_claim(f"Table V, {centre}", f"C-C is worse than DR-WS in {term}", None, gains(mine, single))
    for other, name in (("ca-wfd", "DR-WS"), ("ws-dp", "WS-DP")):
        single, theirs = (series.of(centre, method, NORMALISED["C"]) for method in ("c-c", other))
        yield gain_claim(f"Table V, {centre}", f"C-C is slightly better than {name} in C", None, gains(single, theirs))


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
