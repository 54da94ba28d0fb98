"""Packing services whose usage is random: filling machines, and the exact pricing of patterns."""

import numpy as np

from bayplan.kernels.pack.fill import Sizes, fill_in_order
from bayplan.kernels.pack.pricing import Bins, Table, best_patterns, make_table, may_pay


def warm_up() -> None:
    """Compile what a decision needs, with the types it uses."""
    one, two, whole = np.ones((1, 1)), np.ones((1, 2)), np.ones((1, 2), dtype=np.int64)
    sizes = Sizes(mean=two, variance=two, d=two, request=np.zeros((0, 2), dtype=np.int64))
    free = np.zeros((1, 0), dtype=np.int64)
    bins = Bins(full=4 * one, room=4 * one, variance=0 * one, d=0 * one, free=free, most=whole)
    fill_in_order(sizes, bins, np.arange(1), np.arange(2), np.ones(2, dtype=np.int64), np.zeros((1, 2), dtype=np.int64))
    table = Table(low=0.0, high=1.0, bound=np.zeros((3, 17)), weight=np.zeros(2), value=np.zeros(2), cell=0.5)
    value, order, worth = np.ones(2), np.arange(2), np.zeros(1)
    may_pay(sizes, bins, 1.0, value, True, order, worth, table)
    make_table(sizes, 1.0, value, True, order, table)
    found, nodes = np.zeros((1, 2), dtype=np.int64), np.zeros(1, dtype=np.int64)
    best_patterns(sizes, bins, np.ones(1), value, True, order, table, 1_000, worth, found, worth.copy(), nodes)
