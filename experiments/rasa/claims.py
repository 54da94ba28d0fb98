"""What [RASA] says of its experiments (Figures 5 to 10, §III-B) beside what we measured.

A case is a cluster, or a time limit; its value is the median over seeds. Differences of gained affinity are points of the total
affinity. Answers that are late or had unequal CPU are not compared (`tables.comparable`), and the scale of a claim says so.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from statistics import median

from bayplan.words import count
from experiments.rasa.clusters import CLUSTERS, M3
from experiments.rasa.paper import (
    LOST,
    MOST_LOST,
    MOST_TIME,
    OVER,
    OVER_KAHIP,
    OVER_ORIGINAL,
    OVER_RANDOM,
    PER_RUN,
    TIME_SHARE,
)
from experiments.rasa.parts import BASELINES, MINUTE
from experiments.rasa.tables import affinity, answered, comparable, numbers, without_solver
from experiments.results import Row, picked, rows
from experiments.verdicts import Claim, about, above, at_least, at_most, below, judged, level, near, percent

SAME = 0.005  # points of total affinity that make no difference
CLOSE = 0.02  # points from the best that is close to it
NEARLY_ALL = 0.95  # of the affinity: 'approaches 1.0'
LARGE = ("rasa-m2", "rasa-m4")  # of the sizes of M2 and M4
PAGE = "verbs/rasa.md"
SELECTED = ("gcn", "mlp", "heuristic", "cg", "mip")
TWO = ("rasa", "pop")  # whose seconds can be set
ENDING = ("k8s-plus", "applsci19", "k8s-plus-authors", "applsci19-authors")  # end by themselves
NEVER = 1e9  # times as long: a method that does not get there


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """Every claim, from the CSV files of a folder; those without rows are not tested."""
    found = []
    for part, claims in PARTS.items():
        measured = rows(folder / f"{part}.csv")
        found += [replace(claim, scale=_scale(part, measured), page=PAGE) for claim in claims(measured)]
    return found


def _scale(part: str, measured: Sequence[Row]) -> str:
    """'M3 and 3 generated clusters; 60 s, 1 thread, 3 seeds; no solver ran in 4 of 48 answers'."""
    names = {row["cluster"] for row in measured}
    others = len(names - {M3})
    clusters = " and ".join(filter(None, ("M3" * (M3 in names), count(others, "generated cluster") * bool(others))))
    if part == "powerlaw" or not measured:
        return clusters or "not measured"
    times = sorted({float(row["seconds"]) for row in measured})
    span = " to ".join(f"{time:g}" for time in dict.fromkeys((*times[:1], *times[-1:])))
    less = f" (the paper: {MINUTE:g} s)" if times[-1] < MINUTE else ""
    threads = " or ".join(sorted({row["threads"] for row in measured}))
    words = [clusters, f"{span} s{less}, {threads} thread, {_seeds(measured)}", _no_solver(measured), comparable(measured).note]
    return "; ".join(filter(None, words))


def _seeds(measured: Sequence[Row]) -> str:
    """'3 seeds', or '1 to 3 seeds' where some answers have fewer."""
    groups: dict[tuple[str, ...], set[str]] = {}
    for row in measured:
        if row["method"] != "original":
            groups.setdefault((row["cluster"], row["method"], row["options"], row["seconds"]), set()).add(row["seed"])
    least, most = (pick(map(len, groups.values()), default=1) for pick in (min, max))
    return count(most, "seed") if least == most else f"{least} to {count(most, 'seed')}"


def _no_solver(measured: Sequence[Row]) -> str:
    solved = [row for row in answered(measured) if row["by_greedy"]]
    none = sum(map(without_solver, solved))
    return f"no solver ran in {none} of {len(solved)} answers" if none else ""


def fits(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 5. The law of the generated clusters is an input: the verdicts are on M3."""
    squares = {(row["cluster"], row["curve"]): float(row["squares"]) for row in measured}
    names = [name for name, curve in squares if curve == "power law" and (name, "exponential") in squares]
    better = {name: 1 - squares[name, "power law"] / squares[name, "exponential"] for name in names}
    text, shown = "a power law fits affinity better than an exponential, on M3", _each(better, "+.0%")
    yield judged("Figure 5", text, above(), better.get(M3), ours=f"{shown} less error" if shown else None)
    beta = {row["cluster"]: float(row["rate"]) for row in measured if row["curve"] == "power law"}
    yield judged("Assumption 4.1", "beta is above 1, on M3", above(1.0), beta.get(M3), paper="above 1", ours=_each(beta, ".2f"))


