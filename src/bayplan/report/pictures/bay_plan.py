"""The bay plan: each machine a stack on common ground, each container a block in it.

Which height is honest? Dominant shares (the largest share over the resources) do not add up: two containers,
one with 60 % of the cpu and one with 60 % of the memory, fit on one machine. So a block's height is the
container's share of the machine's *fullest* resource. Blocks then add up, the top of a stack is the machine's
utilisation, and a stack crosses the capacity line exactly when the machine is over capacity. A container that
asks for none of that resource is a hairline on top. A machine that runs what it has none of is infinitely full:
its stack is as high as the highest, and at least a quarter above the line.
"""

import numpy as np

from bayplan.model import Cluster, IntArray, Placement, ints
from bayplan.report import svg
from bayplan.report.amounts import scale_of
from bayplan.report.names import name_of
from bayplan.report.pictures.columns import columns, in_order
from bayplan.report.pictures.frame import LEFT, RIGHT, Frame, Sheet, caption
from bayplan.report.pictures.legend import resource_legend, service_legend, state_words
from bayplan.report.pictures.overview import overview_body
from bayplan.report.pictures.scene import Scene
from bayplan.report.pictures.stacks import MARK, draw_row
from bayplan.report.pictures.waiting import WORDS, draw_waiting, waiting_room

MOST_STACKS, MOST_BLOCKS = 240, 8000  # more machines or containers than this are drawn as an overview
PER_ROW = 120
PLOT = 300.0

CAPTION = (
    "Each column is a machine, each block a container, its colour its service. The height of a block is the "
    "container's share of the machine's fullest resource, so the top of a column says how full the machine is."
)


def bay_plan(
    cluster: Cluster,
    placement: Placement,
    *,
    width: int = 1120,
    group_by: str | None = None,
    highlight: IntArray | None = None,
) -> str:
    """The picture of a placement, as an SVG document.

    Up to 240 machines and 8,000 containers every container is a block; beyond that, an overview. `group_by` names a
    topology level; `highlight` are containers to outline while the others pale.
    """
    scene = Scene.of(cluster, placement, highlight)
    body, height = plan_body(scene, Sheet(width=width, group_by=group_by))
    return svg.document(width, height, f"Bay plan of {name_of(cluster)}: {scale_of(cluster)}", CAPTION, body)


def plan_body(scene: Scene, sheet: Sheet) -> tuple[str, float]:
    """The drawing inside of the document, and its height."""
    if is_big(scene):
        return overview_body(scene, sheet)
    facts = state_words(scene.use, scene.placement, scene.cluster)
    title = sheet.heading or f"{name_of(scene.cluster)}: {scale_of(scene.cluster)}"
    words, y = caption(title, f"{CAPTION} {facts}" if sheet.words is None else sheet.words, sheet.width)
    drawn, y = _plan_rows(scene, sheet, y)
    if not sheet.legend:
        return words + drawn, y + 8
    legend, y = plan_legend(scene, drawn, y + 8, sheet.width)
    return "".join([words, drawn, legend]), y + 6


def is_big(scene: Scene) -> bool:
    """Is it too much for one block per container?"""
    return len(scene.cluster.machines.name) > MOST_STACKS or len(scene.blocks) > MOST_BLOCKS


def plan_legend(scene: Scene, drawn: str, top: float, width: float) -> tuple[str, float]:
    """The colours of the services and, if `drawn` has them, the marks of the resources; and how far down they reach."""
    colours, tall = service_legend(scene.cluster, scene.palette, left=LEFT, top=top, room=width - LEFT - 16)
    marked = MARK in drawn  # only narrow columns have marks, wide ones have the resource's name
    marks, more = resource_legend(scene, left=LEFT, top=top + tall + 4) if marked else ("", 0.0)
    return colours + marks, top + tall + more


def _plan_rows(scene: Scene, sheet: Sheet, y: float) -> tuple[str, float]:
    most = max(1.0, sheet.top_share, float(scene.use.level.max(initial=0.0))) * 1.02
    parts, aside = [], max(sheet.aside, waiting_room(scene))
    for index, machines in enumerate(_rows(in_order(scene.cluster, sheet.group_by))):
        frame = Frame(left=LEFT, right=sheet.width - RIGHT - aside, top=y + 22, bottom=y + 22 + PLOT, most=most)
        row = columns(scene.cluster, machines, sheet.group_by, left=LEFT, room=frame.wide)
        drawn, below = draw_row(scene, row, frame)
        parts.append(drawn)
        if index == 0 and len(scene.placement.unplaced):
            parts.append(draw_waiting(scene, frame, left=row.right + 88))
            below = max(below, frame.bottom + WORDS)
        y = below + 8
    return "".join(parts), y


def _rows(machines: IntArray) -> list[IntArray]:
    """As few rows as needed, of about the same length."""
    rows = -(-len(machines) // PER_ROW)
    return [ints(part) for part in np.array_split(machines, rows)] if rows else []
