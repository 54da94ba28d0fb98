"""Before and after on one scale: what changed is outlined, what stayed is pale."""

import numpy as np

from bayplan.model import Cluster, IntArray, Placement, ints
from bayplan.report import svg
from bayplan.report.names import name_of
from bayplan.report.pictures.frame import caption
from bayplan.report.pictures.placement.bay_plan import is_big, plan_body, plan_legend
from bayplan.report.pictures.placement.bay_plan_data import BayPlanData, BayPlanOptions
from bayplan.report.pictures.placement.unplaced import unplaced_width
from bayplan.report.svg import element, number
from bayplan.words import count

SIDE_BY_SIDE = 24  # with more machines the two plans are drawn one above the other

CAPTION = (
    "The same machines before and after, on one scale. Containers that changed machines are outlined in both, the others "
    "are pale. The height of a block is the container's share of the machine's fullest resource."
)
BIG = "The same machines before and after, on one scale, each time the fullest first."


def before_after(cluster: Cluster, before: Placement, after: Placement, *, width: int = 1120, group_by: str | None = None) -> str:
    """Two bay plans, as one SVG document: beside each other for a few machines, else one above the other."""
    changed = changed_containers(before, after)
    plans = [BayPlanData.of(cluster, placement, changed) for placement in (before, after)]
    big, beside = any(map(is_big, plans)), len(cluster.machines.name) <= SIDE_BY_SIDE
    words = BIG if big else CAPTION
    head, y = caption(f"{name_of(cluster)}: {change_words(before, after)}", words, width)
    drawn, below = _both(plans, width / 2 if beside else float(width), group_by, beside)
    parts, below = [head, element("g", drawn, transform=f"translate(0 {number(y)})")], y + below
    legend, below = ("", below) if big else plan_legend(plans[1], drawn, below + 4, width)  # an overview has its own
    return svg.document(width, below + 6, f"{name_of(cluster)} before and after", words, "".join([*parts, legend]))


def _both(plans: list[BayPlanData], width: float, group_by: str | None, beside: bool) -> tuple[str, float]:
    highest = max(float(data.use.level.max(initial=0.0)) for data in plans)
    aside = max(unplaced_width(data) for data in plans)
    options = [
        BayPlanOptions(width=width, group_by=group_by, heading=heading, words="", top_share=highest, aside=aside, legend=False)
        for heading in ("Before", "After")
    ]
    (first, tall), (second, also) = (plan_body(data, drawn) for data, drawn in zip(plans, options, strict=True))
    at = (width, 0.0) if beside else (0.0, tall)
    moved = element("g", second, transform=f"translate({number(at[0])} {number(at[1])})")
    return first + moved, max(tall, also) if beside else tall + also


def changed_containers(before: Placement, after: Placement) -> IntArray:
    """Containers that moved, came or went."""
    return ints(np.flatnonzero(before.machine_of != after.machine_of))


def change_words(before: Placement, after: Placement) -> str:
    """'37 containers moved, 4 placed, 1 taken away'."""
    moved = len(after.moved_from(before))
    came = int(((before.machine_of < 0) & (after.machine_of >= 0)).sum())
    went = int(((before.machine_of >= 0) & (after.machine_of < 0)).sum())
    parts = [
        f"{count(moved - went, 'container')} moved",
        f"{came:,} placed" if came else "",
        f"{went:,} taken away" if went else "",
    ]
    return ", ".join(filter(None, parts))