def _each(values: Mapping[str, float], form: str) -> str | None:
    """'m1 0.60 M3 0.79': generated clusters without what all of their names begin with."""
    return " ".join(f"{name.removeprefix('rasa-')} {value:{form}}" for name, value in values.items()) or None


def by_option(measured: Sequence[Row], name: str) -> dict[str, dict[str, float]]:
    """Cluster -> value of an option -> gained affinity; of answers that may be compared."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in comparable(measured).rows:
        value = row["options"].removeprefix(f"{name}=")
        found.setdefault(row["cluster"], {}).setdefault(value, []).append(float(row["affinity"]))
    return {cluster: {value: median(some) for value, some in of.items()} for cluster, of in found.items()}


def partitions(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 6 and the supplement."""
    table = by_option(measured, "partition")
    mine = {name: of["multi-stage"] for name, of in table.items() if "multi-stage" in of}
    for other, paper in (("random", OVER_RANDOM), ("min-cut", OVER_KAHIP), ("min-cut-masters", OVER_KAHIP)):
        gains = {name: value - table[name][other] for name, value in mine.items() if other in table[name]}
        text = f"`multi-stage` is above `{other}` ({'KAHIP' if paper == OVER_KAHIP else 'RANDOM-PARTITION'}), points"
        yield judged("Figure 6", text, about(paper), gains, paper=percent(paper))
    rest = {name: [of for other, of in table[name].items() if other != "multi-stage"] for name in mine}
    ahead = {name: value - max(rest[name]) for name, value in mine.items() if rest[name]}
    yield judged("Figure 6", "`multi-stage` is above all other partitioners", above(), ahead, ours=_each(ahead, "+.3f"))
    yield _whole(measured)
    yield from _costs(measured)


def _whole(measured: Sequence[Row]) -> Claim:
    """Has the program without a partition an answer in time, found by a solver?"""
    asked = [row for row in picked(measured, options="partition=none") if row["cluster"] != M3]
    solved = [row for row in comparable(asked).rows if not without_solver(row)]
    clusters = {row["cluster"] for row in asked}
    found = {name: float(any(row["cluster"] == name for row in solved)) for name in sorted(clusters)}
    text, number = "without a partition a solver has an answer in time on M3 only", sum(found.values())
    shown = f"on {number:g} of {len(found)} others, too" if number else f"on none of {len(found)} others"
    return judged("Figure 6", text, near(0.0, 0.0), found, paper="no other", ours=shown if found else None)


def _costs(measured: Sequence[Row]) -> Iterator[Claim]:
    """What the partition loses and how long it takes."""
    own = picked(measured, options="partition=multi-stage")
    names = list(dict.fromkeys(row["cluster"] for row in answered(own)))
    lost = {name: median(numbers(picked(own, cluster=name), "lost")) for name in names}
    real = {name: value for name, value in lost.items() if name == M3}
    text = f"`multi-stage` loses less than {MOST_LOST:.0%} of the affinity, on M3"
    yield judged("§V-B", text, below(MOST_LOST), real, paper="below 12 %", ours=_each(lost, ".1%"))
    text = "affinity that `multi-stage` loses on M3"
    yield judged("Supplement", text, level(LOST[M3]), lost.get(M3), paper=f"{LOST[M3]:.2%}", ours=_each(real, ".2%"))
    share = {name: median(_shares(picked(own, cluster=name))) for name in names}
    text = f"`multi-stage` takes less than {MOST_TIME:.0%} of the time"
    yield judged("§V-B", text, below(MOST_TIME), share, paper="below 10 %", ours=_each(share, ".1%"))
    text, real = "share of the time that `multi-stage` takes on M3", {n: value for n, value in share.items() if n == M3}
    yield judged("Supplement", text, level(TIME_SHARE[M3]), real, paper=f"{TIME_SHARE[M3]:.1%}", ours=_each(real, ".2%"))


