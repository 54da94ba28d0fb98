"""The front: what could be gained for which share of moves, and the point that was chosen."""

from bayplan.report import svg
from bayplan.report.amounts import percent, score
from bayplan.report.change_page.data import FrontPoint
from bayplan.report.markup import paragraph
from bayplan.report.pictures.axis import Axis, round_numbers, round_step
from bayplan.report.svg import element, line, number, text, width_of
from bayplan.words import count

WIDE, TALL = 640.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 24.0, 26.0, 252.0
TICKS = 5

CAPTION = (
    "Each point is a plan: to the right it moves more containers, further up it gains more. Where the curve gets flat, further "
    "moves gain little. The chosen point is marked."
)


def front_section(points: tuple[FrontPoint, ...]) -> str:
    """The curve, with a point to read for every plan."""
    return paragraph(CAPTION, "soft") + front_picture(points)


def front_picture(points: tuple[FrontPoint, ...]) -> str:
    """Gain over the share of containers moved, as an SVG document."""
    ordered = sorted(points, key=lambda point: (point.share, point.gain))
    across = Axis(left=LEFT, right=WIDE - RIGHT, low=0.0, high=max(max(point.share for point in ordered) * 1.05, 1e-9))
    least, most = min(0.0, *(p.gain for p in ordered)), max(0.0, *(p.gain for p in ordered))
    scale = (BOTTOM - TOP) / ((most - least) or 1.0)
    places = [(across.x(point.share), BOTTOM - (point.gain - least) * scale) for point in ordered]
    path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in places)
    drawn = [_point(point, place) for point, place in zip(ordered, places, strict=True)]
    body = [_grid(across, least, most, scale), element("path", d=path, class_="curve"), *drawn]
    return svg.document(WIDE, TALL, "Gain over the share of containers moved", CAPTION, "".join(body), role="group")


def _grid(across: Axis, least: float, most: float, scale: float) -> str:
    parts = [line(LEFT, BOTTOM, across.right, BOTTOM, "floor")]
    for step in _ticks(across.high):
        parts.append(line(across.x(step), BOTTOM, across.x(step), BOTTOM + 5, "floor"))
        parts.append(text(across.x(step), BOTTOM + 19, percent(step), "soft small mid"))
    for step in _ticks(most, least):
        y = BOTTOM - (step - least) * scale
        parts.append(line(LEFT, y, across.right, y, "grid"))
        parts.append(text(LEFT - 8, y + 4, score(step), "soft small end"))
    parts.append(text(across.right, BOTTOM + 38, "share of the containers moved", "soft small end"))
    parts.append(text(LEFT - 40, TOP - 12, "gain", "soft small"))
    return "".join(parts)


def _ticks(high: float, low: float = 0.0) -> list[float]:
    """About five round numbers from `low` to `high`."""
    return round_numbers(low, high, round_step((high - low) / TICKS or 1.0))


def _point(point: FrontPoint, at: tuple[float, float]) -> str:
    x, y = at
    title = f"{count(point.moved, 'container')} moved ({percent(point.share)}), gain {score(point.gain)}"
    words = "\n".join(["chosen: " + title if point.chosen else title, *(f"{name}: {v}" for name, v in point.figures.items())])
    parts = [element("circle", cx=x, cy=y, r=14.0, class_="reach"), element("circle", cx=x, cy=y, r=4.0, class_="dot")]
    if point.chosen:
        label = f"chosen: {count(point.moved, 'container')} moved"
        left = x + 14 + width_of(label) > WIDE
        parts.append(element("circle", cx=x, cy=y, r=9.0, class_="chosen"))
        parts.append(text(x - 14 if left else x + 14, y + 18, label, "strong end ringed" if left else "strong ringed"))
    label = words.replace("\n", "; ")
    return element("g", *parts, class_="spot", tabindex="0", role="img", aria_label=label, data_tip=words)
