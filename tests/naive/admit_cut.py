"""The least traffic between groups of members by trying every grouping: the twin of kernels/admit/cut.py."""

from itertools import product

import numpy as np


def least_cut(demand, free, traffic, groups):
    """`traffic` is of both directions, each pair once: infinite if no grouping fits."""
    best, members = np.inf, range(len(demand))
    for group in product(range(groups), repeat=len(demand)):
        fits = all((demand[[v for v in members if group[v] == g]].sum(axis=0) <= free).all() for g in range(groups))
        if fits:
            best = min(best, sum(traffic[v, w] for v in members for w in range(v) if group[v] != group[w]))
    return best
