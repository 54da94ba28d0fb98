"""Requests within the time that is known: ends that are not known become its end."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import BoolArray, FloatArray, floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window:
    """What is left of requests, and what became of the others in words."""

    kept: BoolArray  # (request,) does it start before the horizon?
    end: FloatArray  # (request,) all known, and none after the horizon if there is one
    notes: tuple[str, ...]


def within(start: FloatArray, end: FloatArray, horizon: float | None) -> Window:
    """Requests up to `horizon`; an end of NaN is not known. None: the latest time that is known, for those alone."""
    open_end = np.isnan(end)
    if horizon is None and not open_end.any():
        return Window(kept=np.ones(len(start), dtype=np.bool_), end=end, notes=())
    last = float(np.fmax.reduce(np.concatenate([start, end]), initial=-np.inf)) if horizon is None else horizon
    late = (start >= last) & (open_end if horizon is None else True)
    cut = ~late & ~open_end & (end > last)
    said = [
        (int((open_end & ~late).sum()), f"not ended: taken to run until the horizon, {last:g}"),
        (int(cut.sum()), f"an end after the horizon, {last:g}: cut off there"),
        (int(late.sum()), f"a start at or after the horizon, {last:g}: left out"),
    ]
    notes = tuple(f"{'1 request has' if many == 1 else f'{many:,} requests have'} {words}" for many, words in said if many)
    return Window(kept=~late, end=floats(np.where(open_end | cut, last, end)), notes=notes)
