"""Two figures: affinity over the share of moved containers, and over time."""

from collections.abc import Sequence
from math import floor, log
from statistics import median

from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.svg import element, line, number, text, width_of
from experiments.rasa.paper import STORED
from experiments.rasa.parts import ITERATIVE
from experiments.rasa.tables import answered, numbers, value
from experiments.results import Row, picked

WIDTH, HEIGHT, LEFT, TOP, WIDE, TALL = 760, 430, 62.0, 84.0, 660.0, 290.0
TENTHS = tuple(k / 10 for k in range(0, 11, 2))
Point = tuple[float, float]  # shares of the width and of the height


def front_figure(measured: Sequence[Row]) -> str:
    """Gained affinity over the share of moved containers."""
    title = "M3: gained affinity over the share of moved containers"
    caption = "Up and to the left is better. 60 s and two threads under a cap on moves, 10 s with a price for each."
    rows = answered(measured)
    kinds = {"under a cap": "cap", "with a price for moves": "price", "moves are free": ""}
    parts = [_frame(title, caption, [(share, percent(share)) for share in TENTHS], "moved containers")]
    for colour, kind in enumerate(kinds.values()):
        some = [row for row in rows if (value(row, kind) if kind else not row["options"])]
        points = [(float(row["moved"]), float(row["affinity"])) for row in some]
        parts += [_dot(point, colour) for point in points]
    parts.append(_dot((STORED[1], STORED[0]), 7))
    parts.append(_legend([*zip(range(3), kinds, strict=True), (7, "RASA's published answer")]))
    return svg.document(WIDTH, HEIGHT, title, caption, "".join(parts))


def time_figure(measured: Sequence[Row], cluster: str) -> str:
    """Gained affinity over the seconds that a method had, the median over seeds; one that ends by itself has one point."""
    title = f"{cluster}: gained affinity over time"
    caption = "Seconds from the start of the process, reading included. One thread. The seconds grow to the right by factors."
    rows = [row for row in answered(measured) if row["cluster"] == cluster]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    curves = {method: _medians(picked(rows, method=method), method) for method in methods}
    shortest = min((at for points in curves.values() for at, _ in points), default=1.0)
    times = sorted({*(float(row["seconds"]) for row in rows), float(max(1, floor(shortest)))})
    marks = [(_logarithmic(seconds, times), f"{seconds:g} s") for seconds in times]
    parts = [_frame(title, caption, marks, "asked for, or taken by a method that ends by itself")]
    for colour, method in enumerate(methods):
        points = [(_logarithmic(at, times), gained) for at, gained in curves[method]]
        parts += [_curve(points, colour), *(_dot(point, colour) for point in points)]
    parts.append(_legend(list(enumerate(methods))))
    return svg.document(WIDTH, HEIGHT, title, caption, "".join(parts))


def _medians(rows: Sequence[Row], method: str) -> list[Point]:
    """Seconds and gained affinity: for each number of seconds that it had, or at the time when it ended by itself."""
    by_seconds = [picked(rows, seconds=seconds) for seconds in sorted({row["seconds"] for row in rows}, key=float)]
    column = "seconds" if method in ITERATIVE else "wall"
    return [(median(numbers(some, column)), median(numbers(some, "affinity"))) for some in by_seconds]


def _logarithmic(seconds: float, times: Sequence[float]) -> float:
    """What is less than the first time, or more than the last, is drawn at it."""
    least, most = times[0], times[-1]
    return log(min(max(seconds, least), most) / least) / log(most / least) if most > least else 0.0


def _x(share: float) -> float:
    return LEFT + WIDE * share


def _y(share: float) -> float:
    return TOP + TALL * (1 - share)


def _frame(title: str, caption: str, marks: Sequence[tuple[float, str]], below: str) -> str:
    parts = [text(LEFT, 24, title, "head"), text(LEFT, 42, caption, "soft small")]
    parts += [line(LEFT, _y(share), LEFT + WIDE, _y(share), "grid") for share in TENTHS[1:]]
    parts += [text(LEFT - 8, _y(share) + 4, f"{share:.1f}", "soft small end") for share in TENTHS]
    parts.append(line(LEFT, _y(0.0), LEFT + WIDE, _y(0.0), "floor"))
    parts += [text(_x(share), _y(0.0) + 16, word, "soft small mid") for share, word in marks]
    return "".join([*parts, text(LEFT + WIDE / 2, _y(0.0) + 34, below, "soft small mid")])


def _dot(point: Point, colour: int) -> str:
    return element("circle", cx=_x(point[0]), cy=_y(point[1]), r=4.5, class_=f"s{colour}")


def _curve(points: Sequence[Point], colour: int) -> str:
    path = "L".join(f"{number(_x(x))} {number(_y(y))}" for x, y in points)
    return element("path", d=f"M{path}", style=f"fill:none;stroke:var(--s{colour});stroke-width:1.8")


def _legend(names: Sequence[tuple[int, str]]) -> str:
    parts, x = [], LEFT
    for colour, name in names:
        parts.append(element("circle", cx=x + 5, cy=58.0, r=4.5, class_=f"s{colour}"))
        parts.append(text(x + 14, 62, name, "small"))
        x += 14 + width_of(name, 11) + 22
    return "".join(parts)
