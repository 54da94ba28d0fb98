"""What [Cradle] says of many machines, of fewer machines and of run times, for each source of requests."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log
from statistics import mean

from experiments.cradle.cells import GROWTH, GROWTH_MACHINES, LOADS, MACHINES
from experiments.cradle.settings import GENERATED
from experiments.cradle.tables import fewest, ratios
from experiments.results import Row, picked
from experiments.verdicts import TOLERANCE, Claim, about, above, at_least, at_most, judged, percent

REDUCED_AT = "2"  # load at which the paper says that the infrastructure can be reduced
LOW, HIGH = 3.0, 12.0  # loads of Figure 2
STEEPEST = 1.2  # n log n is n^1.08 over the sizes that are measured


def machine_claims(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    """Figure 2: the ratio with few machines and with many."""
    found = _ratio_by_size(measured, trace)
    repeated = {row["repeated"] for row in picked(measured, part=MACHINES, trace=trace) if row.get("repeated")}
    scale = "Figure 2 with requests drawn more than once where the source has too few" if "yes" in repeated else ""
    claims = [_ahead(found), _stays(found), _higher(found)]
    yield from (replace(claim, scale=scale) for claim in claims)


def _ratio_by_size(measured: Sequence[Row], trace: str) -> dict[tuple[float, int], float]:
    """(load, machines) -> the ratio, the mean over seeds."""
    found: dict[tuple[float, int], list[float]] = {}
    for key, ratio in ratios(measured, "cradle+", "others", part=MACHINES, trace=trace).items():
        found.setdefault((float(key[2]), int(key[3])), []).append(ratio)
    return {key: mean(values) for key, values in sorted(found.items())}


def _ahead(found: dict[tuple[float, int], float]) -> Claim:
    more = {f"load {load:g}, {size} machines": ratio - 1 for (load, size), ratio in found.items()}
    sizes = sorted({size for _, size in found})
    shown = f"ratio {min(found.values()):.2f} to {max(found.values()):.2f}, with {', '.join(map(str, sizes))}" if found else None
    return judged("§V, Figure 2", "Cradle+ is ahead with every number of machines", above(), more, paper="to 1,000", ours=shown)


def _stays(found: dict[tuple[float, int], float]) -> Claim:
    sizes = [size for at, size in found if at == HIGH]
    kept = shown = None
    if len(sizes) > 1:
        first, last = found[HIGH, sizes[0]], found[HIGH, sizes[-1]]
        kept, shown = last / first, f"{first:.2f} at {sizes[0]}, {last:.2f} at {sizes[-1]:,}"
    text = f"the ratio stays with many machines (load {HIGH:g})"
    return judged("§V, Figure 2", text, at_least(1 - TOLERANCE), kept, paper="remains high", ours=shown)


def _higher(found: dict[tuple[float, int], float]) -> Claim:
    both = {f"{size} machines": found[HIGH, size] - found[LOW, size] for at, size in found if at == LOW and (HIGH, size) in found}
    text, shown = f"the ratio is higher at load {HIGH:g} than at load {LOW:g}", f"by {mean(both.values()):.2f}" if both else None
    return judged("§V, Figure 2", text, above(), both, ours=shown)


def fewest_claims(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    """How many machines Cradle+ needs to serve as many as the others."""
    found = {key: one for key, one in fewest(measured).items() if key[0] == LOADS and key[1] == trace}
    fewer = {key[4]: 1 - one.machines for key, one in found.items() if key[2] == REDUCED_AT}
    if fewer:
        text = "at load 2, Cradle+ serves as many on about 10 % fewer machines"
        yield judged("§V", text, about(0.1), fewer, paper="about 10 %")
    less = {f"load {key[2]}, seed {key[4]}": 1 - one.work for key, one in found.items()}
    if less:
        text, shown = "with as many requests served, Cradle+ uses fewer resources", f"{percent(mean(less.values()))} less"
        yield judged("§V, Figure 6", text, above(), less, ours=shown)


def growth_claim(measured: Sequence[Row], trace: str) -> Iterator[Claim]:
    """O(n log n): the exponent of the CPU seconds over n, between the fewest and the most requests."""
    seconds: dict[int, list[float]] = {}
    for row in picked(measured, part=GROWTH, trace=trace):
        seconds.setdefault(int(row["n"]), []).append(float(row["cpu"]))
    few, many = min(seconds, default=0), max(seconds, default=0)
    if trace != GENERATED:
        return
    exponent = shown = None
    if few != many and mean(seconds[few]):
        exponent = log(mean(seconds[many]) / mean(seconds[few])) / log(many / few)
        shown = f"n^{exponent:.2f} from {few:,} to {many:,} requests"
    text = f"Cradle takes O(n log n): no more than n^{STEEPEST:g} on {GROWTH_MACHINES} machines"
    yield judged("§IV-A", text, at_most(STEEPEST), exponent, paper="n log n", ours=shown)
