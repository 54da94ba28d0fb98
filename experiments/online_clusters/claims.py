"""What section VI of [Online clusters] says, what we measured, and whether that agrees.

One rule: *reproduced* if the statement holds for the means at every setting that was measured, *in part* if at more than half of
them, *not reproduced* otherwise. The places where it fails are named.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

from experiments.online_clusters.settings import ONE_SHOTS, ONLINE, PAPER
from experiments.online_clusters.tables import one_shot_ratios, online_ratios
from experiments.results import Row, picked, table

REPRODUCED, IN_PART, NOT = "reproduced", "in part", "not reproduced"
LETTERS = {"members": "V", "zones": "S", "ratio": "U", "requests": "I"}
BELOW = 2.0  # "a low performance ratio (< 2)"
AS_GOOD = 0.001  # means of ratios that differ by less are alike
LOCAL = 1.05  # ours: mean of `local` at every size
RIVALS = ("available", "swmoa")
Claim = tuple[str, str, str]


def judged(text: str, holds: Mapping[str, bool]) -> Claim:
    """A statement, where it holds, and the verdict."""
    good = sum(holds.values())
    verdict = REPRODUCED if good == len(holds) else IN_PART if good > len(holds) / 2 else NOT
    failed = [name for name, fine in holds.items() if not fine]
    where = f"; not at {', '.join(failed[:5])}{' and others' if len(failed) > 5 else ''}" if failed else ""
    return text, f"{good} of {len(holds)}{where}", verdict


def one_shot_claims(measured: Sequence[Row], inside: str) -> Iterator[Claim]:
    """Figures 2 to 5, under one reading of traffic inside of a zone."""
    by_size: dict[str, list[Row]] = {}
    for row in picked(measured, inside=inside):
        by_size.setdefault(f"V={row['members']} S={row['zones']} K={row['resources']}", []).append(row)
    groups: dict[str, dict[str, float]] = {}
    for name, some in by_size.items():
        found = {method: one_shot_ratios(some, method) for method in ONE_SHOTS}
        groups[name] = {method: mean(ratios) for method, ratios in found.items() if ratios}
    for method in ("greedy", "sampling 0.6", "sampling 1.0"):
        holds = {name: means[method] < BELOW for name, means in groups.items() if method in means}
        yield judged(f"`{method}`: mean ratio to the optimum below 2", holds)
    for method in ("greedy", "sampling 0.6"):
        both = {name: means for name, means in groups.items() if method in means and "nscd" in means}
        yield judged(f"`{method}` is better than `nscd`", {n: m[method] <= m["nscd"] for n, m in both.items()})
    both = {name: means for name, means in groups.items() if "greedy" in means and "sampling 0.6" in means}
    yield judged("`sampling 0.6` is better than `greedy`", {n: m["sampling 0.6"] <= m["greedy"] for n, m in both.items()})
    yield judged(
        "`sampling 0.6` is better than `sampling 1.0`", {n: m["sampling 0.6"] <= m["sampling 1.0"] for n, m in both.items()}
    )
    holds = {name: means["local"] <= LOCAL for name, means in groups.items() if "local" in means}
    yield judged(f"beyond the paper: `local`, mean ratio at most {LOCAL}", holds)


def online_claims(
    measured: Sequence[Row], data: str, settings: Mapping[str, Sequence[str]], base: Mapping[str, str]
) -> Iterator[Claim]:
    """Figures 6 to 8: A_online against the others, at every setting."""
    means: dict[str, dict[str, float]] = {}
    for column, values in settings.items():
        for value in values:
            some = picked(measured, **{**base, "data": data, column: value})
            found = {method: list(online_ratios(some, method).values()) for method in ONLINE}
            means[f"{LETTERS[column]}={value}"] = {method: mean(some) for method, some in found.items() if some}
    for method in ("exact", "sampling", "greedy", "ours"):
        for rival in RIVALS:
            both = {name: m for name, m in means.items() if method in m and rival in m}
            if method == "ours":
                as_good = {name: m["ours"] <= m[rival] + AS_GOOD for name, m in both.items()}
                yield judged(f"beyond the paper: `ours` is at least as good as `{rival}`", as_good)
            else:
                better = {name: m[method] < m[rival] for name, m in both.items()}
                yield judged(f"A_online with `{method}` is better than `{rival}`", better)
    others = [method for method in PAPER if method not in ("exact", *RIVALS)]
    both = {name: m for name, m in means.items() if all(method in m for method in ("exact", *others))}
    yield judged("A_online is best with `exact`", {n: m["exact"] <= min(m[o] for o in others) for n, m in both.items()})
    both = {name: m for name, m in means.items() if len(m) == len(ONLINE)}
    best = {name: m["ours"] <= min(m[method] for method in PAPER) + AS_GOOD for name, m in both.items()}
    yield judged("beyond the paper: `ours` is best of all", best)
    yield from _trends(means)


def _trends(means: Mapping[str, Mapping[str, float]]) -> Iterator[Claim]:
    """How the ratio of A_online with greedy changes with each letter."""
    for letter, up in (("V", True), ("S", False), ("U", True)):
        curve = [m["greedy"] for name, m in means.items() if name.startswith(f"{letter}=") and "greedy" in m]
        if len(curve) > 1:
            grows = curve[-1] > curve[0]
            text = f"the ratio {'grows' if up else 'falls'} with {letter} (first to last, `greedy`)"
            yield judged(text, {f"{letter}: {curve[0]:.2f} to {curve[-1]:.2f}": grows == up})


def claim_lines(claims: Iterator[Claim]) -> list[str]:
    """A table of verdicts."""
    return table(["claim", "holds at", "verdict"], claims)
