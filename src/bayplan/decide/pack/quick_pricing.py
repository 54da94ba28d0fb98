"""Many good patterns in little time: from knapsacks on tangents, and by exchange from known ones. Nothing is proven."""

import numpy as np

from bayplan.decide.pack.pricing import (
    DeviateProblem,
    PricedPatterns,
    PricingProblem,
    deviate_problems,
    gathered,
    largest_variance,
)
from bayplan.kernels.pack.exchange import exchange
from bayplan.kernels.pack.tangent import make_tangent_table, tangent_patterns
from bayplan.model import FloatArray, IntArray

TANGENTS = 16  # spread over all variances
CELLS = 1_024  # of the free capacity, for those
CLOSER = 6  # tangents at the variances of the best patterns
FINE_CELLS = 8_192


def patterns_on_tangents(problem: PricingProblem) -> PricedPatterns:
    """Patterns that gain: for each bin one, or where there are few bins one with each workload.

    Tangents over all variances come first; then those at the variances of the best patterns, where a tangent is exact.
    """
    parts = []
    for part in deviate_problems(problem):
        top = np.sqrt(largest_variance(problem.sizes, part.bins, float(part.deviates[0])))
        touch = np.square((np.arange(TANGENTS) + 0.5) / TANGENTS * max(top, 1e-6))
        coarse = _on_tangents(part, touch, CELLS)
        close = _variances_of_best(part, coarse)
        fine = _on_tangents(part, close, FINE_CELLS) if len(close) else coarse
        parts.append(_gaining(part, fine if (fine[1] > coarse[1].max()).any() else coarse))
    return gathered(problem, parts, proven=False)


def _on_tangents(part: DeviateProblem, touches: FloatArray, cells: int) -> tuple[IntArray, FloatArray]:
    """(bin, kind, workload) the best patterns of all tangents, (bin, kind) what they gain."""
    problem, every = part.whole, part.few
    shape = (len(part.index), len(part.order) if every else 1)
    known = problem.sizes, part.bins, part.deviates, problem.value, problem.minimise_ucac, part.order
    width = max(float(part.bins.free_mean[:, 0].max()), 1e-9) / cells
    weight, value, last = np.zeros(len(part.order), dtype=np.int64), np.empty(cells + 1), np.empty(cells + 1, dtype=np.int64)
    pattern, worth = np.zeros((*shape, len(problem.value)), dtype=np.int64), np.zeros(shape)
    best_pattern, best = pattern.copy(), np.full(shape, -np.inf)
    scratch = _scratch(problem)
    for touch in touches.tolist():
        d, sizes = float(part.deviates[0]), problem.sizes
        make_tangent_table(sizes, d, problem.value, problem.minimise_ucac, part.order, touch, width, weight, value, last)
        tangent_patterns(*known, touch, width, weight, last, every, *scratch, pattern, worth)
        better = worth > best
        best[better], best_pattern[better] = worth[better], pattern[better]
    return best_pattern, best - part.shift[:, None]


def _variances_of_best(part: DeviateProblem, found: tuple[IntArray, FloatArray]) -> FloatArray:
    """A few different variances of the patterns that gain most."""
    pattern, gain = found
    variance = (part.bins.variance[:, :1] + pattern @ part.whole.sizes.variance[0]).ravel()
    order = np.argsort(-gain.ravel(), kind="stable")
    distinct = list(dict.fromkeys(variance[order][variance[order] > 0].tolist()))
    return np.array(distinct[:CLOSER])


def _gaining(part: DeviateProblem, found: tuple[IntArray, FloatArray]) -> tuple[IntArray, IntArray, FloatArray]:
    pattern, gain = found
    which = gain > part.whole.threshold
    return part.index[np.nonzero(which)[0]], pattern[which], gain[which]


def patterns_by_exchange(problem: PricingProblem, bins: IntArray, patterns: IntArray, *, deep: bool) -> PricedPatterns:
    """Patterns that gain, from these (pattern,) bins and (pattern, workload) patterns by exchanging up to two containers."""
    parts = []
    for part in deviate_problems(problem):
        at = np.searchsorted(part.index, bins)
        inside = np.isin(bins, part.index)
        foreign = np.setdiff1d(np.arange(len(problem.value)), np.flatnonzero(problem.sizes.d[0] <= part.deviates[0]))
        inside &= ~patterns[:, foreign].any(axis=1)
        pattern, worth = patterns[inside].copy(), np.zeros(int(inside.sum()))
        known = part.deviates, problem.value, problem.minimise_ucac, part.order
        change = np.zeros(4, dtype=np.int64)
        exchange(problem.sizes, part.bins, at[inside], *known, deep, *_scratch(problem), change, pattern, worth)
        gain = worth - part.shift[at[inside]]
        which = gain > problem.threshold
        parts.append((bins[inside][which], pattern[which], gain[which]))
    return gathered(problem, parts, proven=False)


def _scratch(problem: PricingProblem) -> tuple[FloatArray, IntArray]:
    """What a pattern uses, and what it leaves free."""
    return np.zeros((2, len(problem.sizes.mean))), np.zeros(len(problem.sizes.request), dtype=np.int64)
