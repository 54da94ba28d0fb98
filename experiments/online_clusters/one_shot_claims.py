"""What §IV and §VI-A of [Online clusters] say of one cluster beside what we measured.

A case is a size: its value is the mean over trials. How much better one is than another is the ratio of their ratios, minus 1.
Seconds are those of the CPU.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import log
from statistics import linear_regression, mean

from experiments.online_clusters.settings import EPSILON, FEW, LISTING, ONE_BY_ONE, ONE_SHOTS, TIMED
from experiments.online_clusters.tables import one_shot_ratios
from experiments.results import Row, picked
from experiments.verdicts import TOLERANCE, Claim, above, at_least, at_most, below, judged

BELOW = 2.0  # "a low performance ratio (< 2)"
QUICKLY = 0.5  # seconds of a one-shot algorithm, Figure 5
LOCAL = 1.05  # ours: mean of `local` at every size
FIXED = 3  # samples of `FEW`
Size = tuple[int, int, int]  # V, S, K
Means = Mapping[Size, Mapping[str, float]]  # size -> method -> mean over trials


def name_of(size: Size) -> str:
    """'V=5 S=9 K=1'."""
    return f"V={size[0]} S={size[1]} K={size[2]}"


def by_size(measured: Sequence[Row]) -> dict[Size, list[Row]]:
    """The rows of each size."""
    found: dict[Size, list[Row]] = {}
    for row in measured:
        found.setdefault((int(row["members"]), int(row["zones"]), int(row["resources"])), []).append(row)
    return found


def ratio_means(measured: Sequence[Row], inside: str, of: Callable[[Iterable[float]], float] = mean) -> Means:
    """Size -> method -> mean ratio to the optimum, or the largest."""
    found = {
        size: {m: one_shot_ratios(some, m) for m in ONE_SHOTS} for size, some in by_size(picked(measured, inside=inside)).items()
    }
    return {size: {m: of(ratios) for m, ratios in some.items() if ratios} for size, some in found.items()}


def cpu_means(measured: Sequence[Row]) -> Means:
    """Size -> method -> mean CPU seconds, under both readings: it is the same work."""
    found: dict[Size, dict[str, float]] = {}
    for size, some in by_size(measured).items():
        for method in TIMED:
            seconds = [float(row["cpu"]) for row in picked(some, method=method)]
            if seconds:
                found.setdefault(size, {})[method] = mean(seconds)
    return found


def one_shot_claims(measured: Sequence[Row], inside: str) -> Iterator[Claim]:
    """Figures 2 to 4, under one reading of traffic inside of a zone."""
    means = ratio_means(measured, inside)
    yield from _ratio_claims(means, ratio_means(measured, inside, max))
    yield from _trend_claims(means, measured, inside)


def second_claims(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 5, and what §IV says of run times."""
    seconds = cpu_means(measured)
    yield from _second_claims(seconds)
    yield from _growth_claims(seconds)


def _ratio_claims(means: Means, largest: Means) -> Iterator[Claim]:
    for method in ("greedy", *EPSILON):
        ratios = _of(means, method)
        yield judged("Figures 3, 4", f"`{method}` is below 2", below(BELOW), ratios, paper="below 2", ours=_span(ratios))
    more = {name: ratio for name, ratio in _of(means, "greedy").items() if not name.endswith("K=1")}
    text = "`greedy` is below 2 with more than one resource"
    yield judged("Figure 4", text, below(BELOW), more, paper="below 2", ours=_span(more))
    worst = _of(largest, "greedy")
    text, shown = "`greedy` is within 2 in all cases tested", _span(worst)
    yield judged("§IV-C", text, at_most(BELOW), worst, paper="2", ours=f"largest {shown}" if shown else None)
    for figure, method, other in (
        ("Figures 2 to 4", "greedy", "nscd"),
        ("Figures 2 to 4", "sampling 0.6", "nscd"),
        ("Figures 2 to 4", "sampling 1.0", "nscd"),
        ("Figures 2, 3", "sampling 0.6", "greedy"),
        ("Figure 2", "sampling 0.6", "sampling 1.0"),
    ):
        yield judged(figure, f"`{method}` is better than `{other}`, or equal", at_least(0.0), ahead(means, method, other))


