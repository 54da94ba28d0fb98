"""What [Cradle] says, what we measured, and whether that agrees.

Ratios are taken in each instance (a trace, a load, a seed) against the better of the two baselines, then averaged over seeds.
*Reproduced*: the mean is within the stated range, or beyond it in Cradle's favour, for this trace. *In part*: Cradle+ is ahead,
but by less. *Not reproduced*: it is not ahead, or the claim is false.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import mean

from experiments.cradle.cells import LOADS, MACHINES
from experiments.cradle.tables import BASELINES, by_load, ratios, traces_of
from experiments.results import Row, picked, table

FACTOR = 2.0  # section V: "until it gets to 2 when the load is 12"
NEAR = 0.9  # of a stated factor or share counts as reached
HALF, QUARTER = 0.5, 0.25  # section I: "just below 50 %" against 25 % at high load
MORE = (0.10, 0.20)  # section I: "when 60 % - 70 % of the requests are served, Cradle+ serves 10-20 % more"
RANGE = (0.60, 0.70)
ADDED = (0.02, 0.05)  # section I: what the best-effort phase adds
REPRODUCED, IN_PART, NOT = "reproduced", "in part", "not reproduced"
Claim = tuple[str, str, str, str]  # what, paper, ours, verdict


def claim_table(measured: Sequence[Row]) -> list[str]:
    """Every claim, for every trace."""
    found = [claim for trace in traces_of(measured) for claim in claims(measured, trace)]
    return table(["claim", "paper", "ours", "verdict"], found)


def claims(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    """All that can be judged of what was measured of a trace."""
    served = {method: by_load(measured, trace, method, "served") for method in ("cradle", "cradle+", *BASELINES)}
    if 12.0 in served["cradle+"]:
        yield _factor(measured, trace)
        yield from _shares(served, trace)
        yield _resources(measured, trace)
    if 2.0 in served["cradle+"]:
        yield _at_two(measured, trace)
    yield from _in_range(measured, served["cradle+"], trace)
    yield _best_effort(measured, trace)
    if len(served["cradle+"]) > 1:
        yield _grows(measured, trace)
    yield from _scales(measured, trace)


def _mean_ratio(measured: Sequence[Row], trace: str, load: float) -> float:
    return mean(ratios(measured, "cradle+", "others", part=LOADS, trace=trace, load=f"{load:g}").values())


def _factor(measured: Sequence[Row], trace: str) -> Claim:
    ratio = _mean_ratio(measured, trace, 12.0)
    verdict = REPRODUCED if ratio >= NEAR * FACTOR else IN_PART if ratio > 1 else NOT
    return f"{trace}: Cradle+ serves twice as many as the others at load 12", "2", f"{ratio:.2f}", verdict


def _shares(served: dict[str, dict[float, float]], trace: str) -> Iterator[Claim]:
    mine, others = served["cradle+"][12.0], max(served[method][12.0] for method in BASELINES)
    verdict = REPRODUCED if mine >= NEAR * HALF else NOT
    yield f"{trace}: Cradle+ serves just below half at load 12", "just below 50 %", f"{mine:.1%}", verdict
    verdict = REPRODUCED if abs(others - QUARTER) <= (1 - NEAR) / 2 else NOT
    yield f"{trace}: the others serve a quarter at load 12 (within 5 points)", "25 %", f"{others:.1%}", verdict


def _resources(measured: Sequence[Row], trace: str) -> Claim:
    mine = by_load(measured, trace, "cradle+", "used")[12.0]
    others = min(by_load(measured, trace, method, "used")[12.0] for method in BASELINES)
    verdict = REPRODUCED if mine <= HALF / NEAR else IN_PART if mine < others else NOT
    text = f"{trace}: Cradle+ uses half of the resources at load 12, less than the others"
    return text, "half", f"{mine:.1%} (others {others:.1%})", verdict


def _at_two(measured: Sequence[Row], trace: str) -> Claim:
    more = _mean_ratio(measured, trace, 2.0) - 1
    verdict = REPRODUCED if more >= NEAR * MORE[0] else IN_PART if more > 0 else NOT
    return f"{trace}: about 10 % more than the others at load 2", "10 %", f"{more:.1%}", verdict


def _in_range(measured: Sequence[Row], served: dict[float, float], trace: str) -> Iterator[Claim]:
    inside = [load for load, share in served.items() if RANGE[0] <= share <= RANGE[1]]
    if inside:
        more = [_mean_ratio(measured, trace, load) - 1 for load in inside]
        verdict = REPRODUCED if min(more) >= MORE[0] else IN_PART if min(more) > 0 else NOT
        loads = f"loads {min(inside):g} to {max(inside):g}" if len(inside) > 1 else f"load {inside[0]:g}"
        text = f"{trace}: where Cradle+ serves 60 to 70 % ({loads}), it serves 10 to 20 % more"
        yield text, "10 to 20 %", f"{min(more):.1%} to {max(more):.1%}", verdict


def _best_effort(measured: Sequence[Row], trace: str) -> Claim:
    added = [ratio - 1 for ratio in ratios(measured, "cradle+", "cradle", part=LOADS, trace=trace).values()]
    middle = mean(added)
    verdict = REPRODUCED if ADDED[0] <= middle <= ADDED[1] else NOT
    ours = f"{middle:.1%} on average ({min(added):.1%} to {max(added):.1%})"
    return f"{trace}: best effort adds 2 to 5 % to those accepted", "2 to 5 %", ours, verdict


def _grows(measured: Sequence[Row], trace: str) -> Claim:
    loads = sorted({float(row["load"]) for row in picked(measured, part=LOADS, trace=trace, method="cradle+")})
    curve = [_mean_ratio(measured, trace, load) for load in loads]
    rising = sum(b >= a - 0.005 for a, b in pairwise(curve))
    verdict = REPRODUCED if rising == len(curve) - 1 else IN_PART if curve[-1] > curve[0] else NOT
    ours = f"{curve[0]:.2f} to {curve[-1]:.2f}, {rising} of {len(curve) - 1} steps up"
    return f"{trace}: the ratio grows with the load (Figure 3)", "grows", ours, verdict


def _scales(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
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
    verdict = REPRODUCED if last >= NEAR * first else NOT
    text = f"{trace}: the ratio stays when there are many machines (Figure 2, load {load})"
    yield text, "remains high", f"{first:.2f} at {sizes[0]}, {last:.2f} at up to {sizes[-1]} machines", verdict
