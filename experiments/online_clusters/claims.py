"""What section VI of [Online clusters] says beside what we measured.

A case is a setting: its value is the mean over trials. How much better one is than another is the ratio of their ratios, minus 1.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from bayplan.words import count
from experiments.online_clusters.settings import AZURE, MADE, ONE_SHOTS, ONLINE, PAPER, QUICK, READINGS, Scope
from experiments.online_clusters.tables import one_shot_ratios, online_ratios
from experiments.results import Row, picked, rows, table
from experiments.verdicts import TOLERANCE, Claim, above, at_least, at_most, below, judged, yes

BELOW = 2.0  # "a low performance ratio (< 2)"
QUICKLY = 0.5  # seconds of a one-shot algorithm, Figure 5
STEADY = 5  # zones from which on the ratio "remains steady"
LETTERS = {"members": "V", "zones": "S", "ratio": "U", "requests": "I"}
AS_GOOD = 0.001  # means of ratios that differ by less are alike
LOCAL = 1.05  # ours: mean of `local` at every size
RIVALS = ("available", "swmoa")
INSIDE = {"free": "traffic inside of a zone is free", "priced": "traffic inside of a zone has a price"}
PAGE = "verbs/admit.md"
Means = Mapping[str, Mapping[str, float]]  # setting -> method -> mean over trials


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """Every claim of section VI, under both readings and of both kinds of streams."""
    one_shot, online, scope = rows(folder / "oneshot.csv"), rows(folder / "online.csv"), QUICK if quick else Scope()
    found = [
        replace(claim, text=f"{claim.text} ({INSIDE[inside]})", scale=_scale(one_shot, "trial", "drawn, not Google's trace"))
        for inside in READINGS
        if picked(one_shot, inside=inside)
        for claim in one_shot_claims(one_shot, inside)
    ]
    for data in dict.fromkeys(row["data"] for row in online):
        scale = _scale(online, "seed", {MADE: "drawn streams, not Google's trace", AZURE: "Azure's trace, not Google's"}[data])
        found += [
            replace(claim, text=f"{claim.text} (streams of {data})", scale=scale)
            for claim in (*online_claims(online, data, scope), *counted_claims(online, data, scope))
        ]
    return [replace(claim, page=PAGE) for claim in found]


def _scale(measured: Sequence[Row], column: str, data: str) -> str:
    trials = len({row[column] for row in measured})
    return f"{data}; {count(trials, 'trial')}"


# ---- one cluster ---------------------------------------------------------------------------------------------------------------


def one_shot_means(measured: Sequence[Row], inside: str) -> Means:
    """Size -> method -> mean ratio to the optimum, under one reading of traffic inside of a zone."""
    by_size: dict[str, list[Row]] = {}
    for row in picked(measured, inside=inside):
        by_size.setdefault(f"V={row['members']} S={row['zones']} K={row['resources']}", []).append(row)
    found = {name: {method: one_shot_ratios(some, method) for method in ONE_SHOTS} for name, some in by_size.items()}
    return {name: {method: mean(ratios) for method, ratios in of.items() if ratios} for name, of in found.items()}


def one_shot_claims(measured: Sequence[Row], inside: str) -> Iterator[Claim]:
    """Figures 2 to 5, under one reading of traffic inside of a zone."""
    means = one_shot_means(measured, inside)
    for method in ("greedy", "sampling 0.6", "sampling 1.0"):
        ratios = {name: of[method] for name, of in means.items() if method in of}
        yield judged("Figures 3, 4", f"`{method}` is below 2", below(BELOW), ratios, paper="below 2", ours=_span(ratios))
    for figure, method, other in (
        ("Figures 2 to 4", "greedy", "nscd"),
        ("Figures 2 to 4", "sampling 0.6", "nscd"),
        ("Figures 2, 3", "sampling 0.6", "greedy"),
        ("Figure 2", "sampling 0.6", "sampling 1.0"),
    ):
        yield judged(figure, f"`{method}` is better than `{other}`, or equal", at_least(0.0), ahead(means, method, other))
    yield from _one_shot_trends(means)
    yield from _one_shot_seconds(picked(measured, inside=inside))


def ahead(means: Means, method: str, other: str) -> dict[str, float]:
    """Setting -> by how much the other's ratio is above the method's."""
    return {name: of[other] / of[method] - 1 for name, of in means.items() if method in of and other in of}


def _one_shot_trends(means: Means) -> Iterator[Claim]:
    """By the number of members, and by that of zones."""
    sizes = {name: dict(word.split("=") for word in name.split()) for name in means}
    most = max((size["S"] for size in sizes.values()), key=int, default="")
    for method in ("greedy", "sampling 0.6"):
        some = [of[method] for name, of in means.items() if sizes[name]["S"] == most and sizes[name]["K"] == "1" and method in of]
        if len(some) > 1:
            grows = {"first to last": some[-1] / some[0] - 1}
            yield judged(
                "Figure 4", f"the ratio of `{method}` grows with V", above(), grows, ours=f"{some[0]:.2f} to {some[-1]:.2f}"
            )
    middle = min((size["V"] for size in sizes.values()), key=lambda word: abs(int(word) - 5), default="")
    of_zones = [of["sampling 0.6"] for n, of in means.items() if sizes[n]["V"] == middle and "sampling 0.6" in of]
    if len(of_zones) > 1:
        apart, text = max(of_zones) / min(of_zones) - 1, f"S has little effect on `sampling 0.6` (within {TOLERANCE:.0%})"
        yield judged("Figure 3", text, at_most(TOLERANCE), apart, paper="little")


def _one_shot_seconds(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 5, at the largest number of zones and one resource."""
    zones = max((row["zones"] for row in measured), key=int, default="")
    some = picked(measured, zones=zones, resources="1")
    seconds: dict[str, dict[str, float]] = {}
    for method in ONE_SHOTS:
        of_method = picked(some, method=method)
        for members in dict.fromkeys(row["members"] for row in of_method):
            seconds.setdefault(f"V={members}", {})[method] = mean(
                float(row["seconds"]) for row in picked(of_method, members=members)
            )
    for method in ("greedy", "sampling 0.6"):
        mine = {name: of[method] for name, of in seconds.items() if method in of}
        shown = f"{1000 * min(mine.values()):.3f} to {1000 * max(mine.values()):.3f} ms" if mine else None
        yield judged("Figure 5", f"`{method}` takes less than 0.5 s", below(QUICKLY), mine, paper="below 0.5 s", ours=shown)
        faster = {name: of["exact"] / of[method] - 1 for name, of in seconds.items() if method in of and "exact" in of}
        shown = f"{mean(faster.values()) + 1:.2f} times as fast" if faster else None
        yield judged("Figure 5", f"`{method}` is much faster than the optimal algorithm", above(), faster, ours=shown)


