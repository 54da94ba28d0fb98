"""Examples of calls of the kernels of packing, with the types that decisions use."""

import numpy as np

from bayplan.kernels.pack.exchange import exchange
from bayplan.kernels.pack.fill import Bins, Sizes, fill_in_order, max_containers
from bayplan.kernels.pack.pricing import KnapsackTable, PatternSearch, best_patterns, can_pay, make_table, survivors
from bayplan.kernels.pack.tangent import make_tangent_table, tangent_patterns


def warm_up() -> None:
    """Call everything that a decision calls."""
    one, two, ones = np.ones((1, 1)), np.ones((1, 2)), np.ones((1, 2), dtype=np.int64)
    sizes = Sizes(mean=two, variance=two, d=two, request=np.zeros((0, 2), dtype=np.int64))
    free = np.zeros((1, 0), dtype=np.int64)
    bins = Bins(capacity=4 * one, free_mean=4 * one, variance=0 * one, d=0 * one, free=free, max_count=ones)
    fill_in_order(sizes, bins, np.arange(1), np.arange(2), np.ones(2, dtype=np.int64), np.zeros((1, 2), dtype=np.int64))
    max_containers(sizes, bins, 0, 0, 1)
    table = KnapsackTable(low=0.0, high=1.0, bound=np.zeros((3, 17)), weight=np.zeros(2), value=np.zeros(2), cell_width=0.5)
    value, order, worth = np.ones(2), np.arange(2), np.zeros(1)
    can_pay(sizes, bins, 1.0, value, True, order, worth, table)
    make_table(sizes, 1.0, value, True, order, table)
    kept, cut = np.zeros(2, dtype=np.bool_), np.zeros(1, dtype=np.bool_)
    survivors(sizes, bins, 1.0, True, order, worth, table, kept)
    used, nothing, four = np.zeros((2, 1)), np.zeros(0, dtype=np.int64), np.zeros(4, dtype=np.int64)
    state = PatternSearch(at=four, sums=np.zeros(2), used=used, free=nothing, pattern=np.zeros(2, dtype=np.int64))
    patterns, pattern = np.zeros((1, 2, 2), dtype=np.int64), np.zeros((1, 2), dtype=np.int64)
    known = sizes, bins, np.ones(1), value, True, order
    best_patterns(*known, table, 1_000, 1_000, worth, state, pattern, worth.copy(), cut)
    cells, best, last = np.zeros(2, dtype=np.int64), np.zeros(9), np.zeros(9, dtype=np.int64)
    make_tangent_table(sizes, 1.0, value, True, order, 1.0, 0.5, cells, best, last)
    tangent_patterns(*known, 1.0, 0.5, cells, last, True, used, nothing, patterns, np.zeros((1, 2)))
    exchange(sizes, bins, np.zeros(1, dtype=np.int64), np.ones(1), value, True, order, True, used, nothing, four, pattern, worth)
