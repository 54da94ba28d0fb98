"""Packing services whose usage is random: filling machines, and the exact pricing of patterns."""

import numpy as np

from bayplan.kernels.pack.fill import Sizes, fill_in_order
from bayplan.kernels.pack.pricing import Bins, Tables, best_patterns, make_tables, mark_used


def warm_up() -> None:
    """Compile what a decision needs, with the types it uses."""
    one, two, whole = np.ones((1, 1)), np.ones((1, 2)), np.ones((1, 2), dtype=np.int64)
    sizes = Sizes(mean=two, variance=two, d=two, request=np.zeros((0, 2), dtype=np.int64))
    free = np.zeros((1, 0), dtype=np.int64)
    bins = Bins(full=4 * one, room=4 * one, variance=0 * one, d=0 * one, free=free, most=whole)
    fill_in_order(sizes, bins, np.arange(1), np.arange(2), np.ones(2, dtype=np.int64), np.zeros((1, 2), dtype=np.int64))
    edge, lists, used = np.array([0.0, 1.0, 4.0]), np.zeros((2, 2)), np.ones(2, dtype=np.bool_)
    tables = Tables(edge=edge, bound=np.zeros((2, 3, 17)), weight=lists, value=lists.copy(), used=used, cell=0.5)
    value, order, worth = np.ones(2), np.arange(2), np.zeros(1)
    mark_used(sizes, bins, 1.0, value, True, order, worth, tables)
    make_tables(sizes, 1.0, value, True, order, tables)
    found, gain, nodes = np.zeros((1, 2, 2), dtype=np.int64), np.zeros((1, 2)), np.zeros(1, dtype=np.int64)
    best_patterns(sizes, bins, np.ones(1), value, True, order, tables, 1_000, True, worth, found, gain, nodes)
