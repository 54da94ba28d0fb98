"""The distribution of utilisation over the machines, per resource: cumulative curves."""

import numpy as np

from bayplan.model import Cluster, FloatArray, Placement
from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.loads import MachineUse, machine_use
from bayplan.report.names import name_of
from bayplan.report.pictures.frame import LEFT, caption
from bayplan.report.pictures.panels import Panel, axes, panels, rows_height
from bayplan.report.svg import element, line, number, text, width_of
from bayplan.words import count

POINTS = 240  # steps of a curve; more cannot be seen

CAPTION = (
    "Each curve shows which share of the machines (upwards) uses at most a given share of its capacity (to the right). "
    "A steep curve means an even load; a long tail to the right means hot machines."
)


def utilisation_cdf(cluster: Cluster, placement: Placement, *, before: Placement | None = None, width: int = 1120) -> str:
    """One chart per resource over the machines that have it, as an SVG document; with `before`, its curve dashed below."""
    body, height = cdf_body(cluster, placement, before=before, width=width)
    return svg.document(width, height, f"Utilisation of {name_of(cluster)} per resource", CAPTION, body)


def cdf_body(cluster: Cluster, placement: Placement, *, before: Placement | None, width: float) -> tuple[str, float]:
    """The drawing inside of the document, and its height."""
    use, old = machine_use(cluster, placement), None if before is None else machine_use(cluster, before)
    note = "" if before is None else " Solid: after; dashed: before."
    words, y = caption("How full are the machines?", CAPTION + note, width)
    highest = np.nanmax([1.0, *use.level, *([] if old is None else old.level)])
    places = panels(len(cluster.resources), max(1.0, float(highest)) * 1.02, left=LEFT, top=y + 8, space=width - LEFT - 40)
    charts = [_chart(cluster, r, panel, use, old) for r, panel in enumerate(places)]
    return "".join([words, *charts]), y + 8 + rows_height(len(cluster.resources)) + 4


def _chart(cluster: Cluster, r: int, panel: Panel, use: MachineUse, old: MachineUse | None) -> str:
    has, lacking = ~np.isnan(use.share[:, r]), int(use.lacks[:, r].sum())
    short = f"{count(lacking, 'machine')} without it {'needs' if lacking == 1 else 'need'} it" if lacking else ""
    if not has.any():
        return axes(panel, cluster.resources[r].name, "no machine has it", short)
    share = np.sort(use.share[has, r])
    half, p95, most = (percent(float(np.quantile(share, q))) for q in (0.5, 0.95, 1.0))
    note = f"median {half}, 95th percentile {p95}, highest {most}"
    parts = [axes(panel, cluster.resources[r].name, note, short), _limits(panel, use.margin[has, r])]
    if old is not None:
        parts.append(element("path", d=_steps(panel, np.sort(old.share[has, r])), class_="before"))
    parts.append(element("path", d=_steps(panel, share), class_="curve"))
    return "".join([*parts, _dot(panel, float(share[-1]), use, r)])


def _steps(panel: Panel, share: FloatArray) -> str:
    """The stairs of a sorted sample, thinned to POINTS steps."""
    n = len(share)
    index = np.unique(np.linspace(0, n - 1, min(n, POINTS)).astype(np.int64))
    stairs = "".join(f"H{number(panel.x(float(share[i])))}V{number(panel.y((i + 1) / n))}" for i in index.tolist())
    return f"M{number(panel.left)} {number(panel.y(0))}{stairs}H{number(panel.left + panel.wide)}"


def _limits(panel: Panel, margin: FloatArray) -> str:
    full = line(panel.x(1), panel.y(0), panel.x(1), panel.y(1), "capacity")
    safe = float(np.median(margin))
    if safe >= 1:
        return full
    words, right = "safety" if np.ptp(margin) < 1e-9 else "safety, median", panel.x(1) + 5
    fits = right + width_of(words, 11) <= panel.left + panel.wide  # right of both lines is below the curve
    at, class_ = (right, "small hot halo") if fits else (panel.x(safe) - 4, "small hot halo end")
    label = text(at, panel.y(0) - 6, words, class_)
    return full + line(panel.x(safe), panel.y(0), panel.x(safe), panel.y(1), "safety") + label


def _dot(panel: Panel, share: float, use: MachineUse, r: int) -> str:
    """The fullest machine."""
    words = f"The fullest machine: {percent(share)} ({int((use.share[:, r] > use.margin[:, r]).sum())} over safety)"
    return element("circle", element("title", svg.escaped(words)), cx=panel.x(share), cy=panel.y(1), r=4, class_="dot")
