"""Containers without a machine: piles beside the bay plan."""

import numpy as np

from bayplan.model import Resource
from bayplan.report.amounts import human_amount
from bayplan.report.pictures.frame import Frame
from bayplan.report.pictures.placement.bay_plan_data import BayPlanData, unplaced_blocks
from bayplan.report.svg import line, rect, text
from bayplan.words import count

AVERAGE = "The outline is an average machine: a block's height is its largest share of one"
PILES = 3  # at most; if there are more, the last one is a number
WORDS_BELOW = 48.0  # pixels of words below the piles
_WIDE, _STEP = 40.0, 48.0


def unplaced_width(data: BayPlanData) -> float:
    """Pixels to keep free at the right; none if everything is placed."""
    if not len(data.placement.unplaced):
        return 0.0
    piles = int(unplaced_blocks(data.cluster, data.placement, data.palette).machine.max()) + 1
    return 50 + max(2, min(PILES, piles)) * _STEP


def draw_unplaced(data: BayPlanData, frame: Frame, *, left: float) -> str:
    """The piles and their outline. What does not fit in them is a number in the last one."""
    blocks = unplaced_blocks(data.cluster, data.placement, data.palette)
    all_piles = int(blocks.machine.max()) + 1
    piles, drawn = min(PILES, all_piles), all_piles if all_piles <= PILES else PILES - 1
    parts = [line(left - 6, frame.bottom, left + max(2, piles) * _STEP, frame.bottom, "floor")]
    for b in np.flatnonzero(blocks.machine < drawn).tolist():
        base, share = float(blocks.base[b]), min(float(blocks.height[b]), frame.most)
        x, y = left + _STEP * float(blocks.machine[b]), frame.y(base + share)
        class_ = f"s{data.palette.colour[blocks.service[b]]} w"
        words = f"{data.container_words(int(blocks.container[b]))}\nwithout a machine"
        parts.append(rect(x, y, _WIDE, max(0.5, frame.tall(share) - 1), class_, words))
    parts += [rect(left + _STEP * k - 2, frame.y(1), _WIDE + 4, frame.tall(1), "waiting", AVERAGE) for k in range(piles)]
    return "".join(
        [*parts, *_hidden(int((blocks.machine >= drawn).sum()), frame, left), *_words(len(blocks), all_piles, frame, left)]
    )


def _hidden(number: int, frame: Frame, left: float) -> list[str]:
    """How many containers are not drawn, in the last pile."""
    if not number:
        return []
    middle, y = left + _STEP * (PILES - 1) + _WIDE / 2, frame.y(0.5)
    shown = f"+{human_amount(number, Resource(name='containers'))}"
    return [text(middle, y, shown, "strong mid"), text(middle, y + 15, "more", "soft small mid")]


def _words(number: int, piles: int, frame: Frame, left: float) -> list[str]:
    lines = [count(number, "container"), *([f"about {piles:,} machines' worth"] if piles > 1 else [])]
    notes = (text(left, frame.bottom + 31 + 14 * k, words, "soft small") for k, words in enumerate(lines))
    return [text(left, frame.bottom + 16, "unplaced", "strong"), *notes]
