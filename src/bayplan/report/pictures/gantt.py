"""A plan in time: one row per machine, one bar per step, a line where a batch ends and the next one begins."""

from collections.abc import Sequence

import numpy as np

from bayplan.model import Cluster, FloatArray, IntArray, floats, ints
from bayplan.report import svg
from bayplan.report.names import name_of, told_apart
from bayplan.report.pictures.axis import Axis, time_marks
from bayplan.report.pictures.frame import caption
from bayplan.report.pictures.step_bars import StepBars
from bayplan.report.svg import characters_in, element, line, number, rect, text, width_of

MOST_ROWS = 40  # machines with a row of their own; the strip above counts the steps of all
MOST_WORDS = 450_000  # characters of all tooltips: a picture stays below a megabyte
LEFT, RIGHT, NAMES = 120.0, 24.0, 104.0
STRIP, GAP = 46.0, 10.0  # height of the strip; pixels between the parts
TALLEST, ALL_ROWS = 15.0, 640.0  # a bar at most; all rows together, about
SPACE = 4.0  # between two machines

CAPTION = (
    "Time runs to the right. Each row is a machine, each bar a step on it: a container is created (the pale part pulls its "
    "image) or deleted. Thin lines end a batch: the next one starts when all steps before it have ended."
)
CLASSES = {"pull": "local pale", "create": "local", "stopover": "s3", "delete": "s1"}
KEYS = {"pull": "pulls the image", "create": "starts", "stopover": "starts, for a stopover", "delete": "is deleted"}


def gantt(cluster: Cluster, bars: StepBars, *, width: int = 1120) -> str:
    """The picture of a timed plan, as an SVG document. Beyond 40 machines, those with most steps have rows."""
    machines, shown = _machines(bars)
    words = CAPTION if shown == len(machines) else f"{CAPTION} {_missing(shown, len(machines))}"
    title = f"{name_of(cluster)}: {bars.words}"
    head, y = caption(title, words if len(bars) else "Nothing has to move.", width)
    if not len(bars):
        return svg.document(width, y + 6, title, CAPTION, head)
    axis = Axis(left=LEFT, right=width - RIGHT, low=0.0, high=bars.longest)
    key, top = _legend(bars, y + 4, width)
    rows = ints(np.sort(machines[:shown]))
    drawn, bottom = _rows(cluster, bars, rows, axis, top + 18 + STRIP + GAP)
    lines = _batch_lines(bars, axis, top + 12, bottom)
    marks = time_marks(axis, bottom)
    body = [head, key, marks, _strip(bars, axis, top + 18), drawn, lines]
    return svg.document(width, bottom + 26, title, CAPTION, "".join(body))


def _missing(shown: int, all_of_them: int) -> str:
    return f"Rows are the {shown} machines with most steps, of {all_of_them:,}; the strip above them counts the steps of all."


def _machines(bars: StepBars) -> tuple[IntArray, int]:
    """Machines that have steps, those with most first, and how many of them have a row."""
    machine, steps = np.unique(bars.machine, return_counts=True)
    order = np.lexsort((machine, -steps))
    return ints(machine[order]), min(MOST_ROWS, len(machine))


def _legend(bars: StepBars, top: float, width: float) -> tuple[str, float]:
    present = {"pull": bool((bars.pulled > bars.start).any()), "stopover": bool(bars.stopover.any())}
    parts, x, y = [], LEFT, top
    for kind, words in KEYS.items():
        if present.get(kind, True):
            taken = 17 + width_of(words, 11) + 18
            if x > LEFT and x + taken > width - RIGHT:
                x, y = LEFT, y + 18
            parts += [rect(x, y, 11, 11, CLASSES[kind]), text(x + 17, y + 10, words, "soft small")]
            x += taken
    return "".join(parts), y + 18


def _strip(bars: StepBars, axis: Axis, top: float) -> str:
    """How many steps run at each moment, creates upon deletes."""
    edge, deletes, creates = _running(bars, axis)
    most = max(1, int((deletes + creates).max(initial=1)))
    base, scale = top + STRIP, STRIP / most
    layers = (("delete", np.zeros(len(deletes)), deletes), ("create", deletes, deletes + creates))
    areas = [element("path", d=_steps(axis, edge, low, high, base, scale), class_=CLASSES[kind]) for kind, low, high in layers]
    words = [
        text(LEFT - 10, top + 12, "steps at once", "small end"),
        text(LEFT - 10, top + 26, f"up to {most:,}", "soft small end"),
        line(LEFT, base, axis.right, base, "floor"),
    ]
    return "".join([*areas, *words])


