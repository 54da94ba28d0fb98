"""The grid over loads, durations and values: where prices pay, and where the claims on Figures 6 to 8 hold."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from experiments.online_clusters.measured import Streams
from experiments.online_clusters.settings import BY_PRICE, FREE, LASTS, LIMITED, QUICKEST, RIVALS, WORTH, Scope, Setting
from experiments.results import table
from experiments.verdicts import TOLERANCE

Answers = Mapping[Setting, bool]


def grid_table(streams: Streams, inside: str, scope: Scope) -> list[str]:
    """Every cell: load, shares accepted, the ratio of each method, and how that of `greedy` changes with U."""
    methods = (*QUICKEST, *(("ours",) if inside == FREE else ()))
    body = []
    for setting in scope.grid(inside):
        if streams.load(setting) is None:
            continue
        usual = " (the paper's)" if setting == replace(scope.base, inside=inside) else ""
        numbers = [streams.load(setting), streams.winners(setting, "available"), streams.winners(setting, "greedy")]
        shown = ["-" if number is None else f"{number:.0%}" for number in numbers]
        ratios = [streams.ratio(setting, method) for method in methods]
        shown += ["-" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
        shown.append(_by_u(streams, setting, scope))
        body.append([WORTH[setting.worth], LASTS[setting.lasts], f"{setting.requests}{usual}", *shown])
    head = ["value", "lasts", "I", "load", "available in", "greedy in", *methods]
    return table([*head, f"greedy, U = {', '.join(map(str, scope.ends))}"], body)


def _by_u(streams: Streams, setting: Setting, scope: Scope) -> str:
    found = [streams.ratio(replace(setting, ratio=ratio), "greedy") for ratio in scope.ends]
    return " to ".join("-" if ratio is None else f"{ratio:.2f}" for ratio in found)


def answers(streams: Streams, inside: str, scope: Scope) -> Iterator[tuple[str, Answers]]:
    """The claims on Figures 6 to 8, each with the cells where it holds and where it does not."""
    for method, rival in product(("exact", "greedy", *BY_PRICE), RIVALS):
        text = f"A_online with `{method}` is better than `{rival}`"
        yield text, _asked(streams, inside, scope, lambda s, m=method, r=rival: streams.ahead(s, m, r), lambda gain: gain > 0)
    yield (
        "A_online is better with `exact` than with `greedy`, or equal",
        _asked(streams, inside, scope, lambda s: streams.ahead(s, "exact", "greedy"), lambda gain: gain >= 0),
    )
    for method in ("exact", "greedy"):
        text = f"the ratio grows with U (`{method}`)"
        yield text, _asked(streams, inside, scope, lambda s, m=method: _change(streams, s, m, scope), lambda gain: gain > 0)
    text = f"I has no major effect (`greedy`, within {TOLERANCE:.0%} of I = {scope.loads[0]})"
    yield text, _asked(streams, inside, scope, lambda s: _apart(streams, s, scope), lambda gain: gain <= TOLERANCE)


def _asked(
    streams: Streams, inside: str, scope: Scope, value: Callable[[Setting], float | None], holds: Callable[[float], bool]
) -> Answers:
    found = {setting: value(setting) for setting in scope.grid(inside)}
    return {setting: holds(number) for setting, number in found.items() if number is not None}


def _change(streams: Streams, setting: Setting, method: str, scope: Scope) -> float | None:
    """How much the ratio is higher with the largest U than with the least."""
    least, most = (streams.ratio(replace(setting, ratio=ratio), method) for ratio in (min(scope.ends), max(scope.ends)))
    return most / least - 1 if least is not None and most is not None else None


def _apart(streams: Streams, setting: Setting, scope: Scope) -> float | None:
    """How far the ratio is from that of the lowest load."""
    here, first = (streams.ratio(s, "greedy") for s in (setting, replace(setting, requests=scope.loads[0])))
    return None if setting.requests == scope.loads[0] or here is None or first is None else abs(here / first - 1)


def answer_table(streams: Streams, scope: Scope) -> list[str]:
    """Claim by claim: in how many cells it holds, by reading, by value, by duration and by load."""
    readings = [inside for inside in (FREE, LIMITED) if any(inside == kind[1] for kind in scope.kinds)]
    found = [dict(answers(streams, inside, scope)) for inside in readings]
    body = []
    for text in found[0]:
        cells = {setting: holds for some in found for setting, holds in some.get(text, {}).items()}
        columns = [{s: h for s, h in cells.items() if s.inside == inside} for inside in readings]
        columns += [{s: h for s, h in cells.items() if s.worth == worth} for worth in WORTH]
        columns += [{s: h for s, h in cells.items() if s.lasts == lasts} for lasts in LASTS]
        columns += [{s: h for s, h in cells.items() if s.requests == load} for load in scope.loads]
        body.append([text, *(f"{sum(some.values())} of {len(some)}" if some else "-" for some in columns)])
    head = [*readings, *WORTH, *LASTS]
    return table(["claim holds at", *head, *(f"I = {load}" for load in scope.loads)], body)
