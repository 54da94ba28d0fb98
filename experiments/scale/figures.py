"""The pictures of docs/scale.md."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10

from experiments.curves import Axis, Point, chart
from experiments.results import Row
from experiments.scale.laws import STAGES, TOTALS, Quantity, means_of
from experiments.scale.predict import Prediction

TIMES = ("load", "search whole", "search in parts", "order", "drop", "explain", "check")
MEMORY = ("memory whole", "memory in parts", "sent", "file")


def pictures(laws: Sequence[Row], fleet: Sequence[Prediction], parts: Sequence[Prediction]) -> dict[str, str]:
    """Each file and its content; only those that there are rows for."""
    made = {}
    if laws:
        made["scale-time.svg"] = _grown(
            "How long the stages of a plan take", "wall seconds", {STAGES[name].name: STAGES[name] for name in TIMES}, laws
        )
        made["scale-memory.svg"] = _grown(
            "How much memory and how many bytes a plan takes", "MB", {TOTALS[name].name: TOTALS[name] for name in MEMORY}, laws
        )
    if fleet:
        made["scale-fleet.svg"] = _predicted("10,000,000 containers in 100 clusters, a job for each cluster", fleet)
    if parts:
        made["scale-parts.svg"] = _predicted("One cluster of 10,000,000 containers, in parts", parts)
    return made


def _grown(title: str, unit: str, quantities: Mapping[str, Quantity], laws: Sequence[Row]) -> str:
    curves = {name: means_of(quantity, laws) for name, quantity in quantities.items()}
    curves = {name: points for name, points in curves.items() if points}
    caption = "measured: clusters like M2, 50 iterations for each container; logarithmic scales"
    return chart(title, caption, _axis("containers", curves, 0), _axis(unit, curves, 1), curves)


def _predicted(title: str, found: Sequence[Prediction]) -> str:
    curves = {
        "nothing fails": [(float(each.workers), each.seconds) for each in found],
        "failures and stragglers": [(float(each.workers), each.disturbed) for each in found],
        "the time of one worker, divided by workers": [(float(each.workers), found[0].seconds / each.workers) for each in found],
    }
    caption = "simulated from measured jobs: seconds until all is planned; logarithmic scales"
    return chart(title, caption, _axis("workers", curves, 0), _axis("seconds", curves, 1), curves)


def _axis(name: str, curves: Mapping[str, Sequence[Point]], side: int) -> Axis:
    """Whole powers of ten around all points."""
    values = [point[side] for points in curves.values() for point in points]
    least, most = 10.0 ** floor(log10(min(values)) + 1e-9), 10.0 ** ceil(log10(max(values)) - 1e-9)
    return Axis(least=least, most=most if most > least else 10 * least, name=name, logarithmic=True)
