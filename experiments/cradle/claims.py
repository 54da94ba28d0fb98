"""What [Cradle] says of Cradle+ beside what we measured, for each trace.

Ratios are taken in each instance (a trace, a load, a seed) against the better of the two baselines, then averaged over seeds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import mean

from bayplan.words import count
from experiments.cradle.cells import BOUND, LOADS, MACHINES
from experiments.cradle.settings import MADE
from experiments.cradle.tables import BASELINES, by_instance, by_load, ratios, traces_of
from experiments.results import Row, picked, rows
from experiments.verdicts import TOLERANCE, Claim, about, above, at_least, at_most, between, judged, level, near, percent

HIGH, LOW, FULL = 12.0, 2.0, 1.0  # loads that the paper speaks of
RANGE = (0.60, 0.70)  # section I: shares served of which it says how much more Cradle+ serves
WIDE = (1.0, 3.75)  # loads of Figure 5
STEP = 0.005  # of a ratio: a smaller fall from one load to the next is none
SIMILAR = 0.1  # of a ratio of 1
ALMOST_ALL = 0.9
RATIO = 12.0  # Theorem IV.6
PAGE = "verbs/schedule.md"
ABOUT = {"google2011": "first 94 minutes of the paper's 29 days", MADE: "drawn requests"}


def claims_in(folder: Path, *, quick: bool = False) -> list[Claim]:
    """Every claim, for every trace of cells.csv."""
    measured = rows(folder / "cells.csv")
    return [claim for trace in traces_of(measured) for claim in claims(measured, trace)]


def claims(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    """All that can be judged of what was measured of a trace."""
    scale = _scale(measured, trace)
    for claim in _judged(measured, trace):
        yield replace(claim, text=f"{trace}: {claim.text}", scale=scale, page=PAGE)


def _scale(measured: Sequence[Row], trace: str) -> str:
    mine = picked(measured, part=LOADS, trace=trace)
    seeds, n = len({row["seed"] for row in mine}), max((int(row["n"]) for row in mine), default=0)
    return f"{ABOUT.get(trace, 'not the trace of the paper')}; {n:,} requests, {count(seeds, 'seed')}"


def _judged(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    loads = sorted(by_load(measured, trace, "cradle+", "served"))
    if HIGH in loads:
        yield from _at_twelve(measured, trace)
    if LOW in loads:
        more = _more(measured, trace, LOW)
        yield judged("§V, Figure 4", "at load 2, Cradle+ serves about 10 % more than others", about(0.1), more, paper="10 %")
    if FULL in loads:
        yield from _at_one(measured, trace)
    yield from _over_loads(measured, trace, loads)
    added = {" ".join(key): ratio - 1 for key, ratio in ratios(measured, "cradle+", "cradle", part=LOADS, trace=trace).items()}
    shown = f"{percent(mean(added.values()))} ({_span(added)})" if added else "-"
    yield judged("§I", "best effort adds 2 to 5 % to those accepted", between(0.02, 0.05), added, paper="2 to 5 %", ours=shown)
    yield from _bound(measured, trace)
    yield from _scales(measured, trace)


def _more(measured: Sequence[Row], trace: str, load: float) -> dict[str, float]:
    """Seed -> by how much Cradle+ serves more than the better baseline."""
    found = ratios(measured, "cradle+", "others", part=LOADS, trace=trace, load=f"{load:g}")
    return {key[4]: ratio - 1 for key, ratio in found.items()}


def _mean_more(measured: Sequence[Row], trace: str, loads: Sequence[float]) -> dict[str, float]:
    """'load 3' -> the same, the mean over seeds."""
    found = {load: _more(measured, trace, load) for load in loads}
    return {f"load {load:g}": mean(by_seed.values()) for load, by_seed in found.items() if by_seed}


def _at_twelve(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    by_seed = {seed: more + 1 for seed, more in _more(measured, trace, HIGH).items()}
    text, shown = "at load 12, Cradle+ serves twice as many as the others", f"{mean(by_seed.values()):.2f}"
    yield judged("§V, Figure 3", text, about(2.0, neutral=1.0), by_seed, paper="2", ours=shown)
    served = {method: by_load(measured, trace, method, "served")[HIGH] for method in ("cradle+", *BASELINES)}
    mine, others = served["cradle+"], max(served[method] for method in BASELINES)
    yield judged("§I", "at load 12, Cradle+ serves just below half", level(0.5), mine, paper="just below 50 %")
    yield judged("§I", "at load 12, the others serve a quarter", level(0.25), others, paper="25 %")
    used = by_load(measured, trace, "cradle+", "used")[HIGH]
    yield judged("§V, Figure 6", "at load 12, Cradle+ uses half of the resources", level(0.5), used, paper="half")


def _at_one(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    more = {seed: value + 1 for seed, value in _more(measured, trace, FULL).items()}
    text, shown = "at load 1, all algorithms serve similarly many", f"ratio {mean(more.values()):.2f}" if more else None
    yield judged("§V, Figure 5", text, near(1.0, SIMILAR), mean(more.values()) if more else None, ours=shown)
    served = by_load(measured, trace, "cradle+", "served")[FULL]
    text = f"at load 1, almost all requests can be served (Cradle+: at least {ALMOST_ALL:.0%})"
    yield judged("§V, Figure 3", text, at_least(ALMOST_ALL), served, paper="almost all")


def _over_loads(measured: Sequence[Row], trace: str, loads: Sequence[float]) -> Iterator[Claim]:
    more = _mean_more(measured, trace, loads)
    if not more:
        return
    span = _span(more)
    yield judged("§V, Figure 4", "Cradle+ serves more than the others from load 1 on", above(), more, ours=span)
    text = "Cradle+ is 10 to 50 % ahead, depending on the load"
    yield judged("§I", text, between(0.1, 0.5), more, paper="10 to 50 %", ours=f"{percent(mean(more.values()))} ({span})")
    served = by_load(measured, trace, "cradle+", "served")
    inside = _mean_more(measured, trace, [load for load in loads if RANGE[0] <= served[load] <= RANGE[1]])
    if inside:
        text = "where Cradle+ serves 60 to 70 %, it is 10 to 20 % ahead"
        span = f"{_span(inside)} ({_ends(list(inside))})"
        yield judged("§I", text, between(0.1, 0.2), inside, paper="10 to 20 %", ours=span)
    if len(loads) > 1:
        yield from _curves(measured, trace, loads, [value + 1 for value in more.values()])


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
    used = {method: by_load(measured, trace, method, "used") for method in ("cradle+", *BASELINES)}
    less = {f"load {x:g}": 1 - used["cradle+"][x] / min(used[b][x] for b in BASELINES) for x in loads if x > FULL}
    yield judged("§V, Figure 6", "above load 1, Cradle+ uses less than the others do", above(), less)
    first, last = (min(loads, key=lambda load, end=end: abs(load - end)) for end in WIDE)  # type: ignore[misc]
    served = {method: by_load(measured, trace, method, "served") for method in ("cradle+", *BASELINES)}
    fall = {method: share[first] - share[last] for method, share in served.items()}
    milder = min(fall[method] for method in BASELINES) - fall["cradle+"]
    text = f"what Cradle+ serves falls less than the others' from load {first:g} to {last:g}"
    yield judged("§V, Figure 5", text, above(), milder, ours=f"by {100 * milder:.1f} points less")


def _bound(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    value = by_instance(measured, "cradle", "value", part=LOADS, trace=trace)
    bound = by_instance(measured, BOUND, "bound", part=LOADS, trace=trace)
    over = {" ".join(key): bound[key] / value[key] for key in bound if value.get(key, 0.0) > 0}
    if over:
        text = f"Cradle is much nearer to the best than the proven {RATIO:g}"
        shown = f"at most {max(over.values()):.2f} from a proven bound"
        yield judged("§I", text, at_most(RATIO), over, paper="12", ours=shown)


def _scales(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    """Figure 2: the ratio with few machines and with many."""
    found: dict[tuple[str, int], list[float]] = {}
    for key, ratio in ratios(measured, "cradle+", "others", part=MACHINES, trace=trace).items():
        found.setdefault((key[2], int(key[3])), []).append(ratio)
    sizes_at = {load: sorted(size for at, size in found if at == load) for load, _ in found}
    compared = [load for load, sizes in sizes_at.items() if len(sizes) > 1]
    if not compared:
        return
    load = max(compared, key=float)
    sizes = sizes_at[load]
    first, last = mean(found[load, sizes[0]]), mean(found[load, sizes[-1]])
    text = f"the ratio stays with many machines (load {load})"
    shown = f"{first:.2f} at {sizes[0]}, {last:.2f} at up to {sizes[-1]}"
    yield judged("§V, Figure 2", text, at_least(1 - TOLERANCE), last / first, paper="remains high", ours=shown)
