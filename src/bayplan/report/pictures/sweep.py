"""What each number of machines is good for: value with its bound, served share, and the worth of one machine more."""

from collections.abc import Sequence

from bayplan.report import svg
from bayplan.report.amounts import percent, score
from bayplan.report.answers.schedule_tables import share_of
from bayplan.report.pictures.chart import Chart, axes, dots, line_legend, polyline, stairs
from bayplan.report.pictures.frame import RIGHT, caption
from bayplan.report.svg import line, text
from bayplan.score.machine_sweep import FewestMachines, SweepPoint, slopes

LEFT, TALL, MARGIN = 72.0, 240.0, 1.06

VALUE = (
    "Each dot is an answer on that many machines. Above each dot, the dashed line is proven: no schedule there is worth more. "
    "Where the curve flattens, more machines serve little more."
)
SHARE = "The share of all requests that are served. The vertical line: the fewest machines that serve the stated share."
WORTH = (
    "What one machine more adds, measured from each dot to the next (solid), and what a proven bound gains at most (dashed). "
    "Compare it with what a machine costs over the time of the requests."
)


def value_curve(points: Sequence[SweepPoint], *, requested: float, width: int = 1120) -> str:
    """Value and bound over the number of machines; `requested` is the value of all requests."""
    title = "Value served, over the number of machines"
    bounds = [(float(p.machines), p.bound) for p in points if p.bound is not None]
    most = max([1e-12, *(p.value for p in points), *(min(b, requested) for _, b in bounds)])
    entries = [("line l0", "value served"), *([("line l1", "proven bound")] if bounds else [])]
    chart, head, height = _sheet(title, VALUE, points, most, entries, width)
    lines = [
        polyline(chart, [(a, min(b, requested)) for a, b in bounds], "line l1", "no schedule is worth more"),
        _curve(
            chart, [(float(p.machines), p.value) for p in points], [f"{p.machines:,} machines: {score(p.value)}" for p in points]
        ),
    ]
    return svg.document(width, height, title, VALUE, "".join([head, axes(chart, below="machines", whole=True), *lines]))


def share_curve(points: Sequence[SweepPoint], requests: int, fewest: FewestMachines | None, *, width: int = 1120) -> str:
    """Served share over the number of machines."""
    title = "Share of the requests that are served, over the number of machines"
    chart, head, height = _sheet(title, SHARE, points, 1.0, [("line l0", "served")], width)
    shares = [(float(p.machines), share_of(p.served, requests)) for p in points]
    words = [f"{p.machines:,} machines serve {p.served:,} of {requests:,}" for p in points]
    parts = [head, axes(chart, below="machines", words=percent, whole=True), _curve(chart, shares, words)]
    if fewest is not None and fewest.machines is not None and chart.low <= fewest.machines <= chart.high:
        x = chart.x(fewest.machines)
        parts.append(line(x, chart.top, x, chart.bottom, "safety"))
        parts.append(text(x + 5, chart.bottom - 8, f"{fewest.machines:,} for {percent(fewest.share)}", "small hot halo"))
    return svg.document(width, height, title, SHARE, "".join(parts))


def worth_curve(points: Sequence[SweepPoint], *, width: int = 1120) -> str:
    """What one machine more adds."""
    title = "What one machine more is worth"
    slope = [value or 0.0 for value in slopes(points)[:-1]]
    prices = [(float(p.machines), p.price) for p in points if p.price is not None]
    most = max([1e-12, *slope, *(price for _, price in prices)])
    entries = [("line l0", "measured, from dot to dot"), *([("line l1", "rise of the bound, at most")] if prices else [])]
    chart, head, height = _sheet(title, WORTH, points, most, entries, width)
    steps = stairs(chart, [float(p.machines) for p in points], [max(0.0, s) for s in slope], "line l0", "measured")
    bound = polyline(chart, prices, "line l1", "the bound rises by at most")
    return svg.document(width, height, title, WORTH, "".join([head, axes(chart, below="machines", whole=True), bound, steps]))


def _sheet(
    title: str, words: str, points: Sequence[SweepPoint], most: float, entries: Sequence[tuple[str, str]], width: int
) -> tuple[Chart, str, float]:
    """The field, its heading, and the height of the picture."""
    head, y = caption(title, words, width)
    legend, _ = line_legend([(class_, name, "") for class_, name in entries], left=LEFT, top=y + 5, space=width - LEFT - RIGHT)
    low, high = (float(points[k].machines) if points else 0.0 for k in (0, -1))
    chart = Chart(left=LEFT, right=width - RIGHT, top=y + 30, bottom=y + 30 + TALL, low=low, high=high, most=most * MARGIN)
    return chart, head + legend, chart.bottom + 44


def _curve(chart: Chart, points: Sequence[tuple[float, float]], words: Sequence[str]) -> str:
    return polyline(chart, points, "line l0", "measured") + dots(chart, points, words)
