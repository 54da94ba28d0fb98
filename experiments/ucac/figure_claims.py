"""What Figures 1, 3 and 5 of [UCaC] show, as their text has it, beside ours."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from statistics import mean

from bayplan.generate.ucac_services import CAPACITY, MILLI
from experiments.results import Row, picked
from experiments.ucac.figures import METHODS
from experiments.ucac.tables import BASE, SIMILAR
from experiments.verdicts import Claim, above, at_least, judged, near, percent

ALMOST_ALL = 0.9  # of the machines
VERY_LOW = 0.5  # less than on weekdays
WHERE = {"scale-down": "Figure 3(a)", "scale-up": "Figure 3(b)", "empty": "Figure 3(c)"}


def figure_claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 3: UCaC of each machine, the fullest first."""
    curve = {(row["case"], row["method"]): [float(word) for word in row["ucac"].split()] for row in measured}
    down = {method: curve["scale-down", method] for method in METHODS if ("scale-down", method) in curve}
    base = down.get(BASE, [])
    fewer = {method: 1 - len(ucac) / len(base) for method, ucac in down.items() if method != BASE and base}
    fuller = {method: mean(ucac) / mean(base) - 1 for method, ucac in down.items() if method != BASE and base}
    yield judged(WHERE["scale-down"], "BF-nσ uses more machines than all others", above(), fewer)
    yield judged(WHERE["scale-down"], "UCaC of a machine of BF-nσ is lower than that of all others", above(), fuller)
    text = "almost all machines of CSP-Mac have more UCaC than those of CSP-UCaC, rank by rank"
    yield judged(WHERE["scale-down"], text, at_least(ALMOST_ALL), _higher(down), paper="almost all")
    for case in ("scale-up", "empty"):
        text = f"CSP-UCaC and CSP-Mac have similar UCaC on machines: {SIMILAR:g} of the capacity apart, on average"
        pair = [curve.get((case, method)) for method in ("csp-ucac", "csp-mac")]
        apart = _apart(pair[0], pair[1]) if pair[0] and pair[1] else None
        shown = None if apart is None else f"{apart:.3f}"
        yield judged(WHERE[case], text, near(0.0, SIMILAR), apart, paper="similar", ours=shown)


def _higher(curves: dict[str, list[float]]) -> float | None:
    """The share of ranks at which the machine of csp-mac is the fuller one."""
    if not {"csp-mac", "csp-ucac"} <= curves.keys():
        return None
    pairs = zip(curves["csp-mac"], curves["csp-ucac"], strict=False)
    return mean(float(his > mine) for his, mine in pairs)


def _apart(first: Sequence[float], second: Sequence[float]) -> float:
    """The mean distance at the same rank, in capacities."""
    return mean(abs(a - b) for a, b in zip_longest(first, second, fillvalue=0.0)) / (CAPACITY / MILLI)


# ---- traces --------------------------------------------------------------------------------------------------------------------


def trace_claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figures 1 and 5: a case is a trace, the mean over its services."""
    day, week = (_differences(measured, *pair) for pair in (("day", "half_day"), ("week", "half_week")))
    yield _by_trace("Figure 1", "usage has a day: more alike after 24 hours than after 12", day)
    yield _by_trace("Figure 1", "usage has a week: more alike after 7 days than 3, 4", week)
    low = {data: 1 - value for data, value in _means(measured, "weekend_peak").items()}
    text = f"weekend peaks are very low: {VERY_LOW:.0%} less"
    yield judged("Figure 5(a)", text, at_least(VERY_LOW, neutral=0.0), low, paper="very low", ours=_shown(low, "less"))
    rise = {data: value - 1 for data, value in _means(measured, "weekend_ratio").items()}
    text = "at weekends the deviation over the mean is higher"
    yield judged("Figure 5(b)", text, above(), rise, paper="high", ours=_shown(rise, "more"))


def _by_trace(where: str, text: str, found: dict[str, float]) -> Claim:
    shown = ", ".join(f"{data} {value:+.2f}" for data, value in found.items())
    return judged(where, text, above(), found, ours=shown)


def _shown(found: dict[str, float], word: str) -> str:
    return ", ".join(f"{data} {percent(value)} {word}" for data, value in found.items())


def _means(measured: Sequence[Row], name: str) -> dict[str, float]:
    """By trace, over the services that have it."""
    found = {data: [float(row[name]) for row in picked(measured, data=data) if row[name]] for data in _traces(measured)}
    return {data: mean(values) for data, values in found.items() if values}


def _differences(measured: Sequence[Row], first: str, second: str) -> dict[str, float]:
    a, b = _means(measured, first), _means(measured, second)
    return {data: a[data] - b[data] for data in a if data in b}


def _traces(measured: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["data"] for row in measured))
