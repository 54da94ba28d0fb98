"""The field of a picture whose height is a share of a machine: its scale, its grid, its lines."""

from dataclasses import dataclass

import numpy as np

from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.pictures.axis import share_step
from bayplan.report.svg import line, text

LEFT, RIGHT = 48.0, 74.0  # space for the scale and for the names of the lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where a row is drawn, and what share its top stands for."""

    left: float
    right: float
    top: float
    bottom: float
    most: float

    @property
    def wide(self) -> float:
        """Pixels from left to right."""
        return self.right - self.left

    def y(self, share: float) -> float:
        """The height of a share."""
        return self.bottom - self.tall(share)

    def tall(self, share: float) -> float:
        """How many pixels a share takes."""
        return (self.bottom - self.top) * share / self.most


def grid(frame: Frame) -> str:
    """Lines at every quarter, or half, or more, with their shares at the left."""
    step = share_step(28 / frame.tall(1.0))
    shares = np.arange(step, frame.most, step).tolist()
    lines = (line(frame.left, frame.y(s), frame.right, frame.y(s), "grid") for s in shares)
    return "".join([*lines, *(text(frame.left - 8, frame.y(s) + 4, percent(s), "soft small end") for s in shares)])


def floor_and_capacity(frame: Frame, end: float) -> str:
    """The two lines every stack stands between."""
    return "".join(
        [
            line(frame.left, frame.bottom, end, frame.bottom, "floor"),
            line(frame.left, frame.y(1), end, frame.y(1), "capacity"),
            text(end + 5, frame.y(1) + 4, "capacity", "small"),
        ]
    )


def safety_label(frame: Frame, end: float, safety: float) -> str:
    """The word at the safety line, kept clear of the word at the capacity line."""
    return text(end + 5, max(frame.y(safety), frame.y(1) + 13) + 4, "safety", "small hot halo")


def caption(heading: str, words: str, width: float) -> tuple[str, float]:
    """A heading and what the picture shows, and where the picture may begin."""
    lines = svg.wrapped(words, width - LEFT - 24, 11.4)
    body = [text(LEFT, 44 + 16 * k, content, "soft") for k, content in enumerate(lines)]
    end = 44.0 + 16 * len(lines) if lines else 30.0
    return "".join([text(LEFT, 24, svg.shortened(heading, width - LEFT - 24, 15), "head"), *body]), end
