"""Figures 2 to 6 of [Cradle], one set per trace."""

from collections.abc import Sequence
from statistics import mean

from experiments.cradle.cells import BOUND, LOADS, MACHINES
from experiments.cradle.settings import METHODS, PAPER
from experiments.cradle.tables import BASELINES, by_load, ratios, traces_of
from experiments.curves import Axis, Point, chart
from experiments.results import Row, picked

LOAD = "load factor (5): what is requested over what there is"


def pictures(measured: Sequence[Row]) -> dict[str, str]:
    """File names and SVG documents."""
    drawn = {}
    for trace in traces_of(picked(measured, part=LOADS)):
        word = trace.replace("_", "-")
        drawn[f"cradle-{word}-served.svg"] = served_figure(measured, trace)
        drawn[f"cradle-{word}-used.svg"] = used_figure(measured, trace)
    drawn["cradle-ratio.svg"] = ratio_figure(measured)
    if picked(measured, part=MACHINES):
        drawn["cradle-machines.svg"] = machine_figure(measured)
    return drawn


def served_figure(measured: Sequence[Row], trace: str) -> str:
    """Figures 4 and 5, with what is proven to be out of reach."""
    curves: dict[str, list[Point]] = {}
    for method in METHODS:
        curves[method] = list(by_load(measured, trace, method, "served").items())
    bound, size = by_load(measured, trace, BOUND, "bound"), by_load(measured, trace, BOUND, "n")
    if bound:
        curves["proven limit"] = [(load, min(1.0, limit / size[load])) for load, limit in bound.items()]
    title = f"{trace}: requests served over the load ([Cradle] Figures 4 and 5)"
    caption = "Means over seeds. No schedule serves more than the limit."
    return chart(title, caption, _loads(curves), _share("requests served"), curves)


def used_figure(measured: Sequence[Row], trace: str) -> str:
    """Figure 6: served requests over the resources that they take."""
    curves: dict[str, list[Point]] = {}
    for method in PAPER:
        used, served = by_load(measured, trace, method, "used"), by_load(measured, trace, method, "served")
        curves[method] = [(used[load], served[load]) for load in used]
    title = f"{trace}: requests served over resources used ([Cradle] Figure 6)"
    caption = "One point per load factor. Up and to the left is better: more served with less."
    x = Axis(least=0.0, most=1.0, name="share of all machines' time and resources that is used", percent=True)
    return chart(title, caption, x, _share("requests served"), curves)


def ratio_figure(measured: Sequence[Row]) -> str:
    """Figure 3: Cradle+ over the better of the others."""
    curves: dict[str, list[Point]] = {}
    for trace in traces_of(picked(measured, part=LOADS)):
        mine = by_load(measured, trace, "cradle+", "served")
        best = {load: max(by_load(measured, trace, method, "served")[load] for method in BASELINES) for load in mine}
        curves[trace] = [(load, mine[load] / best[load]) for load in mine if best[load]]
    most = max((y for points in curves.values() for _, y in points), default=2.0)
    y = Axis(least=1.0 if most > 1 else 0.0, most=max(2.0, most) * 1.02, name="served by cradle+ / by the better of the others")
    title = "Cradle+ against the better of bin packing and spread ([Cradle] Figure 3)"
    return chart(title, "Means over seeds. The paper has 2 at load 12.", _loads(curves), y, curves)


def machine_figure(measured: Sequence[Row]) -> str:
    """Figure 2: the ratio over the number of machines."""
    found: dict[tuple[str, str], dict[float, list[float]]] = {}
    for key, ratio in ratios(measured, "cradle+", "others", part=MACHINES).items():
        found.setdefault((key[1], key[2]), {}).setdefault(float(key[3]), []).append(ratio)
    curves = {f"{trace}, load {load}": sorted((m, mean(r)) for m, r in by.items()) for (trace, load), by in found.items()}
    sizes = [m for points in curves.values() for m, _ in points]
    most = max(y for points in curves.values() for _, y in points)
    x = Axis(least=min(sizes), most=max(sizes), name="machines", logarithmic=True)
    y = Axis(least=min(1.0, *(y for points in curves.values() for _, y in points)), most=most * 1.02, name="ratio")
    return chart("Cradle+ against the others, over machines ([Cradle] Figure 2)", "Means over seeds.", x, y, curves)


def _loads(curves: dict[str, list[Point]]) -> Axis:
    loads = [load for points in curves.values() for load, _ in points]
    return Axis(least=min(loads), most=max(loads), name=LOAD)


def _share(name: str) -> Axis:
    return Axis(least=0.0, most=1.0, name=name, percent=True)
