"""What [RASA] §V-F and [FreeContainer] §VII measured in production beside what the performance model gives."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from experiments.production.changes import Change, change_of, gap_of, pair_changes, pair_gaps, row_of, service_changes, signed
from experiments.production.settings import AFTER, BASE, FREECONTAINER, RASA, STATED, STRESS
from experiments.production.week_claims import week_claims_in
from experiments.results import Row, picked, rows
from experiments.verdicts import Claim, about, above, at_most, below, judged, spanning

LATENCY, ERRORS = -0.2375, -0.2409  # [RASA] Figure 13
PAIR_LATENCY, PAIR_ERRORS = (-0.7216, -0.1677), (-0.6442, -0.1327)  # Figures 11 and 12
GAP = 0.10  # of WITH to ONLY COLLOCATED
RESPONSE = 365 / 451 - 1  # [FreeContainer] Figure 6(a)
UP_TO = 0.9  # Figure 6(b): the text gives +90 % of S2 and +30 % of S5, and "up to 90 %"
NO_TAIL = 0.05  # of the servers that were above 80 % before
LARGER, SMALLER = 2_268, 588  # containers of S2 and S5
PAGE = "verbs/production.md"
LOADS = {STRESS: "load of the stress test", STATED: "load as generated"}


def rasa_claims_in(folder: Path) -> list[Claim]:
    """Figures 11 to 13, and what §III says of the running system."""
    measured, parts = rows(folder / "performance.csv"), rows(folder / "parts.csv")
    found = [replace(claim, scale=_rasa_scale(measured), page=PAGE) for claim in rasa_claims(measured, parts)]
    return found + week_claims_in(folder)


def freecontainer_claims_in(folder: Path) -> list[Claim]:
    """§VII."""
    measured, parts = rows(folder / "performance.csv"), rows(folder / "parts.csv")
    scale, set_load = (
        "a model of a generated data centre, 6,000 servers, 1 seed",
        "; its load makes 800 of them exceed 80 % before",
    )
    claims = freecontainer_claims(measured, parts)
    return [replace(c, scale=scale + ("" if LOADS[STATED] in c.text else set_load), page=PAGE) for c in claims]


def _rasa_scale(measured: Sequence[Row]) -> str:
    row = row_of(measured, BASE[RASA], AFTER)
    return f"a model of {row['cluster']}, {float(row['containers']):,.0f} containers, 1 seed; placed by our `best`, not by RASA"


def rasa_claims(measured: Sequence[Row], parts: Sequence[Row]) -> Iterator[Claim]:
    """Figures 11 to 13, by the model under its stated assumptions."""
    base = BASE[RASA]
    latency, errors = (change_of(measured, base, column) for column in ("call_ms", "call_error"))
    text = "weighted latency, WITHOUT to WITH"
    yield judged("Figure 13", text, about(LATENCY), latency.share, paper=signed(LATENCY), ours=_from_to(latency, "ms"))
    text = "weighted error rate, WITHOUT to WITH"
    yield judged("Figure 13", text, about(ERRORS), errors.share, paper=signed(ERRORS), ours=_from_to(errors, "%"))
    pairs = pair_changes(parts)
    for figure, text, number, paper in (
        ("Figure 11", "latency of four pairs", 0, PAIR_LATENCY),
        ("Figure 12", "error rate of four pairs", 1, PAIR_ERRORS),
    ):
        found = {f"pair {n}": pair[number].share for n, pair in enumerate(pairs, start=1)}
        yield judged(figure, text, spanning(*paper), found, paper=_span(paper), ours=_span(tuple(found.values())))
    for text, column in (("latency", "call_ms"), ("error rate", "call_error")):
        gap = gap_of(measured, base, column)
        yield judged(
            "§V-F", f"{text}, gap of WITH to ONLY COLLOCATED", below(GAP), abs(gap), paper="below 10 points", ours=points(gap)
        )
    for text, column in (("latency", "latency_ms"), ("error rate", "error_rate")):
        gaps = pair_gaps(parts, column)
        words, shown = f"{text} of four pairs, gap of WITH to ONLY COLLOCATED", ", ".join(map(points, gaps.values()))
        yield judged("§V-F", words, below(GAP), gaps, paper="below 10 points", ours=shown)


def freecontainer_claims(measured: Sequence[Row], parts: Sequence[Row]) -> Iterator[Claim]:
    """Figures 6 and 7, by the model."""
    base = BASE[FREECONTAINER]
    response, hot = (change_of(measured, base, column) for column in ("mean_ms", "above_80"))
    text = "mean response time"
    yield judged("Figure 6(a)", text, about(RESPONSE), response.share, paper=signed(RESPONSE), ours=_from_to(response, "ms"))
    left, shown = hot.new / hot.old if hot.old else None, f"{hot.old:,.0f} to {hot.new:,.0f} servers"
    text = f"no long tail: servers above 80 % of CPU fall to at most {NO_TAIL:.0%} of those before"
    yield judged("Figure 7(a)", text, at_most(NO_TAIL), left, paper="no long tail", ours=shown)
    for load, words in LOADS.items():
        if picked(parts, study=FREECONTAINER, load=load):
            changes = service_changes(parts, load)
            rise = {service: change.share for service, (_, change) in changes.items()}
            span = f"{_span(tuple(rise.values()))}, mean {signed(sum(rise.values()) / len(rise))}"
            text = f"throughput of 5 services rises by up to, {words}"
            yield judged("Figure 6(b)", text, about(UP_TO), max(rise.values()), paper=signed(UP_TO), ours=span)
            larger, smaller = (min(changes.values(), key=lambda one, n=n: abs(one[0] - n)) for n in (LARGER, SMALLER))  # type: ignore[misc]
            text = f"throughput rises, and more for larger services, {words}"
            shown = f"{signed(larger[1].share)} and {signed(smaller[1].share)}"
            both = min(smaller[1].share, larger[1].share - smaller[1].share)
            yield judged("§VII-B", text, above(), both, paper="+90 % and +30 %", ours=shown)


def _from_to(change: Change, unit: str) -> str:
    return f"{signed(change.share)} ({amount(change.old, unit)} to {amount(change.new, unit)})"


def amount(value: float, unit: str) -> str:
    """'2.40 ms', '0.094 %'."""
    return f"{100 * value:.3f} %" if unit == "%" else f"{value:.2f} ms" if value < 100 else f"{value:,.0f} ms"


def points(gap: float) -> str:
    """'2.7 points'."""
    return f"{100 * gap:.1f} points"


def _span(values: Sequence[float]) -> str:
    return f"{signed(min(values))} to {signed(max(values))}"
