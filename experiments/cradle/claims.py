"""What [Cradle] says of Cradle+ over the load beside what we measured, for each source of requests.

Ratios are taken in each instance (a source, a load, a seed) against the better of the two baselines, then averaged over seeds.
Where the paper says that Cradle+ serves, say, 10 % more, it may mean percent of what others serve or points of all requests: its
measure of performance is a percentage itself. Both readings are judged.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import mean

from bayplan.words import count
from experiments.cradle.cells import BOUND, LOADS
from experiments.cradle.scale_claims import fewest_claims, growth_claim, machine_claims
from experiments.cradle.settings import FITTED, GENERATED, GOOGLE, SEMI_REAL
from experiments.cradle.tables import BASELINES, by_instance, by_load, complete, ratios, served_by, traces_of
from experiments.results import Row, picked, rows
from experiments.verdicts import Claim, about, above, at_least, at_most, below, between, judged, level, near, percent, spanning

HIGH, LOW, FULL = 12.0, 2.0, 1.0  # loads that the paper speaks of
RANGE = (0.60, 0.70)  # section I: shares served of which it says how much more Cradle+ serves
WIDE = (1.0, 3.75)  # loads of Figure 5
STEP = 0.005  # of a ratio: a smaller fall from one load to the next is none
SIMILAR = 0.1  # of a ratio of 1
ALMOST_ALL = 0.9
JUST_BELOW_HALF = 0.45, 0.05  # 40 to 50 %
RATIO = 12.0  # Theorem IV.6
MUCH_NEARER = RATIO / 2
PAGE = "verbs/schedule.md"
ABOUT = {
    GOOGLE: "first 94 minutes of the paper's 29 days",
    SEMI_REAL: "semi-real: jobs of the paper's 29 days, demands drawn from tasks of 94 minutes",
    GENERATED: "synthetic: drawn with the shapes of Google's tasks",
    FITTED: "synthetic: drawn, fitted to the paper's shares at load 12",
}


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """Every claim, for every source of cells.csv."""
    return all_claims(complete(rows(folder / "cells.csv")))


def all_claims(measured: Sequence[Row]) -> list[Claim]:
    """Every claim that there are rows for."""
    found = [claim for trace in traces_of(measured) for claim in claims(measured, trace)]
    return [*found, *_by_load_alone(measured)]


def claims(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    """All that can be judged of what was measured of a source."""
    scale = _scale(measured, trace)
    for claim in _judged(measured, trace):
        yield replace(claim, text=f"{trace}: {claim.text}", scale="; ".join(filter(None, (scale, claim.scale))), page=PAGE)


def _scale(measured: Sequence[Row], trace: str) -> str:
    mine = picked(measured, part=LOADS, trace=trace)
    seeds, n = len({row["seed"] for row in mine}), max((int(row["n"]) for row in mine), default=0)
    return f"{ABOUT.get(trace, 'not the trace of the paper')}; {n:,} requests, {count(seeds, 'seed')}"


def _judged(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    loads = sorted(by_load(measured, trace, "cradle+", "served"))
    if HIGH in loads:
        yield from _at_twelve(measured, trace)
    if LOW in loads:
        yield from _at_two(measured, trace)
    if FULL in loads:
        yield from _at_one(measured, trace)
    yield from _over_loads(measured, trace, loads)
    added = {" ".join(key): ratio - 1 for key, ratio in ratios(measured, "cradle+", "cradle", part=LOADS, trace=trace).items()}
    shown = f"{percent(mean(added.values()))} ({_span(added)})" if added else "-"
    yield judged("§I", "best effort adds 2 to 5 % to those accepted", spanning(0.02, 0.05), added, paper="2 to 5 %", ours=shown)
    yield from _bound(measured, trace)
    yield from _balance(measured, trace)
    yield from machine_claims(measured, trace)
    yield from fewest_claims(measured, trace)
    yield from growth_claim(measured, trace)


def _more(measured: Sequence[Row], trace: str, load: float) -> dict[str, float]:
    """Seed -> by how much Cradle+ serves more than the better baseline."""
    found = ratios(measured, "cradle+", "others", part=LOADS, trace=trace, load=f"{load:g}")
    return {key[4]: ratio - 1 for key, ratio in found.items()}


def _points(measured: Sequence[Row], trace: str, load: float) -> dict[str, float]:
    """Seed -> the same in shares of all requests."""
    mine, others = (served_by(measured, method, part=LOADS, trace=trace, load=f"{load:g}") for method in ("cradle+", "others"))
    return {key[4]: mine[key] - others[key] for key in mine if key in others}


def _mean_over(by_load: Mapping[float, Mapping[str, float]]) -> dict[str, float]:
    """'load 3' -> the mean over seeds."""
    return {f"load {load:g}": mean(by_seed.values()) for load, by_seed in by_load.items() if by_seed}


def _at_twelve(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    more = _more(measured, trace, HIGH)
    by_seed = {seed: value + 1 for seed, value in more.items()}
    text, shown = "at load 12, Cradle+ serves twice as many as the others", f"{mean(by_seed.values()):.2f}" if by_seed else None
    yield judged("§V, Figure 3", text, about(2.0, neutral=1.0), by_seed, paper="2", ours=shown)
    yield judged("§V", "at load 12, Cradle+ serves more than 100 % more", at_least(1.0, neutral=0.0), more, paper="over 100 %")
    served = {method: by_load(measured, trace, method, "served")[HIGH] for method in ("cradle+", *BASELINES)}
    used = {method: by_load(measured, trace, method, "used")[HIGH] for method in ("cradle+", *BASELINES)}
    mine, others = served["cradle+"], max(served[method] for method in BASELINES)
    yield judged("§I", "at load 12, Cradle+ serves just below half", near(*JUST_BELOW_HALF), mine, paper="just below 50 %")
    yield judged("§I", "at load 12, the others serve a quarter", level(0.25), others, paper="25 %")
    yield judged("§V, Figure 6", "at load 12, Cradle+ uses half of the resources", level(0.5), used["cradle+"], paper="half")
    best = max(served[method] / used[method] for method in BASELINES)
    ratio = served["cradle+"] / used["cradle+"] / best
    text = "at load 12, Cradle+ serves twice as many per resource used"
    yield judged("§V, Figure 6", text, about(2.0, neutral=1.0), ratio, paper="2", ours=f"{ratio:.2f}")


def _at_two(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    text = "at load 2, Cradle+ serves about 10 % more than others"
    yield judged("§V, Figure 4", text, about(0.1), _more(measured, trace, LOW), paper="10 %")
    text, points = "at load 2, Cradle+ serves about 10 % more, in points", _points(measured, trace, LOW)
    yield judged("§V, Figure 4", text, about(0.1), points, paper="10 points", ours=_in_points(points))


def _in_points(values: Mapping[str, float]) -> str | None:
    return f"{100 * mean(values.values()):.1f} points" if values else None


def _at_one(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    more = {seed: value + 1 for seed, value in _more(measured, trace, FULL).items()}
    text, shown = "at load 1, all algorithms serve similarly many", f"ratio {mean(more.values()):.2f}" if more else None
    yield judged("§V, Figure 5", text, near(1.0, SIMILAR), mean(more.values()) if more else None, ours=shown)
    served = by_load(measured, trace, "cradle+", "served")[FULL]
    text = f"at load 1, almost all can be served (Cradle+: at least {ALMOST_ALL:.0%})"
    yield judged("§V, Figure 3", text, at_least(ALMOST_ALL), served, paper="almost all")


def _over_loads(measured: Sequence[Row], trace: str, loads: Sequence[float]) -> Iterator[Claim]:
    more = _mean_over({load: _more(measured, trace, load) for load in loads})
    if not more:
        return
    span = _span(more)
    yield judged("§V, Figure 4", "Cradle+ serves more than the others from load 1 on", above(), more, ours=span)
    text = "Cradle+ is 10 to 50 % ahead, depending on the load"
    yield judged("§I", text, spanning(0.1, 0.5), more, paper="10 to 50 %", ours=f"{percent(mean(more.values()))} ({span})")
    most = max(more.values()) + 1
    yield judged("§I", "Cradle+ serves up to twice as many", about(2.0, neutral=1.0), most, paper="2", ours=f"{most:.2f}")
    yield from _where_most_are_served(measured, trace, loads)
    if len(loads) > 1:
        yield from _curves(measured, trace, loads, [value + 1 for value in more.values()])


def _where_most_are_served(measured: Sequence[Row], trace: str, loads: Sequence[float]) -> Iterator[Claim]:
    served = by_load(measured, trace, "cradle+", "served")
    inside = [load for load in loads if RANGE[0] <= served[load] <= RANGE[1]]
    more = _mean_over({load: _more(measured, trace, load) for load in inside})
    if not more:
        return
    text, ends = "at 60 to 70 % served, Cradle+ is 10 to 20 % ahead", _ends(list(more))
    yield judged("§I", text, between(0.1, 0.2), more, paper="10 to 20 %", ours=f"{_span(more)} ({ends})")
    points = _mean_over({load: _points(measured, trace, load) for load in inside})
    stated, shown = between(0.1, 0.2), _in_points(points)
    yield judged("§I", f"{text}, in points", stated, points, paper="10 to 20 points", ours=shown)


def _span(values: Mapping[str, float]) -> str:
    """'2.0 to 5.0 %'."""
    return f"{100 * min(values.values()):.1f} to {percent(max(values.values()))}"


def _ends(names: Sequence[str]) -> str:
    """'load 3 to 4'."""
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1].removeprefix('load ')}"


def _curves(measured: Sequence[Row], trace: str, loads: Sequence[float], curve: Sequence[float]) -> Iterator[Claim]:
    """How ratio, resources and served shares change with the load."""
    steps = {f"load {load:g}": after - before for load, (before, after) in zip(loads[1:], pairwise(curve), strict=False)}
    span = f"{curve[0]:.2f} to {curve[-1]:.2f}"
    yield judged("§V, Figure 3", "the ratio grows with the load", at_least(-STEP), steps, paper="grows", ours=span)
    used, wide, served = (
        {method: by_load(measured, trace, method, column) for method in ("cradle+", *BASELINES)}
        for column in ("used", "width", "served")
    )
    less = {f"load {x:g}": 1 - used["cradle+"][x] / min(used[b][x] for b in BASELINES) for x in loads if x > FULL}
    yield judged("§V, Figure 6", "above load 1, Cradle+ uses less than the others do", above(), less)
    narrow = {f"load {x:g}": wide["cradle+"][x] / min(wide[b][x] for b in BASELINES) - 1 for x in wide["cradle+"] if x > FULL}
    if narrow:
        text = "above load 1, Cradle+ serves narrower requests than others"
        yield judged("§V", text, below(), narrow, ours=f"{100 * mean(narrow.values()):+.1f} % wide")
    yield from _figure_5(served, loads)


def _figure_5(served: Mapping[str, Mapping[float, float]], loads: Sequence[float]) -> Iterator[Claim]:
    first, last = (min(loads, key=lambda load, end=end: abs(load - end)) for end in WIDE)  # type: ignore[misc]
    fall = {method: share[first] - share[last] for method, share in served.items()}
    milder = min(fall[method] for method in BASELINES) - fall["cradle+"]
    text = f"from load {first:g} to {last:g}, Cradle+ falls less than the others"
    yield judged("§V, Figure 5", text, above(), milder, ours=f"by {100 * milder:.1f} points less")
    if last == WIDE[1]:
        text = f"at load {last:g}, Cradle+ serves 50 to 80 %"
        yield judged("§V, Figure 5", text, near(0.65, 0.15), served["cradle+"][last], paper="50 to 80 %")


def _bound(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    value = by_instance(measured, "cradle", "value", part=LOADS, trace=trace)
    bound = by_instance(measured, BOUND, "bound", part=LOADS, trace=trace)
    over = {" ".join(key): bound[key] / value[key] for key in bound if value.get(key, 0.0) > 0}
    if over:
        text = f"Cradle is much nearer to the best than the proven {RATIO:g}: at most {MUCH_NEARER:g}"
        shown = f"at most {max(over.values()):.2f} from a proven bound"
        yield judged("§I", text, at_most(MUCH_NEARER), over, paper="12", ours=shown)


def _balance(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    found = by_load(measured, trace, "cradle+", "balance")
    if found:
        ratio = mean(found.values())
        text = "cpu and memory are requested in the same magnitude (up to twice)"
        yield judged("§V", text, near(1.25, 0.75), ratio, paper="900 to 700", ours=f"ratio {ratio:.2f}")


def _by_load_alone(measured: Sequence[Row]) -> Iterator[Claim]:
    """The one claim that compares sources."""
    shares = {trace: by_load(measured, trace, "cradle+", "served").get(HIGH) for trace in traces_of(measured)}
    known = {trace: share for trace, share in shares.items() if share is not None}
    if len(known) > 1:
        least, most = (end(known, key=lambda trace: known[trace]) for end in (min, max))
        shown = f"{100 * known[least]:.1f} to {percent(known[most])}"
        text = "all sources: the load alone does not determine what Cradle+ serves (load 12)"
        claim = judged("§V", text, above(), known[most] - known[least], ours=shown)
        yield replace(claim, scale=count(len(known), "source"), page=PAGE)
