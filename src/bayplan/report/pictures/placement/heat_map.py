"""Machine x resource, coloured by how full."""

import numpy as np

from bayplan.model import Cluster, IntArray, Placement, ints
from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.loads import MachineUse, machine_use
from bayplan.report.names import name_of, told_apart
from bayplan.report.pictures.colours import CLASSES, NONE, fullness_legend, steps
from bayplan.report.pictures.frame import RIGHT, caption
from bayplan.report.svg import characters_in, rect, shortened, text
from bayplan.words import count

MOST_COLUMNS = 200
LEFT, ROW = 120.0, 30.0
WIDEST, WIDE_ENOUGH = 90.0, 42.0  # pixels per machine: at most, and from which on numbers and names fit

CAPTION = (
    "One row per resource, one column per machine, the fullest machines first. The colour is how much of the capacity is used."
)
GROUPED = (
    "One row per resource; each column is a group of machines that are about equally full, the fullest first. "
    "The colour is how much of their capacity is used on average."
)


def heat_map(cluster: Cluster, placement: Placement, *, width: int = 1120) -> str:
    """One row per resource, one column per machine or, beyond 200 machines, per group; as an SVG document."""
    body, height = heat_body(cluster, placement, width=width)
    return svg.document(width, height, f"Use of every resource on the machines of {name_of(cluster)}", CAPTION, body)


def heat_body(cluster: Cluster, placement: Placement, *, width: float) -> tuple[str, float]:
    """The drawing inside of the document, and its height."""
    use = machine_use(cluster, placement)
    order = np.argsort(-use.level, kind="stable")
    groups = [ints(group) for group in np.array_split(order, min(MOST_COLUMNS, len(order)))] if len(order) else []
    words, y = caption("What is full where?", CAPTION if len(groups) == len(order) else GROUPED, width)
    slot = min(WIDEST, (width - LEFT - RIGHT) / max(1, len(groups)))
    parts, present = [words], set[int]()
    for r, resource in enumerate(cluster.resources):
        top = y + 12 + r * ROW
        parts.append(text(LEFT - 10, top + ROW / 2 + 3, shortened(resource.name, LEFT - 20), "end"))
        for column, group in enumerate(groups):
            cell, step = _cell(cluster, use, r, group, (LEFT + column * slot, top, slot))
            parts.append(cell)
            present.add(step)
    names, below = _names(cluster, groups, slot, y + 12 + len(cluster.resources) * ROW)
    legend = fullness_legend(sorted(present), left=LEFT, top=below + 12, none="has none")
    return "".join([*parts, names, legend]), below + 36


def _cell(cluster: Cluster, use: MachineUse, r: int, group: IntArray, at: tuple[float, float, float]) -> tuple[str, int]:
    """One rectangle, with its number in it if there is space; and its step."""
    x, y, slot = at
    share = use.share[group, r]
    known = share[~np.isnan(share)]
    mean = np.array([known.mean() if known.size else np.nan])
    lacks = use.lacks[group, r]
    over = lacks.any() | (use.over[group, r].all() if len(group) == 1 else mean > 1)
    step = int(steps(mean, mean > use.margin[group, r].mean(), over)[0])
    inset = 0.5 if step == NONE else 0.0  # an outline is drawn around its edge
    wide, tall = slot - (0.0 if slot < 8 else 1.5), ROW - 3
    words = _words(cluster, use, r, group)
    cell = rect(x + inset, y + inset, wide - 2 * inset, tall - 2 * inset, CLASSES[step], words)
    if slot < WIDE_ENOUGH or step == NONE:
        return cell, step
    shown = "over" if lacks.any() else percent(float(mean[0]))
    return cell + text(x + wide / 2, y + tall / 2 + 4, shown, f"small mid t{step}"), step


def _names(cluster: Cluster, groups: list[IntArray], slot: float, y: float) -> tuple[str, float]:
    """The machines' names below the columns, if there is space for all of them."""
    if slot < WIDE_ENOUGH or any(len(group) != 1 for group in groups):
        return "", y
    names = told_apart([cluster.machines.name[group[0]] for group in groups], characters_in(slot - 6, 11))
    return "".join(text(LEFT + (k + 0.5) * slot, y + 12, name, "small mid") for k, name in enumerate(names)), y + 18


def _words(cluster: Cluster, use: MachineUse, r: int, group: IntArray) -> str:
    name, share = cluster.resources[r].name, use.share[group, r]
    known = share[~np.isnan(share)]
    subject = cluster.machines.name[group[0]] if len(group) == 1 else count(len(group), "machine")
    lacking = int(use.lacks[group, r].sum())
    if lacking and len(group) == 1:
        return f"{subject}: runs what needs {name}, but has none"
    if not known.size:
        return f"{subject}: no {name}"
    if len(group) == 1:
        return f"{subject}: {percent(float(known[0]))} of its {name}"
    more = f"; {lacking:,} of them run what needs it and have none" if lacking else ""
    return f"{subject}: {name} {percent(float(known.min()))} to {percent(float(known.max()))}{more}"
