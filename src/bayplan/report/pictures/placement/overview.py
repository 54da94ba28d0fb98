"""The bay plan of thousands of machines: their profile, the fullest first, and a grid with one cell per machine."""

from collections.abc import Iterator

import numpy as np

from bayplan.model import FloatArray, IntArray, ints
from bayplan.report import svg
from bayplan.report.amounts import percent, scale_of
from bayplan.report.loads import MachineUse
from bayplan.report.names import name_of
from bayplan.report.pictures.colours import OWN, TIER_CLASS, TIERS
from bayplan.report.pictures.frame import LEFT, RIGHT, Frame, caption, floor_and_capacity, grid, safety_label
from bayplan.report.pictures.placement.bay_plan_data import BayPlanData, BayPlanOptions
from bayplan.report.pictures.placement.legend import service_legend, state_words
from bayplan.report.pictures.placement.machine_grid import draw_grid
from bayplan.report.svg import element, line, number, rect, text
from bayplan.words import count

PLOT = 230.0
STEP = 4.0  # pixels per column of the profile

CAPTION = (
    "Above: all machines side by side, the fullest first; the height is how full a machine is in its fullest resource, "
    "the colours are the services that use it. Below: every machine is one cell, coloured by how full it is."
)


def overview_body(data: BayPlanData, options: BayPlanOptions) -> tuple[str, float]:
    """The drawing of a big cluster, and its height. Its size does not grow with the number of containers."""
    title = f"{name_of(data.cluster)}: {scale_of(data.cluster)}"
    facts = state_words(data.use, data.placement, data.cluster)
    words, y = caption(title, f"{CAPTION} {facts}", options.width)
    most = max(1.0, float(data.use.level.max(initial=0.0))) * 1.02
    frame = Frame(left=LEFT, right=options.width - RIGHT, top=y + 14, bottom=y + 14 + PLOT, most=most)
    legend, tall = service_legend(
        data.cluster, data.palette, left=LEFT, top=frame.bottom + 38, space=options.width - LEFT - 16, tiers=True
    )
    cells, below = draw_grid(data.cluster, data.use, options.group_by, left=LEFT, top=frame.bottom + 62 + tall, space=frame.wide)
    return "".join([words, _profile(data, frame), legend, cells]), below + 12


def _profile(data: BayPlanData, frame: Frame) -> str:
    bins = max(1, min(len(data.use.level), int(frame.wide / STEP)))
    place = _columns(data.use, bins)
    end = frame.right + 6
    areas = element("g", *_areas(data, _layers(data, place, bins), frame), class_="stacks")
    lines = [floor_and_capacity(frame, end), _safety(data.use, frame), _ranks(len(place), frame)]
    return "".join([grid(frame), areas, *lines, *_over(data.use, place, bins, frame)])


def _over(use: MachineUse, place: IntArray, bins: int, frame: Frame) -> Iterator[str]:
    """A red mark over each column in which a machine is over capacity: the column itself is a mean."""
    top = np.bincount(place, weights=use.level, minlength=bins) / np.maximum(1, np.bincount(place, minlength=bins))
    for k in np.unique(place[use.full]).tolist():
        x, y = frame.left + (k + 0.5) * frame.wide / bins, frame.y(max(1.0, float(top[k]))) - 3
        yield element("path", d=f"M{number(x)} {number(y)}l-2 -6h4z", class_="h11")


def _columns(use: MachineUse, bins: int) -> IntArray:
    """(machine,) the column of every machine: the fullest first, as many machines in each."""
    order = np.argsort(-use.level, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) * bins // max(1, len(order))
    return ints(place)


def _layers(data: BayPlanData, place: IntArray, bins: int) -> FloatArray:
    """(colour, column) mean share of the column's machines; the greys are tiers of services."""
    blocks = data.blocks
    colour = data.palette.tier[blocks.service]
    layers = OWN + len(TIERS)
    flat = np.bincount(colour * bins + place[blocks.machine], weights=blocks.height, minlength=layers * bins)
    return np.asarray(flat.reshape(layers, bins) / np.maximum(1, np.bincount(place, minlength=bins)))


def _areas(data: BayPlanData, layer: FloatArray, frame: Frame) -> list[str]:
    top = np.cumsum(layer, axis=0)
    own = data.palette.own.tolist()
    parts = []
    for colour in np.flatnonzero(layer.any(axis=1)).tolist():
        name = data.cluster.services.name[own[colour]] if colour < OWN else TIERS[colour - OWN][1]
        path = _outline(top[colour] - layer[colour], top[colour], frame)
        parts.append(
            element(
                "path",
                element("title", svg.escaped(name)),
                d=path,
                class_=f"s{colour}" if colour < OWN else TIER_CLASS[colour - OWN],
            )
        )
    return parts


def _outline(base: FloatArray, top: FloatArray, frame: Frame) -> str:
    """A closed path of steps along the tops and back along the bases."""
    step = f"{frame.wide / len(top):.4g}"
    there = "".join(f"V{frame.y(share):.1f}h{step}" for share in top.tolist())
    back = "".join(f"V{frame.y(share):.1f}h-{step}" for share in base[::-1].tolist())
    return f"M{number(frame.left)} {frame.y(float(base[0])):.1f}{there}{back}z"


def _safety(use: MachineUse, frame: Frame) -> str:
    safety = use.safety[~use.endless]
    if not safety.size or safety.min() >= 1:
        return ""
    least, most = float(safety.min()), float(safety.max())
    label, end = safety_label(frame, frame.right + 6, (least + most) / 2), frame.right + 6
    if most - least < 1e-9:
        return line(frame.left, frame.y(least), end, frame.y(least), "safety") + label
    words = f"Safety capacity: {percent(least)} to {percent(most)}, from machine to machine"
    return rect(frame.left, frame.y(most), end - frame.left, frame.tall(most - least), "band", words) + label


def _ranks(machines: int, frame: Frame) -> str:
    y = frame.bottom + 17
    parts = [text(frame.left, y, "fullest", "soft small"), text(frame.right, y, "emptiest", "soft small end")]
    for quarter in (0.25, 0.5, 0.75):
        x = frame.left + quarter * frame.wide
        parts.append(line(x, frame.bottom, x, frame.bottom + 5, "floor"))
        parts.append(text(x, y, count(round(quarter * machines), "machine"), "soft small mid"))
    return "".join(parts)