def ahead(means: Means, method: str, other: str) -> dict[str, float]:
    """Size -> by how much the other's ratio is above the method's."""
    return {name_of(size): of[other] / of[method] - 1 for size, of in means.items() if method in of and other in of}


def _trend_claims(means: Means, measured: Sequence[Row], inside: str) -> Iterator[Claim]:
    """By the number of members, and by that of zones."""
    most = max((size[1] for size in means), default=0)
    for method in ("greedy", *EPSILON):
        curve = [of[method] for size, of in sorted(means.items()) if size[1:] == (most, 1) and method in of]
        yield _grows("Figure 4", f"the ratio of `{method}` grows with V", curve)
    for method in EPSILON:
        yield _grows("Figure 2", f"the gap of `{method}` to the optimal cost grows with V", gaps(measured, inside, method))
    middle = min((size[0] for size in means), key=lambda members: abs(members - 5), default=0)
    for method in EPSILON:
        curve = [of[method] for size, of in means.items() if size[0] == middle and size[2] == 1 and method in of]
        apart = max(curve) / min(curve) - 1 if len(curve) > 1 else None
        text = f"S has little effect on `{method}` (within {TOLERANCE:.0%})"
        yield judged("Figure 3", text, at_most(TOLERANCE), apart, paper="little")


def gaps(measured: Sequence[Row], inside: str, method: str) -> list[float]:
    """Mean cost above the optimum by V, at the largest number of zones and one resource."""
    sizes = by_size(picked(measured, inside=inside))
    most = max((size[1] for size in sizes), default=0)
    some = [picked(rows, method=method) for size, rows in sorted(sizes.items()) if size[1:] == (most, 1)]
    return [mean(float(row["cost"]) - float(row["optimum"]) for row in rows) for rows in some if rows]


def _second_claims(seconds: Means) -> Iterator[Claim]:
    """Figure 5, at the largest number of zones and one resource."""
    most = max((size[1] for size in seconds), default=0)
    of_size = {f"V={size[0]}": of for size, of in sorted(seconds.items()) if size[1:] == (most, 1)}
    for method in ("greedy", "sampling 0.6", FEW, "sampling 1.0"):
        mine = {name: of[method] for name, of in of_size.items() if method in of}
        shown = f"{1000 * min(mine.values()):.3f} to {1000 * max(mine.values()):.3f} ms" if mine else None
        yield judged("Figure 5", f"`{method}` takes less than 0.5 s", below(QUICKLY), mine, paper="below 0.5 s", ours=shown)
        for other, words in ((LISTING, "arrays of all placements"), (ONE_BY_ONE, "all placements one by one")):
            faster = {name: of[other] / of[method] - 1 for name, of in of_size.items() if method in of and other in of}
            text = f"`{method}` is much faster than the optimal algorithm ({words})"
            yield judged("Figure 5", text, above(), faster, ours=_times(faster))
        yield _grows("Figure 5", f"the running time of `{method}` grows with V", list(mine.values()), 1000, " ms")


