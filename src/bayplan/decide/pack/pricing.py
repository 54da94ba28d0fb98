"""New patterns for a master problem: for each group of machines those of the least reduced cost, exactly."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.decide.pack.bins import chosen
from bayplan.kernels.pack.fill import Bins, Sizes
from bayplan.kernels.pack.pricing import Tables, best_patterns, make_tables, mark_used
from bayplan.model import FloatArray, IntArray, ints

INTERVALS = 16  # of the variance


class Effort(NamedTuple):
    """How hard to look."""

    cells: int  # of the room, in the tables
    nodes: int  # of one search; beyond it nothing is proven


EFFORTS = (Effort(1_024, 2_000), Effort(8_192, 100_000), Effort(65_536, 50_000_000))  # the next, where one finds nothing
FEW = 8  # bins; where there are more, the first effort is made smaller and each gives one pattern a round


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """Patterns that gain more than was asked for."""

    bin: IntArray  # (found,)
    pattern: IntArray  # (found, service)
    gain: FloatArray  # (found,) value - cost - base
    proven: bool  # if there is none: is there really none?


def price_patterns(
    sizes: Sizes, bins: Bins, value: FloatArray, base: FloatArray, *, priced: bool, least: float, thorough: bool = False
) -> Found:
    """Patterns with the largest value - cost - base of each bin and interval of the variance, if that is more than `least`.

    `priced`: the cost is the uncertainty that a pattern adds; otherwise it is in `base` (bin,). `thorough`: the best of all, not
    only some that gain.
    """
    for effort in EFFORTS[-1:] if thorough else EFFORTS:
        found = _priced(sizes, bins, value, base, priced, least, effort)
        if len(found.gain) or found.proven:
            break
    return found


def _priced(sizes: Sizes, bins: Bins, value: FloatArray, base: FloatArray, priced: bool, least: float, effort: Effort) -> Found:
    """Services may have deviates of their own: every level is searched with the services that ask for no more."""
    parts, proven = [], True
    for level in np.unique(np.concatenate([sizes.d[0], bins.d[:, 0]])).tolist():
        some, order = np.flatnonzero(bins.d[:, 0] <= level), _order(sizes, level, value)
        if level <= 0.0 or not len(some) or not len(order):
            continue
        part = chosen(bins, some)
        shift = base[some] + ((level - part.d[:, 0]) * np.sqrt(part.variance[:, 0]) if priced else 0.0)
        tables = _tables(sizes, part, level, len(order), effort.cells)
        mark_used(sizes, part, level, value, priced, order, shift + least, tables)
        make_tables(sizes, level, value, priced, order, tables)
        pattern = np.zeros((len(some), INTERVALS, len(value)), dtype=np.int64)
        worth, nodes = np.zeros((len(some), INTERVALS)), np.zeros(len(some), dtype=np.int64)
        few, levels = len(some) <= FEW, np.array([level, *sizes.d[1:, order].max(axis=1)])
        limit = effort.nodes if few or effort is not EFFORTS[0] else max(50, FEW * effort.nodes // len(some))
        best_patterns(sizes, part, levels, value, priced, order, tables, limit, few, shift + least, pattern, worth, nodes)
        proven = proven and bool((nodes >= 0).all())
        i, e = np.nonzero(worth > (shift + least)[:, None])
        parts.append((some[i], pattern[i, e], (worth - shift[:, None])[i, e]))
    if not parts:
        return Found(bin=ints([]), pattern=np.zeros((0, len(value)), dtype=np.int64), gain=np.zeros(0), proven=proven)
    return Found(
        bin=np.concatenate([part[0] for part in parts]),
        pattern=np.concatenate([part[1] for part in parts]),
        gain=np.concatenate([part[2] for part in parts]),
        proven=proven,
    )


def _order(sizes: Sizes, level: float, value: FloatArray) -> IntArray:
    """Services that ask for no more than this level and are worth something, the most worth for their size first."""
    size = sizes.mean[0] + level * np.sqrt(sizes.variance[0])
    some = np.flatnonzero((sizes.d[0] <= level) & (value > 0.0))
    return some[np.argsort(-value[some] / np.maximum(size[some], 1e-12), kind="stable")]


def _tables(sizes: Sizes, bins: Bins, level: float, services: int, cells: int) -> Tables:
    """Empty tables whose intervals hold every variance that a pattern can have."""
    top = np.sqrt(_largest_variance(sizes, bins, level))
    edge = np.square(np.linspace(0.0, max(top, 1e-6) * (1.0 + 1e-9), INTERVALS + 1))
    lists = np.zeros((INTERVALS, services))
    return Tables(
        edge=edge,
        bound=np.empty((INTERVALS, services + 1, cells + 1)),
        weight=lists,
        value=lists.copy(),
        used=np.ones(INTERVALS, dtype=np.bool_),
        cell=max(float(bins.room[:, 0].max()), 1e-9) / cells,
    )


def _largest_variance(sizes: Sizes, bins: Bins, level: float) -> float:
    """No pattern has more: rate * (S - B) + level * sqrt(S) <= room, with the least mean that comes with a variance."""
    varies = sizes.variance[0] > 0
    rate = float((sizes.mean[0][varies] / sizes.variance[0][varies]).min()) if varies.any() else 1.0
    room, start = np.maximum(0.0, bins.room[:, 0]), bins.variance[:, 0]
    root = (room + rate * start) * 2.0 / (level + np.sqrt(level * level + 4.0 * rate * (room + rate * start)))
    return float(np.maximum(np.square(root), start).max()) * (1.0 + 1e-9)