def _span(values: Mapping[str, float]) -> str | None:
    """'1.10 to 2.35'."""
    return f"{min(values.values()):.2f} to {max(values.values()):.2f}" if values else None


# ---- streams -------------------------------------------------------------------------------------------------------------------


def online_means(measured: Sequence[Row], data: str, scope: Scope) -> Means:
    """'V=3' -> method -> mean ratio to the offline bound, one setting changed at a time."""
    found: dict[str, dict[str, float]] = {}
    for column, values in settings_of(scope).items():
        for value in values:
            some = picked(measured, **{**base_of(scope), "data": data, column: value})
            ratios = {method: list(online_ratios(some, method).values()) for method in ONLINE}
            found[f"{LETTERS[column]}={value}"] = {method: mean(some) for method, some in ratios.items() if some}
    return found


def base_of(scope: Scope) -> dict[str, str]:
    """The columns of the setting from which one is changed at a time."""
    return dict(zip(("members", "zones", "ratio", "requests", "capacity", "slots"), scope.base.key[1:], strict=True))


def settings_of(scope: Scope) -> dict[str, list[str]]:
    """The values of each column that is changed."""
    values = (scope.online_members, scope.online_zones, scope.ratios, scope.requests)
    return {column: [str(value) for value in some] for column, some in zip(LETTERS, values, strict=True)}


def online_claims(measured: Sequence[Row], data: str, scope: Scope) -> Iterator[Claim]:
    """Figures 6 to 8: A_online against the others, at every setting."""
    means = online_means(measured, data, scope)
    for method in ("exact", "sampling", "greedy"):
        for rival in RIVALS:
            text = f"A_online with `{method}` is better than `{rival}`"
            yield judged("Figures 6 to 8", text, above(), ahead(means, method, rival))
    others = [method for method in PAPER if method not in ("exact", *RIVALS)]
    both = {name: of for name, of in means.items() if all(method in of for method in ("exact", *others))}
    best = {name: min(of[other] for other in others) / of["exact"] - 1 for name, of in both.items()}
    yield judged("Figures 6 to 8", "A_online is best with `exact`", at_least(0.0), best)
    yield from _trends(means)


def _trends(means: Means) -> Iterator[Claim]:
    """How the ratio of A_online with greedy changes with each letter."""
    for figure, letter, stated, word in (
        ("Figure 6", "V", above(), "grows"),
        ("Figure 6", "S", below(), "falls"),
        ("Figure 7", "U", above(), "grows"),
    ):
        curve = [of["greedy"] for name, of in means.items() if name.startswith(f"{letter}=") and "greedy" in of]
        if len(curve) > 1:
            text, shown = f"the ratio {word} with {letter} (`greedy`)", f"{curve[0]:.2f} to {curve[-1]:.2f}"
            yield judged(figure, text, stated, curve[-1] / curve[0] - 1, ours=shown)
    steady = {name: of["greedy"] for name, of in means.items() if name[:2] == "S=" and int(name[2:]) >= STEADY and "greedy" in of}
    for figure, text, some in (
        ("Figure 6", f"the ratio is steady from S = {STEADY} on (`greedy`, within {TOLERANCE:.0%})", steady),
        ("Figure 8", f"I has no major effect (`greedy`, within {TOLERANCE:.0%})", _of_letter(means, "I")),
    ):
        if len(some) > 1:
            apart = max(some.values()) / min(some.values()) - 1
            yield judged(figure, text, at_most(TOLERANCE), apart, ours=f"apart by {100 * apart:.1f} %")


