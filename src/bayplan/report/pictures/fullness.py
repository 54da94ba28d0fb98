"""The colours of fullness: ten steps up to the safety capacity, one for above it, one for above capacity."""

from collections.abc import Sequence

import numpy as np

from bayplan.model import BoolArray, FloatArray, IntArray, ints
from bayplan.report.svg import element, escaped, rect, text, width_of

OVER_SAFETY, OVER_CAPACITY, NONE = 10, 11, 12
CLASSES = (*(f"h{step}" for step in range(12)), "hx")
WORDS = (*(f"{10 * step}–{10 * step + 10}\u00a0%" for step in range(10)), "over safety", "over capacity", "none")


def steps(share: FloatArray, hot: BoolArray, over: BoolArray) -> IntArray:
    """The index into `CLASSES` of every share; `NONE` where there is no number and nothing is over capacity."""
    known = np.nan_to_num(share)
    step = np.clip((known * 10).astype(np.int64), 0, 9)
    step = np.where(hot, OVER_SAFETY, step)
    step = np.where(np.isnan(share), NONE, step)
    return ints(np.where(over, OVER_CAPACITY, step))


def fullness_legend(present: Sequence[int], *, left: float, top: float, none: str = "") -> str:
    """The scale from empty to full, and the warnings that occur."""
    parts = [text(left, top + 10, "empty", "soft small")]
    x = left + 46
    for step in range(10):
        parts.append(element("g", element("title", escaped(WORDS[step])), rect(x, top, 20, 11, CLASSES[step])))
        x += 20
    parts.append(text(x + 6, top + 10, "full", "soft small"))
    x += 46
    for step in (OVER_SAFETY, OVER_CAPACITY, NONE):
        words = none if step == NONE else WORDS[step]
        if step in present and words:
            parts += [rect(x, top, 11, 11, CLASSES[step]), text(x + 17, top + 10, words, "soft small")]
            x += 17 + width_of(words, 11) + 22
    return "".join(parts)