def _running(bars: StepBars, axis: Axis) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Moments, and how many deletes and creates run from each to the next; no more moments than pixels."""
    edge = np.unique(np.r_[0.0, bars.start, bars.end])
    if len(edge) > axis.wide:
        edge = np.linspace(0.0, axis.high, int(axis.wide) + 1)
    counts = []
    for kind in (~bars.create, bars.create):
        begun = np.searchsorted(np.sort(bars.start[kind]), edge[:-1], side="right")
        ended = np.searchsorted(np.sort(bars.end[kind]), edge[:-1], side="right")
        counts.append(floats(begun - ended))
    return floats(edge), counts[0], counts[1]


def _steps(axis: Axis, edge: FloatArray, low: FloatArray, high: FloatArray, base: float, scale: float) -> str:
    """A closed path along the tops and back along the bottoms."""
    x = [number(axis.x(moment)) for moment in edge.tolist()]
    there = "".join(f"V{number(base - scale * h)}H{x[k + 1]}" for k, h in enumerate(high.tolist()))
    back = "".join(f"V{number(base - scale * low[k])}H{x[k]}" for k in range(len(low) - 1, -1, -1))
    return f"M{x[0]} {number(base)}{there}{back}z"


def _rows(cluster: Cluster, bars: StepBars, machines: IntArray, axis: Axis, top: float) -> tuple[str, float]:
    """The bars of every machine, side by side those that run at once; and how far down they reach."""
    of = [np.flatnonzero(bars.machine == m) for m in machines.tolist()]
    lanes = [_lanes(bars, steps) for steps in of]
    most = max(TALLEST, (ALL_ROWS - SPACE * len(of)) / len(of))
    names = told_apart([cluster.machines.name[m] for m in machines.tolist()], characters_in(NAMES, 11))
    worded = _worded(cluster, bars, of)
    parts, y = [], top
    for name, steps, (lane, beside) in zip(names, of, lanes, strict=True):
        row = min(most, TALLEST * int(beside.max(initial=1)))
        parts.append(rect(axis.left, y, axis.wide, row, "bay"))
        parts.append(text(LEFT - 10, y + row / 2 + 4, name, "small end"))
        for b, k, n in zip(steps.tolist(), lane.tolist(), beside.tolist(), strict=True):
            height = min(TALLEST, row / n)
            parts.append(_bar(cluster, bars, b, axis, (y + k * height, height), worded))
        y += row + SPACE
    return "".join(parts), y - SPACE


def _worded(cluster: Cluster, bars: StepBars, shown: Sequence[IntArray]) -> bool:
    """Is there space in the file for a tooltip on every bar?"""
    return sum(len(bars.step_words(cluster, b)) + 40 for steps in shown for b in steps.tolist()) <= MOST_WORDS


def _bar(cluster: Cluster, bars: StepBars, b: int, axis: Axis, at: tuple[float, float], worded: bool) -> str:
    (y, height), gap = at, min(1.0, 0.2 * at[1])
    start, middle, end = (axis.x(float(moment)) for moment in (bars.start[b], bars.pulled[b], bars.end[b]))
    kind = "delete" if not bars.create[b] else "stopover" if bars.stopover[b] else "create"
    end = max(end - min(1.0, 0.2 * (end - start)), start + 0.6)
    tall, class_ = height - gap, CLASSES[kind]
    parts = [rect(start, y + gap / 2, middle - start, tall, f"{class_} pale")] if middle - start > 0.3 else []
    parts.append(rect(middle, y + gap / 2, max(0.4, end - middle), tall, class_))
    parts.append(_name(cluster.containers.name[int(bars.container[b])], kind, (start, middle, end), y, height))
    title = element("title", svg.escaped(bars.step_words(cluster, b), keep="\n")) if worded else ""
    return element("g", title, *parts)


def _name(name: str, kind: str, times: tuple[float, float, float], y: float, height: float) -> str:
    """The container's name on the longer part of its bar, if it fits."""
    start, middle, end = times
    left, right, pale = (start, middle, True) if middle - start >= end - middle else (middle, end, False)
    if height < 12 or width_of(name, 10) + 8 > right - left:
        return ""
    return text(left + 4, y + height / 2 + 3.5, name, "tiny" if pale else "tiny t10" if kind == "delete" else "tiny t7")


def _lanes(bars: StepBars, steps: IntArray) -> tuple[IntArray, IntArray]:
    """(bar,) of one machine: the first lane that is free when it starts, and how many lanes its batch needs."""
    lane, beside = np.zeros(len(steps), dtype=np.int64), np.ones(len(steps), dtype=np.int64)
    for batch in np.unique(bars.batch[steps]).tolist():
        mine = np.flatnonzero(bars.batch[steps] == batch)
        free: list[float] = []
        for k in mine[np.lexsort((bars.end[steps[mine]], bars.start[steps[mine]]))].tolist():
            start, end = float(bars.start[steps[k]]), float(bars.end[steps[k]])
            lane[k] = next((n for n, until in enumerate(free) if until <= start + 1e-9), len(free))
            free[lane[k] : lane[k] + 1] = [end]
        beside[mine] = len(free)
    return ints(lane), ints(beside)


def _batch_lines(bars: StepBars, axis: Axis, top: float, bottom: float) -> str:
    """Where batches begin, and their numbers where there is space."""
    parts, last = [], -np.inf
    for k, moment in enumerate(bars.batch_start.tolist()):
        x = axis.x(moment)
        if k:
            parts.append(line(x, top + 6, x, bottom, "grid"))
        if x - last >= 10 + width_of(str(k + 1), 10):
            parts.append(text(x + 2, top + 2, str(k + 1) if k else "batch 1", "soft tiny"))
            last = x + (width_of("batch", 10) if not k else 0.0)
    return "".join(parts)
