"""The bay plan: each machine a stack, each container a block in it.

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
from bayplan.report.pictures.frame import LEFT, RIGHT, Frame, caption
from bayplan.report.pictures.placement.bay_plan_data import BayPlanData, BayPlanOptions, columns, in_order
from bayplan.report.pictures.placement.legend import resource_legend, service_legend, state_words
from bayplan.report.pictures.placement.overview import overview_body
from bayplan.report.pictures.placement.stacks import MARK, draw_row
from bayplan.report.pictures.placement.unplaced import WORDS_BELOW, draw_unplaced, unplaced_width

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

    Up to 240 machines and 8000 containers every container is a block; beyond that, an overview. `group_by` names a
    topology level; `highlight` are containers to outline while the others pale.
    """
    data = BayPlanData.of(cluster, placement, highlight)
    body, height = plan_body(data, BayPlanOptions(width=width, group_by=group_by))
    return svg.document(width, height, f"Bay plan of {name_of(cluster)}: {scale_of(cluster)}", CAPTION, body)


def plan_body(data: BayPlanData, options: BayPlanOptions) -> tuple[str, float]:
    """The drawing inside of the document, and its height."""
    if is_big(data):
        return overview_body(data, options)
    facts = state_words(data.use, data.placement, data.cluster)
    words, y = caption(f"{name_of(data.cluster)}: {scale_of(data.cluster)}", f"{CAPTION} {facts}", options.width)
    drawn, y = _plan_rows(data, options, y)
    legend, y = plan_legend(data, drawn, y + 8, options.width)
    return "".join([words, drawn, legend]), y + 6


def is_big(data: BayPlanData) -> bool:
    """Is it too much for one block per container?"""
    return len(data.cluster.machines.name) > MOST_STACKS or len(data.blocks) > MOST_BLOCKS


def plan_legend(data: BayPlanData, drawn: str, top: float, width: float) -> tuple[str, float]:
    """The colours of the services and, if `drawn` has them, the marks of the resources; and how far down they reach."""
    colours, tall = service_legend(data.cluster, data.palette, left=LEFT, top=top, space=width - LEFT - 16)
    marked = MARK in drawn  # only narrow columns have marks, wide ones have the resource's name
    marks, more = resource_legend(data, left=LEFT, top=top + tall + 4) if marked else ("", 0.0)
    return colours + marks, top + tall + more


def _plan_rows(data: BayPlanData, options: BayPlanOptions, y: float) -> tuple[str, float]:
    most = max(1.0, float(data.use.level.max(initial=0.0))) * 1.02
    parts, aside = [], unplaced_width(data)
    for index, machines in enumerate(_rows(in_order(data.cluster, options.group_by))):
        frame = Frame(left=LEFT, right=options.width - RIGHT - aside, top=y + 22, bottom=y + 22 + PLOT, most=most)
        row = columns(data.cluster, machines, options.group_by, left=LEFT, space=frame.wide)
        drawn, below = draw_row(data, row, frame)
        parts.append(drawn)
        if index == 0 and len(data.placement.unplaced):
            parts.append(draw_unplaced(data, frame, left=row.right + 88))
            below = max(below, frame.bottom + WORDS_BELOW)
        y = below + 8
    return "".join(parts), y


def _rows(machines: IntArray) -> list[IntArray]:
    """As few rows as needed, of about the same length."""
    rows = -(-len(machines) // PER_ROW)
    return [ints(part) for part in np.array_split(machines, rows)] if rows else []
