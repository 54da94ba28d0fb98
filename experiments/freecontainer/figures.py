"""Figures 4 and 5 of [FreeContainer]: how full the machines of DC_A are, one curve per method."""

from collections.abc import Sequence

from bayplan.report import svg
from bayplan.report.pictures.panels import Panel, axes, panels, rows_height
from bayplan.report.svg import element, number, text, width_of
from experiments.results import Row

WIDTH, LEFT, TOP = 1120, 48.0, 70.0
RESOURCES = ("cpu", "memory", "ssd")
CAPTION = (
    "Each curve says which share of the machines (upwards) uses at most that share of its capacity (to the right). "
    "Steep is even, a long tail to the right is hot machines."
)


def figure(curves: Sequence[Row], title: str) -> str:
    """One chart per resource as an SVG document."""
    methods = list(dict.fromkeys(row["method"] for row in curves))
    most = max(float(row[resource]) for row in curves for resource in RESOURCES)
    places = panels(len(RESOURCES), max(1.0, most) * 1.02, left=LEFT, top=TOP, space=WIDTH - LEFT - 40)
    parts = [text(LEFT, 24, title, "head"), text(LEFT, 42, CAPTION, "soft small"), _legend(methods)]
    for resource, panel in zip(RESOURCES, places, strict=True):
        parts.append(axes(panel, resource, "share of the machines, by utilisation"))
        parts += [_curve(panel, _points(curves, method, resource), colour) for colour, method in enumerate(methods)]
    height = TOP + rows_height(len(RESOURCES)) + 10
    return svg.document(WIDTH, height, title, CAPTION, "".join(parts))


def _points(curves: Sequence[Row], method: str, resource: str) -> list[tuple[float, float]]:
    """(utilisation, share of the machines), ascending; a run that was repeated counts once."""
    at = {int(row["percent"]): float(row[resource]) for row in curves if row["method"] == method}
    return [(at[percent], percent / 100) for percent in sorted(at)]


def _curve(panel: Panel, points: list[tuple[float, float]], colour: int) -> str:
    path = "L".join(f"{number(panel.x(used))} {number(panel.y(share))}" for used, share in points)
    return element("path", d=f"M{path}", style=f"fill:none;stroke:var(--s{colour});stroke-width:1.8")


def _legend(methods: Sequence[str]) -> str:
    parts, x = [], LEFT
    for colour, method in enumerate(methods):
        parts.append(element("rect", x=x, y=54.0, width=14.0, height=4.0, class_=f"s{colour}"))
        parts.append(text(x + 20, 60, method, "small"))
        x += 20 + width_of(method, 11) + 24
    return "".join(parts)
