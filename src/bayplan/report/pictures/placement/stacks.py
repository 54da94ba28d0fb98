"""One row of a bay plan: bays, blocks, lines and labels."""

from collections.abc import Iterator

import numpy as np

from bayplan.report.amounts import percent
from bayplan.report.names import told_apart
from bayplan.report.pictures.frame import Frame, floor_and_capacity, grid, safety_label
from bayplan.report.pictures.placement.bay_plan_data import BayPlanData, MachineColumns
from bayplan.report.svg import characters_in, element, line, number, rect, shortened, text, width_of

WIDE_ENOUGH = 34.0  # pixels per machine from which each has its percentage
NAMED = 17.0  # ... from which each has its name; nearer ones would touch
HOTTEST = 5  # fullest machines of a row that have their names in any case
UPRIGHT = 56.0  # ... from which names are written level
MARK = 'class="k'  # how the marks of the resources begin
THIN = 2.5  # blocks of fewer pixels are not outlined: the outline would hide them


def draw_row(data: BayPlanData, row: MachineColumns, frame: Frame) -> tuple[str, float]:
    """The drawing of one row, and how far down it reaches."""
    labels, below = _labels(data, row, frame)
    stacks = element("g", *_stacks(data, row, frame), class_="stacks")
    parts = [grid(frame), *_bays(data, row, frame), stacks, _lines(data, row, frame), labels]
    return "".join(parts), below


def _bays(data: BayPlanData, row: MachineColumns, frame: Frame) -> Iterator[str]:
    for m, x in zip(row.machine.tolist(), row.x.tolist(), strict=True):
        yield rect(x, frame.y(1), row.stack, frame.tall(1), "bay", data.machine_words(m))


def _stacks(data: BayPlanData, row: MachineColumns, frame: Frame) -> Iterator[str]:
    for m, x in zip(row.machine.tolist(), row.x.tolist(), strict=True):
        blocks = range(data.starts[m], data.starts[m + 1])
        drawn = [_block(data, b, x, row.stack, frame) for b in blocks]
        drawn.append(_cuts(data, blocks, x, row.stack, frame))
        if data.use.full[m]:
            drawn.append(_above(data, m, x, row.stack, frame))
        yield "".join(drawn)
    if data.lit is not None:
        yield "".join(_outlines(data, row, frame))


def _above(data: BayPlanData, m: int, x: float, width: float, frame: Frame) -> str:
    """What is too much: the part above the line, or everything where there is no capacity at all."""
    level = float(data.use.level[m])
    too_much = level if data.use.endless[m] else level - 1
    return rect(x, frame.y(level), width, max(1.0, frame.tall(too_much)), "above")


def _block(data: BayPlanData, b: int, x: float, width: float, frame: Frame) -> str:
    share, c = float(data.blocks.height[b]), int(data.blocks.container[b])
    pale = " pale" if data.lit is not None and not data.lit[c] else ""
    class_ = f"s{data.palette.colour[data.blocks.service[b]]}{pale}"
    y = frame.y(float(data.blocks.base[b]) + share)
    return rect(x, y, width, frame.tall(share), class_, data.container_words(c) if data.has_words else "")


def _cuts(data: BayPlanData, blocks: range, x: float, width: float, frame: Frame) -> str:
    """Thin lines between blocks: fainter inside of a service, thinner where the blocks are thin."""
    paths: dict[tuple[str, float], str] = {}
    for b in blocks[1:]:
        thin = frame.tall(float(min(data.blocks.height[b - 1], data.blocks.height[b])))
        if thin > 0:
            border = data.blocks.service[b - 1] != data.blocks.service[b]
            key = ("cut" if border else "cut in", 1.0 if thin > 3 else 0.5 if thin > 1.2 else 0.2)
            y = frame.y(float(data.blocks.base[b]))
            paths[key] = f"{paths.get(key, '')}M{number(x)} {number(y)}h{number(width)}"
    return "".join(element("path", d=path, class_=class_, stroke_width=wide) for (class_, wide), path in paths.items())


def _outlines(data: BayPlanData, row: MachineColumns, frame: Frame) -> Iterator[str]:
    assert data.lit is not None
    for m, x in zip(row.machine.tolist(), row.x.tolist(), strict=True):
        for b in range(data.starts[m], data.starts[m + 1]):
            base, share = float(data.blocks.base[b]), float(data.blocks.height[b])
            if data.lit[data.blocks.container[b]] and frame.tall(share) >= THIN:
                yield rect(x, frame.y(base + share), row.stack, frame.tall(share), "moved")


def _lines(data: BayPlanData, row: MachineColumns, frame: Frame) -> str:
    end = row.right + 6
    safety = data.use.safety[row.machine]
    marks = _safety(safety.tolist(), row, frame) if safety.size and safety.min() < 1 else ""
    return floor_and_capacity(frame, end) + marks


