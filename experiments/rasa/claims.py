"""What [RASA] says of its experiments (Figures 5 to 10, §III-B) beside what we measured.

A case is a cluster, or a time limit. Differences of gained affinity are points of the total affinity.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bayplan.words import count
from experiments.rasa.clusters import M3
from experiments.rasa.paper import LOST, MOST_LOST, MOST_TIME, OVER, OVER_KAHIP, OVER_ORIGINAL, OVER_RANDOM, PER_RUN
from experiments.rasa.parts import BASELINES
from experiments.rasa.tables import affinity, answered
from experiments.results import Row, picked, rows
from experiments.verdicts import Claim, about, above, at_least, at_most, below, judged, level, near, percent

SAME = 0.005  # points of total affinity that make no difference
CLOSE = 0.02  # points from the best that is close to it
NEARLY_ALL = 0.95  # of the affinity: 'approaches 1.0'
SECONDS = 60.0  # that the paper gives each answer
LARGE = ("rasa-m2", "rasa-m4")  # of the sizes of M2 and M4
PAGE = "verbs/rasa.md"


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """Every claim that the CSV files of a folder have the rows for."""
    found = []
    for part, claims in PARTS.items():
        measured = rows(folder / f"{part}.csv")
        found += [replace(claim, scale=_scale(part, measured), page=PAGE) for claim in claims(measured)]
    return found


def _scale(part: str, measured: Sequence[Row]) -> str:
    """'M3 and 3 generated clusters; 10 s (the paper: 60 s), 1 seed'."""
    names = {row["cluster"] for row in measured}
    others = len(names - {M3})
    clusters = " and ".join(filter(None, ("M3" * (M3 in names), count(others, "generated cluster") * bool(others))))
    if part == "powerlaw":
        return clusters
    times = sorted({float(row["seconds"]) for row in measured})
    span = " to ".join(f"{time:g}" for time in dict.fromkeys((*times[:1], *times[-1:])))
    less = f" (the paper: {SECONDS:g} s)" if times and times[-1] < SECONDS else ""
    seeds = len({row["seed"] for row in measured})
    return f"{clusters}; {span} s{less}, {count(seeds, 'seed')}"


def fits(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 5."""
    squares = {(row["cluster"], row["curve"]): float(row["squares"]) for row in measured}
    names = [name for name, curve in squares if curve == "power law" and (name, "exponential") in squares]
    if not names:
        return
    better = {name: 1 - squares[name, "power law"] / squares[name, "exponential"] for name in names}
    text, shown = "a power law fits affinity better than an exponential", f"{percent(min(better.values()))} less error at least"
    yield judged("Figure 5", text, above(), better, ours=shown)
    beta = {row["cluster"]: float(row["rate"]) for row in measured if row["curve"] == "power law"}
    yield judged("Assumption 4.1", "beta is above 1", above(1.0), beta, paper="above 1", ours=_each(beta, ".2f"))


def _each(values: Mapping[str, float], form: str) -> str:
    """'m1 0.60 M3 0.79': generated clusters without what all of their names begin with."""
    return " ".join(f"{name.removeprefix('rasa-')} {value:{form}}" for name, value in values.items())