def _shares(measured: Sequence[Row]) -> list[float]:
    return [float(row["partition_seconds"]) / float(row["wall"]) for row in answered(measured)]


def masters(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 7."""
    table = {name: of for name, of in by_option(measured, "ratio").items() if "1" in of and len(of) > 1}
    behind = {name: max(of.values()) - of["1"] for name, of in table.items()}
    text = f"45 ln^0.66 N masters are close to the best, within {CLOSE:g}"
    yield judged("Figure 7", text, at_most(CLOSE), behind, paper="close", ours=_each(behind, ".3f"))
    most = {name: max(of, key=float) for name, of in table.items() if float(max(of, key=float)) > 1}
    held = {n: median(numbers(picked(measured, cluster=n, options=f"ratio={r}"), "masters_affinity")) for n, r in most.items()}
    text = f"with more masters their affinity approaches 1: at least {NEARLY_ALL:g}"
    yield judged("Figure 7", text, at_least(NEARLY_ALL), held, paper="1.0", ours=_each(held, ".3f"))
    change = {name: table[name][ratio] - max(table[name].values()) for name, ratio in most.items()}
    large = {name: value for name, value in change.items() if name in LARGE}
    text = f"on large clusters still more masters lose more than {SAME:g} of the peak"
    yield judged("Figure 7", text, below(-SAME), large, ours=_each(large, "+.3f"))
    small = {name: value for name, value in change.items() if name not in LARGE}
    text = f"on smaller clusters still more masters stay near the peak, within {CLOSE:g}"
    yield judged("Figure 7", text, near(0.0, CLOSE), small, ours=_each(small, "+.3f"))


def selection(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 8."""
    table = by_option(measured, "select")
    behind = {s: {n: max(of.values()) - of[s] for n, of in table.items() if s in of and len(of) > 1} for s in SELECTED}
    text = f"`gcn` is the best on all clusters, or within {SAME:g}"
    yield judged("Figure 8", text, at_most(SAME), behind["gcn"], paper="on all", ours=_each(behind["gcn"], ".3f"))
    for selector in SELECTED[1:]:
        text, most = f"`{selector}` is not the best on all clusters", max(behind[selector].values(), default=None)
        shown = None if most is None else f"{most:.3f} behind at most"
        yield judged("Figure 8", text, above(SAME), most, paper="not on all", ours=shown)
    small = ("rasa-m1", M3)
    near_best = {name: value for name, value in behind["heuristic"].items() if name in small}
    text = f"`heuristic` works well on {' and '.join(small)}: within {CLOSE:g} of the best"
    yield judged("Figure 8", text, at_most(CLOSE), near_best, paper="works well", ours=_each(near_best, ".3f"))
    for selector, names in (("heuristic", LARGE), ("mlp", small)):
        there = {name: value for name, value in behind[selector].items() if name in names}
        text = f"`{selector}` misses the best on {' and '.join(names)}"
        yield judged("Figure 8", text, above(SAME), there, ours=_each(there, ".3f"))


def clusters(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 9, and what is moved."""
    some = comparable(measured).rows
    names = list(dict.fromkeys(row["cluster"] for row in some))
    found = {(n, m): affinity(some, cluster=n, method=m) for n in names for m in ("rasa", *BASELINES)}
    for other in (*OVER, "k8s-plus-authors", "applsci19-authors"):
        paper = OVER[other.removesuffix("-authors")]
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
    yield judged("Figure 9", "`rasa` is best on every cluster", above(), ahead, ours=_each(ahead, "+.3f"))


def _over(gains: Mapping[str, float]) -> str | None:
    if not gains:
        return None
    return f"{percent(sum(gains.values()) / len(gains))} ({percent(min(gains.values()))} to {percent(max(gains.values()))})"


def again(measured: Sequence[Row]) -> Iterator[Claim]:
    """§III-B: how much is moved, from the start and from RASA's own answer."""
    for options, words in (("", "from `original`"), ("from=rasa", "from RASA's own answer")):
        mine = answered(picked(measured, method="rasa", options=options))
        names = dict.fromkeys(row["cluster"] for row in mine)
        moved = {name: median(numbers(picked(mine, cluster=name), "moved")) for name in names}
        text = f"less than {PER_RUN:.0%} of the containers move in one execution, {words}"
        yield judged("§III-B", text, below(PER_RUN), moved, paper="below 5 %", ours=_each(moved, ".1%"))


def over_time(measured: Sequence[Row]) -> Iterator[Claim]:
    """Figure 10. Methods that end by themselves count at times at which they have ended."""
    names = list(dict.fromkeys(row["cluster"] for row in measured))
    for name in names if names and not set(names) & set(CLUSTERS) else CLUSTERS:
        mine = comparable(picked(measured, cluster=name)).rows
        seconds = sorted({row["seconds"] for row in picked(mine, method="rasa")}, key=float)
        curve = {m: {s: value for s in seconds if (value := affinity(mine, method=m, seconds=s)) is not None} for m in TWO}
        for other in ("pop", *ENDING):
            theirs = curve["pop"] if other == "pop" else _once_ended(picked(mine, method=other), seconds)
            ahead = {f"{s} s": curve["rasa"][s] - value for s, value in theirs.items() if s in curve["rasa"]}
            text = f"{name}: `rasa` is above `{other}` at every time"
            yield judged("Figure 10", text, above(), ahead, ours=_each(ahead, "+.3f"))
        yield _sooner(name, mine, curve["rasa"])
        for method, values in curve.items():
            first, last = (list(values)[at] for at in (0, -1)) if len(values) > 1 else ("", "")
            text = f"{name}: more time adds little to `{method}`, at most {2 * CLOSE:g}"
            change = values[last] - values[first] if first else None
            shown = f"{values[first]:.4f} after {first} s, {values[last]:.4f} after {last} s" if first else None
            yield judged("Figure 10", text, at_most(2 * CLOSE), change, paper="little", ours=shown)


def _sooner(name: str, mine: Sequence[Row], curve: Mapping[str, float]) -> Claim:
    """The time in which `rasa` gains what the best method that ends by itself gains, over the time of that one."""
    times = {}
    for other in ENDING:
        theirs = picked(mine, method=other)
        if theirs and curve:
            gained, ended = (median(numbers(theirs, column)) for column in ("affinity", "wall"))
            reached = [float(s) for s, value in curve.items() if value >= gained]
            times[other] = min(reached, default=inf) / ended
    shown = ", ".join(f"{_times(value)} `{other}`" for other, value in times.items()) or None
    text = f"{name}: `rasa` gains as much as others in much less time than they take"
    return judged("§I", text, below(1.0), {o: min(value, NEVER) for o, value in times.items()}, paper="much less", ours=shown)


def _times(value: float) -> str:
    """'3.2 times as long as', 'never as much as'."""
    return "never as much as" if value == inf else f"at most {value:.1f} times as long as"


def _once_ended(measured: Sequence[Row], seconds: Sequence[str]) -> dict[str, float]:
    """Seconds -> what a method has gained by then, if it has ended."""
    if not measured:
        return {}
    gained, ended = (median(numbers(measured, column)) for column in ("affinity", "wall"))
    return {s: gained for s in seconds if ended <= float(s)}


PARTS: Mapping[str, Callable[[Sequence[Row]], Iterator[Claim]]] = {
    "powerlaw": fits,
    "partitions": partitions,
    "masters": masters,
    "selection": selection,
    "clusters": clusters,
    "again": again,
    "time": over_time,
}