def _safety(safety: list[float], row: MachineColumns, frame: Frame) -> str:
    end = row.right + 6
    label = safety_label(frame, end, float(np.median([s for s in safety if s < 1])))
    if max(safety) - min(safety) < 1e-9:
        return line(frame.left, frame.y(safety[0]), end, frame.y(safety[0]), "safety") + label
    marks = (line(x - 1, frame.y(s), x + row.stack + 1, frame.y(s), "tick") for x, s in zip(row.x, safety, strict=True) if s < 1)
    return "".join(marks) + label


def _labels(data: BayPlanData, row: MachineColumns, frame: Frame) -> tuple[str, float]:
    parts = [*_percentages(data, row, frame)]
    if row.slot < UPRIGHT:
        parts += _marks(data, row, frame)
    names, below = _level_names(data, row, frame) if row.slot >= UPRIGHT else _slanted_names(data, row, frame)
    parts.append(names)
    space = min((right - left for _, left, right in row.groups), default=0.0) + 12
    groups = told_apart([name for name, _, _ in row.groups], characters_in(space))
    for (_, left, right), name in zip(row.groups, groups, strict=True):
        parts.append(line(left, below + 6, right, below + 6, "grid"))
        parts.append(text((left + right) / 2, below + 20, name, "strong mid"))
    return "".join(parts), below + (24 if row.groups else 0)


def _percentages(data: BayPlanData, row: MachineColumns, frame: Frame) -> Iterator[str]:
    for m, x in zip(row.machine.tolist(), row.x.tolist(), strict=True):
        level, middle = float(data.use.level[m]), x + row.stack / 2
        state = "over" if data.use.full[m] else "hot" if data.use.hot[m] else ""
        if row.slot >= WIDE_ENOUGH and data.use.containers[m]:
            y = frame.y(level) - 5
            y = frame.y(1) - 4 if frame.y(1) - 4 < y < frame.y(1) + 13 else y  # not across the capacity line
            shown = "over" if data.use.endless[m] else percent(level)
            yield text(middle, y, shown, f"small mid halo {state or 'soft'}")
        elif state:
            y = frame.y(max(level, 1.0)) - 3
            wide = min(4.0, max(2.0, row.stack / 2))
            path = f"M{number(middle)} {number(y)}l{number(-wide)} -6h{number(2 * wide)}z"
            yield element("path", d=path, class_="h11" if state == "over" else "h10")


def _marks(data: BayPlanData, row: MachineColumns, frame: Frame) -> Iterator[str]:
    """A short stroke below each column: the resource it is fullest in, where they differ."""
    used = row.machine[data.use.containers[row.machine] > 0]
    if len(np.unique(data.use.fullest[data.use.containers > 0])) > 1:
        at = dict(zip(row.machine.tolist(), row.x.tolist(), strict=True))
        yield from (rect(at[m], frame.bottom + 3, row.stack, 4, f"k{data.use.fullest[m] % 4}") for m in used.tolist())


def _level_names(data: BayPlanData, row: MachineColumns, frame: Frame) -> tuple[str, float]:
    """Below each column the machine's name and the resource it is fullest in; and how far down they reach."""
    names = told_apart(data.cluster.machines.name, characters_in(row.slot - 6, 12))
    resources, parts = data.cluster.resources, []
    for m, x in zip(row.machine.tolist(), row.x.tolist(), strict=True):
        middle = x + row.stack / 2
        parts.append(text(middle, frame.bottom + 16, names[m], "mid"))
        if len(resources) > 1 and data.use.containers[m]:
            fullest = shortened(resources[data.use.fullest[m]].name, row.slot - 2, 11)
            parts.append(text(middle, frame.bottom + 31, fullest, "soft small mid"))
    return "".join(parts), frame.bottom + (36 if len(resources) > 1 else 22)


def _slanted_names(data: BayPlanData, row: MachineColumns, frame: Frame) -> tuple[str, float]:
    """The names of the machines, or of the fullest and of every second, fifth, tenth ...; and how far down they reach."""
    names = told_apart(data.cluster.machines.name, characters_in(92, 11))
    shown = [(names[row.machine[k]], float(row.x[k])) for k in _named(data, row)]
    parts = [_slanted(name, x + row.stack / 2 + 3, frame.bottom + 17) for name, x in shown]
    longest = max((width_of(name, 11) for name, _ in shown), default=0.0)
    return "".join(parts), frame.bottom + 22 + 0.72 * longest


def _named(data: BayPlanData, row: MachineColumns) -> list[int]:
    """The columns that have space for a name: the fullest first, then every first, second, fifth, ..."""
    every = next(k for k in (1, 2, 5, 10, 20, 50, 1000) if k * row.slot >= (NAMED if k == 1 else 28) or k == 1000)
    used = np.flatnonzero(data.use.containers[row.machine] > 0)
    fullest = used[np.argsort(-data.use.level[row.machine[used]], kind="stable")][:HOTTEST].tolist()
    chosen: list[int] = []
    for k in [*fullest, *range(0, len(row.machine), every)]:
        if all(abs(row.x[k] - row.x[other]) >= NAMED for other in chosen):
            chosen.append(k)
    return sorted(chosen)


def _slanted(name: str, x: float, y: float) -> str:
    return text(x, y, name, "small end soft", transform=f"rotate(-45 {number(x)} {number(y)})")