def _growth_claims(seconds: Means) -> Iterator[Claim]:
    """Theorem 2 with n fixed, and what §IV-C says of Algorithm 3."""
    powers = {
        f"V={members}": power_of([(size[1], of[FEW]) for size, of in some])
        for members, some in _groups(seconds, 0).items()
        if members > FIXED and len(some) > 1 and all(FEW in of for _, of in some)
    }
    shown = f"S^{mean(powers.values()):.1f}" if powers else None
    text = f"A_sub1 takes O(S^(n + 1)) by S (`{FEW}`: S^{FIXED + 1})"
    yield judged("Theorem 2", text, at_most(FIXED + 1), powers, paper=f"S^{FIXED + 1}", ours=shown)
    for method, where, text, grown in (
        (FEW, "Theorem 2", f"A_sub1 takes O(V^2 log V) by V (`{FEW}`)", lambda v: v**2 * log(v)),
        ("greedy", "§IV-C", "A_sub2 takes O(V) by V (`greedy`)", float),
    ):
        cases = {}
        for zones, some in _groups(seconds, 1).items():
            known = [(size[0], of[method]) for size, of in some if method in of and (method != FEW or size[0] > FIXED)]
            if len(known) > 1:
                (first, least), (last, longest) = known[0], known[-1]
                cases[f"S={zones}"] = longest / least / (grown(last) / grown(first))
        shown = f"{mean(cases.values()):.2f} of that growth" if cases else None
        yield judged(where, text, at_most(1.0), cases, paper="1", ours=shown)
    slopes = {
        f"V={members}": power_of([(size[1], of["greedy"]) for size, of in some])
        for members, some in _groups(seconds, 0).items()
        if len(some) > 1 and all("greedy" in of for _, of in some)
    }
    shown = f"S^{mean(slopes.values()):.1f}" if slopes else None
    yield judged("§IV-C", "A_sub2 takes O(S) by S (`greedy`)", at_most(1.0), slopes, paper="S^1", ours=shown)


def _groups(seconds: Means, axis: int) -> dict[int, list[tuple[Size, Mapping[str, float]]]]:
    """The sizes of one resource that share V (axis 0) or S (axis 1), in order."""
    found: dict[int, list[tuple[Size, Mapping[str, float]]]] = {}
    for size, of in sorted(seconds.items()):
        if size[2] == 1:
            found.setdefault(size[axis], []).append((size, of))
    return found


def power_of(points: Sequence[tuple[int, float]]) -> float:
    """The exponent of the power law nearest to these points."""
    return linear_regression([log(x) for x, _ in points], [log(y) for _, y in points]).slope


def _grows(where: str, text: str, curve: Sequence[float], scale: float = 1.0, unit: str = "") -> Claim:
    """From the first to the last value."""
    if len(curve) < 2 or curve[0] == 0.0:
        steps = {"first to last": curve[-1] - curve[0]} if len(curve) > 1 else {}
    else:
        steps = {"first to last": curve[-1] / curve[0] - 1}
    shown = f"{scale * curve[0]:.2f} to {scale * curve[-1]:.2f}{unit}" if len(curve) > 1 else None
    return judged(where, text, above(), steps, ours=shown)


def _of(means: Means, method: str) -> dict[str, float]:
    return {name_of(size): of[method] for size, of in means.items() if method in of}


def _times(faster: Mapping[str, float]) -> str | None:
    """'0.11 to 1,200 times as fast'."""
    shown = [f"{factor + 1:,.0f}" if factor > 99 else f"{factor + 1:.2g}" for factor in (*_ends(faster),)]
    return f"{' to '.join(shown)} times as fast" if shown else None


def _ends(values: Mapping[str, float]) -> tuple[float, ...]:
    return (min(values.values()), max(values.values())) if values else ()


def _span(values: Mapping[str, float]) -> str | None:
    """'1.10 to 2.35'."""
    return f"{min(values.values()):.2f} to {max(values.values()):.2f}" if values else None


def own_one_shot(measured: Sequence[Row], inside: str) -> Iterator[tuple[str, Mapping[str, bool]]]:
    """About `local`, and `exact` beside what the paper does."""
    means, seconds = ratio_means(measured, inside), cpu_means(picked(measured, inside=inside))
    yield f"`local`: mean ratio at most {LOCAL}", {name: r <= LOCAL for name, r in _of(means, "local").items()}
    for method in ("sampling 0.6", "sampling 1.0", LISTING):
        both = {name_of(size): of for size, of in seconds.items() if "exact" in of and method in of}
        yield f"`exact` (branch and bound) is faster than `{method}`", {n: of["exact"] < of[method] for n, of in both.items()}
