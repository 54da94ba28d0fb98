"""Containers that have no machine: piles beside the bay plan."""

import numpy as np

from bayplan.report.amounts import count
from bayplan.report.pictures.blocks import waiting
from bayplan.report.pictures.frame import Frame
from bayplan.report.pictures.scene import Scene
from bayplan.report.svg import line, rect, text

AVERAGE = "The outline is an average machine: a block's height is its largest share of one"
PILES = 3  # as many stand beside the plan; what is more is a number
_WIDE, _STEP = 40.0, 48.0


def waiting_room(scene: Scene) -> float:
    """Pixels to keep free at the right; none if everything is placed."""
    if not len(scene.placement.unplaced):
        return 0.0
    piles = int(waiting(scene.cluster, scene.placement, scene.palette).machine.max()) + 1
    return 50 + max(2, min(PILES, piles)) * _STEP


def draw_waiting(scene: Scene, frame: Frame, *, left: float) -> str:
    """The piles, their outline, and how much is not drawn."""
    blocks = waiting(scene.cluster, scene.placement, scene.palette)
    piles = min(PILES, int(blocks.machine.max()) + 1)
    parts = [line(left - 6, frame.bottom, left + max(2, piles) * _STEP, frame.bottom, "floor")]
    for b in np.flatnonzero(blocks.machine < PILES).tolist():
        base, share = float(blocks.base[b]), min(float(blocks.height[b]), frame.most)
        x, y = left + _STEP * float(blocks.machine[b]), frame.y(base + share)
        class_ = f"s{scene.palette.colour[blocks.service[b]]} w"
        words = f"{scene.container_words(int(blocks.container[b]))}\nwithout a machine"
        parts.append(rect(x, y, _WIDE, max(0.5, frame.tall(share) - 1), class_, words))
    parts += [rect(left + _STEP * k - 2, frame.y(1), _WIDE + 4, frame.tall(1), "waiting", AVERAGE) for k in range(piles)]
    hidden = int((blocks.machine >= PILES).sum())
    parts.append(text(left, frame.bottom + 16, "waiting", "strong"))
    note = count(len(blocks), "container") + (f", {hidden:,} not drawn" if hidden else "")
    parts.append(text(left, frame.bottom + 31, note, "soft small"))
    return "".join(parts)
