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
BUNCHED = (
    "One row per resource; each column is a bunch of machines that are about as full, the fullest first. "
    "The colour is how much of their capacity is used on average."
)


def heat_map(cluster: Cluster, placement: Placement, *, width: int = 1120) -> str:
    """One row per resource, one column per machine or, beyond 200 machines, per bunch; as an SVG document."""
    body, height = heat_body(cluster, placement, width=width)
    return svg.document(width, height, f"Use of every resource on the machines of {name_of(cluster)}", CAPTION, body)


def heat_body(cluster: Cluster, placement: Placement, *, width: float) -> tuple[str, float]:
    """The drawing inside of the document, and its height."""
    use = machine_use(cluster, placement)
    order = np.argsort(-use.level, kind="stable")
    bunches = [ints(bunch) for bunch in np.array_split(order, min(MOST_COLUMNS, len(order)))] if len(order) else []
    words, y = caption("What is full where?", CAPTION if len(bunches) == len(order) else BUNCHED, width)
    slot = min(WIDEST, (width - LEFT - RIGHT) / max(1, len(bunches)))
    parts, present = [words], set[int]()
    for r, resource in enumerate(cluster.resources):
        top = y + 12 + r * ROW
        parts.append(text(LEFT - 10, top + ROW / 2 + 3, shortened(resource.name, LEFT - 20), "end"))
        for column, bunch in enumerate(bunches):
            cell, step = _cell(cluster, use, r, bunch, (LEFT + column * slot, top, slot))
            parts.append(cell)
            present.add(step)
    names, below = _names(cluster, bunches, slot, y + 12 + len(cluster.resources) * ROW)
    legend = fullness_legend(sorted(present), left=LEFT, top=below + 12, none="has none")
    return "".join([*parts, names, legend]), below + 36


def _cell(cluster: Cluster, use: MachineUse, r: int, bunch: IntArray, at: tuple[float, float, float]) -> tuple[str, int]:
    """One rectangle, with its number in it if there is space; and its step."""
    x, y, slot = at
    share = use.share[bunch, r]
    known = share[~np.isnan(share)]
    mean = np.array([known.mean() if known.size else np.nan])
    lacks = use.lacks[bunch, r]
    over = lacks.any() | (use.over[bunch, r].all() if len(bunch) == 1 else mean > 1)
    step = int(steps(mean, mean > use.margin[bunch, r].mean(), over)[0])
    inset = 0.5 if step == NONE else 0.0  # an outline is drawn around its edge
    wide, tall = slot - (0.0 if slot < 8 else 1.5), ROW - 3
    words = _words(cluster, use, r, bunch)
    cell = rect(x + inset, y + inset, wide - 2 * inset, tall - 2 * inset, CLASSES[step], words)
    if slot < WIDE_ENOUGH or step == NONE:
        return cell, step
    shown = "over" if lacks.any() else percent(float(mean[0]))
    return cell + text(x + wide / 2, y + tall / 2 + 4, shown, f"small mid t{step}"), step


def _names(cluster: Cluster, bunches: list[IntArray], slot: float, y: float) -> tuple[str, float]:
    """The machines' names below the columns, if there is space for all of them."""
    if slot < WIDE_ENOUGH or any(len(bunch) != 1 for bunch in bunches):
        return "", y
    names = told_apart([cluster.machines.name[bunch[0]] for bunch in bunches], characters_in(slot - 6, 11))
    return "".join(text(LEFT + (k + 0.5) * slot, y + 12, name, "small mid") for k, name in enumerate(names)), y + 18


def _words(cluster: Cluster, use: MachineUse, r: int, bunch: IntArray) -> str:
    name, share = cluster.resources[r].name, use.share[bunch, r]
    known = share[~np.isnan(share)]
    subject = cluster.machines.name[bunch[0]] if len(bunch) == 1 else count(len(bunch), "machine")
    lacking = int(use.lacks[bunch, r].sum())
    if lacking and len(bunch) == 1:
        return f"{subject}: runs what needs {name}, but has none"
    if not known.size:
        return f"{subject}: no {name}"
    if len(bunch) == 1:
        return f"{subject}: {percent(float(known[0]))} of its {name}"
    more = f"; {lacking:,} of them run what needs it and have none" if lacking else ""
    return f"{subject}: {name} {percent(float(known.min()))} to {percent(float(known.max()))}{more}"