def _of_letter(means: Means, letter: str) -> dict[str, float]:
    return {name: of["greedy"] for name, of in means.items() if name.startswith(f"{letter}=") and "greedy" in of}


def counted_claims(measured: Sequence[Row], data: str, scope: Scope) -> Iterator[Claim]:
    """Figures 9 to 11: value, winners and seconds by the number of requests."""
    base = {**base_of(scope), "data": data}
    value = {m: _by_requests(measured, "value", scope, **base, method=m) for m in ("exact", "sampling", "greedy")}
    for method, curve in value.items():
        if len(curve) > 1:
            first, *_, last = curve.values()
            grows = last / first - 1
            yield judged("Figure 9", f"the value grows with I (`{method}`)", above(), grows)
    yield judged("Figure 9", "`sampling` accepts more value than `greedy`", above(), _over(value["sampling"], value["greedy"]))
    share = {c: _winners(measured, scope, **{**base, "capacity": str(c)}, method="greedy") for c in scope.capacities}
    for capacity, curve in share.items():
        if len(curve) > 1:
            first, *_, last = curve.values()
            text, shown = f"the share of winners falls with I (`greedy`, C = {capacity})", f"{first:.1%} to {last:.1%}"
            yield judged("Figure 10", text, below(), last / first - 1, ours=shown)
    if all(share.values()):
        few, *_, many = share.values()
        yield judged("Figure 10", "more capacity gives a higher share of winners (`greedy`)", above(), _over(many, few))
    five = {**base, "members": "5"}
    seconds = {m: _by_requests(measured, "seconds", scope, **five, method=m) for m in ("exact", "sampling", "greedy")}
    if all(seconds.values()):
        for slow, fast in (("sampling", "greedy"), ("exact", "sampling")):
            faster = _over(seconds[slow], seconds[fast])
            shown = f"{mean(faster.values()) + 1:.3g} times as fast" if faster else None
            yield judged("Figure 11", f"`{fast}` is faster than `{slow}` (V = 5)", above(), faster, ours=shown)


def _by_requests(measured: Sequence[Row], column: str, scope: Scope, **where: str) -> dict[str, float]:
    """'I=50' -> the mean over seeds."""
    found = {}
    for number in scope.requests:
        some = [float(row[column]) for row in picked(measured, **{**where, "requests": str(number)})]
        if some:
            found[f"I={number}"] = mean(some)
    return found


def _winners(measured: Sequence[Row], scope: Scope, **where: str) -> dict[str, float]:
    counted = _by_requests(measured, "winners", scope, **where)
    return {name: winners / int(name[2:]) for name, winners in counted.items()}


def _over(many: Mapping[str, float], few: Mapping[str, float]) -> dict[str, float]:
    return {name: many[name] / value - 1 for name, value in few.items() if name in many and value}


# ---- beyond the paper ----------------------------------------------------------------------------------------------------------


def own_lines(questions: Iterable[tuple[str, Mapping[str, bool]]]) -> list[str]:
    """A table of our own methods: a question, where the answer is yes, and whether that is everywhere."""
    body = []
    for text, holds in questions:
        failed = [name for name, fine in holds.items() if not fine]
        where = f"; not at {', '.join(failed[:5])}{' and others' if len(failed) > 5 else ''}" if failed else ""
        body.append([text, f"{sum(holds.values())} of {len(holds)}{where}", yes(not failed)])
    return table(["beyond the paper", "holds at", "everywhere?"], body)


def own_one_shot(measured: Sequence[Row], inside: str) -> Iterator[tuple[str, Mapping[str, bool]]]:
    """About `local`."""
    means = one_shot_means(measured, inside)
    yield f"`local`: mean ratio at most {LOCAL}", {name: of["local"] <= LOCAL for name, of in means.items() if "local" in of}


def own_online(measured: Sequence[Row], data: str, scope: Scope) -> Iterator[tuple[str, Mapping[str, bool]]]:
    """About `ours`."""
    means = online_means(measured, data, scope)
    for rival in RIVALS:
        both = {name: of for name, of in means.items() if "ours" in of and rival in of}
        yield f"`ours` is at least as good as `{rival}`", {n: of["ours"] <= of[rival] + AS_GOOD for n, of in both.items()}
    every = {name: of for name, of in means.items() if len(of) == len(ONLINE)}
    yield "`ours` is best of all", {n: of["ours"] <= min(of[m] for m in PAPER) + AS_GOOD for n, of in every.items()}