def partitions(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 6 and the supplement."""
    table = by_option(measured, "partition")
    mine = {name: of["multi-stage"] for name, of in table.items() if "multi-stage" in of}
    for other, paper, words in (("random", OVER_RANDOM, "RANDOM-PARTITION"), ("min-cut", OVER_KAHIP, "KAHIP")):
        gains = {name: value - table[name][other] for name, value in mine.items() if other in table[name]}
        if gains:
            text = f"`multi-stage` is above `{other}` ({words}), points"
            yield judged("Figure 6", text, about(paper), gains, paper=percent(paper))
    ahead = {name: value - max(of for o, of in table[name].items() if o != "multi-stage") for name, value in mine.items()}
    yield judged("Figure 6", "`multi-stage` is above all other partitioners", above(), ahead, ours=_each(ahead, "+.3f"))
    whole = {row["cluster"]: float(not row["fault"]) for row in picked(measured, options="partition=none")}
    others = [found for name, found in whole.items() if name != M3]
    if others:
        text, shown = "without a partition only M3 has an answer", f"{sum(others):g} of {len(others)} others, too"
        yield judged("Figure 6", text, near(0.0, 0.0), sum(others), paper="no other", ours=shown)
    yield from _costs(measured)


def _costs(measured: Sequence[Row]) -> Iterator[Claim]:
    """What the partition loses and how long it takes."""
    own = [row for row in answered(measured) if row["options"] == "partition=multi-stage"]
    lost = {row["cluster"]: float(row["lost"]) for row in own}
    if not own:
        return
    text = f"`multi-stage` loses less than {MOST_LOST:.0%} of the affinity"
    yield judged("§V-B", text, below(MOST_LOST), lost, paper="below 12 %", ours=_each(lost, ".1%"))
    if M3 in lost:
        text = "affinity that `multi-stage` loses on M3"
        yield judged("Supplement", text, level(LOST[M3]), lost[M3], paper=f"{LOST[M3]:.2%}", ours=f"{lost[M3]:.2%}")
    share = {row["cluster"]: float(row["partition_seconds"]) / float(row["wall"]) for row in own}
    text = f"`multi-stage` takes less than {MOST_TIME:.0%} of the time"
    yield judged("§V-B", text, below(MOST_TIME), share, paper="below 10 %", ours=_each(share, ".1%"))


def by_option(measured: Sequence[Row], name: str) -> dict[str, dict[str, float]]:
    """Cluster -> value of an option -> gained affinity; without those that have no answer."""
    found: dict[str, dict[str, float]] = {}
    for row in answered(measured):
        value = row["options"].removeprefix(f"{name}=")
        found.setdefault(row["cluster"], {})[value] = float(row["affinity"])
    return found


def masters(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 7."""
    table = {name: of for name, of in by_option(measured, "ratio").items() if "1" in of}
    if not table:
        return
    behind = {name: max(of.values()) - of["1"] for name, of in table.items()}
    text = f"45 ln^0.66 N masters are close to the best, within {CLOSE:g}"
    yield judged("Figure 7", text, at_most(CLOSE), behind, paper="close", ours=_each(behind, ".3f"))
    most = {name: max(of, key=float) for name, of in table.items()}
    held = {
        name: float(picked(measured, cluster=name, options=f"ratio={most[name]}")[0]["masters_affinity"])
        for name in table
        if most[name] != "1"
    }
    if held:
        text = f"with more masters their affinity approaches 1: at least {NEARLY_ALL:g}"
        yield judged("Figure 7", text, at_least(NEARLY_ALL), held, paper="1.0", ours=_each(held, ".3f"))
    change = {name: of[most[name]] - of["1"] for name, of in table.items() if most[name] != "1"}
    large = {name: value for name, value in change.items() if name in LARGE}
    if large:
        text = "on large clusters still more masters gain less"
        yield judged("Figure 7", text, below(), large, ours=_each(large, "+.3f"))
    small = {name: value for name, value in change.items() if name not in LARGE}
    if small:
        text = f"on smaller clusters still more masters change little, within {CLOSE:g}"
        yield judged("Figure 7", text, near(0.0, CLOSE), small, ours=_each(small, "+.3f"))


def selection(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 8."""
    table = by_option(measured, "select")
    selectors = list(dict.fromkeys(value for of in table.values() for value in of))
    for selector in selectors:
        behind = {name: max(of.values()) - of[selector] for name, of in table.items() if selector in of}
        if selector == "gcn":
            text = f"`gcn` is the best on all clusters, or within {SAME:g}"
            yield judged("Figure 8", text, at_most(SAME), behind, paper="on all", ours=_each(behind, ".3f"))
        else:
            text, most = f"`{selector}` is not the best on all clusters", max(behind.values())
            yield judged("Figure 8", text, above(SAME), most, paper="not on all", ours=f"{most:.3f} behind at most")
    for selector, names in (("heuristic", LARGE), ("mlp", ("rasa-m1", M3))):
        behind = {name: max(table[name].values()) - table[name][selector] for name in names if selector in table.get(name, {})}
        if behind:
            text = f"`{selector}` misses the best on {' and '.join(names)}"
            yield judged("Figure 8", text, above(SAME), behind, ours=_each(behind, ".3f"))


def clusters(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 9, and what is moved."""
    names = list(dict.fromkeys(row["cluster"] for row in measured))
    found = {(n, m): affinity(measured, cluster=n, method=m) for n in names for m in ("rasa", *BASELINES)}
    for other, paper in OVER.items():
        gains = {n: mine - theirs for n in names if (mine := found[n, "rasa"]) and (theirs := found[n, other]) is not None}
        text = f"`rasa` is above `{other}`, points"
        yield judged("Figure 9", text, about(paper), gains, paper=f"{paper:.2%}", ours=_over(gains))
    times = {n: mine / start for n in names if (mine := found[n, "rasa"]) and (start := found[n, "original"])}
    shown = f"{sum(times.values()) / len(times):.1f} ({min(times.values()):.1f} to {max(times.values()):.1f})" if times else None
    text = "`rasa` gains more than 13.83 times what `original` has"
    yield judged("Figure 9", text, at_least(OVER_ORIGINAL, neutral=1.0), times, paper=f"more than {OVER_ORIGINAL}", ours=shown)
    ahead = {}
    for name in names:
        theirs = [value for other in BASELINES if (value := found[name, other]) is not None]
        if theirs and (mine := found[name, "rasa"]):
            ahead[name] = mine - max(theirs)
    yield judged("Figure 9", "`rasa` is best on every cluster", above(), ahead, ours=_each(ahead, "+.3f") or None)
    moved = {row["cluster"]: float(row["moved"]) for row in answered(picked(measured, method="rasa"))}
    text = f"less than {PER_RUN:.0%} of the containers move in one execution"
    yield judged("§III-B", text, below(PER_RUN), moved, paper="below 5 %", ours=_each(moved, ".1%") or None)


def _over(gains: Mapping[str, float]) -> str | None:
    if not gains:
        return None
    return f"{percent(sum(gains.values()) / len(gains))} ({percent(min(gains.values()))} to {percent(max(gains.values()))})"


def over_time(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 10."""
    for name in dict.fromkeys(row["cluster"] for row in measured):
        mine = answered(picked(measured, cluster=name))
        seconds = sorted({row["seconds"] for row in mine}, key=float)
        found = {m: {s: affinity(mine, method=m, seconds=s) for s in seconds} for m in ("rasa", "applsci19", "pop")}
        for other in ("applsci19", "pop"):
            ahead = {f"{s} s": a - b for s in seconds if (a := found["rasa"][s]) and (b := found[other][s]) is not None}
            text, shown = f"{name}: `rasa` is above `{other}` at every time", _each(ahead, "+.3f") or None
            yield judged("Figure 10", text, above(), ahead, ours=shown)
        for method in ("rasa", "pop"):
            curve = {s: value for s in seconds if (value := found[method][s]) is not None}
            if len(curve) > 1:
                first, *_, last = curve
                text = f"{name}: more time adds little to `{method}`, at most {2 * CLOSE:g}"
                shown = f"{curve[first]:.4f} after {first} s, {curve[last]:.4f} after {last} s"
                yield judged("Figure 10", text, at_most(2 * CLOSE), curve[last] - curve[first], paper="little", ours=shown)


PARTS: Mapping[str, Callable[[Sequence[Row]], Iterator[Claim]]] = {
    "powerlaw": fits,
    "partitions": partitions,
    "masters": masters,
    "selection": selection,
    "clusters": clusters,
    "time": over_time,
}
