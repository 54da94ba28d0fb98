"""The least traffic between groups of members of one request, each group small enough for the largest zone."""

import numpy as np

from bayplan.kernels.jit import kernel


@kernel
def least_cut(demand, capacity, traffic, groups, nodes, used, group, paid):
    """The least traffic between different groups, at most `groups` of them; infinite: there are none; below 0: out of nodes.

    demand (member, resource), capacity (resource,), traffic (member, member) of both directions. Members go in order
    into an existing group or a new one: no two branches are the same partition. Scratch: used (group, resource), group (member,)
    and paid (member + 1,).
    """
    n_v = len(demand)
    best, v = np.inf, 0
    used[:] = 0
    group[:] = -1
    paid[0] = 0.0
    while v >= 0:
        if v == n_v:
            best = paid[v]  # only a path that costs less gets here
            v -= 1
            continue
        at = group[v]
        if at >= 0:
            for r in range(len(capacity)):
                used[at, r] -= demand[v, r]
        groups_open = highest(group, v) + 1
        at += 1
        while at < min(groups_open + 1, groups) and not fits_and_improves(
            demand, capacity, traffic, used, group, paid, v, at, best
        ):
            at += 1
        if at >= min(groups_open + 1, groups):
            group[v] = -1
            v -= 1
            continue
        nodes -= 1
        if nodes < 0:
            return -1.0
        group[v] = at
        for r in range(len(capacity)):
            used[at, r] += demand[v, r]
        v += 1
    return best


@kernel
def highest(group, v):
    """The highest group of the members before v; -1 if there are none."""
    most = -1
    for w in range(v):
        most = max(most, group[w])
    return most


@kernel
def fits_and_improves(demand, capacity, traffic, used, group, paid, v, at, best):
    """Does v fit into a group, at less than the best cost? Writes what is paid then."""
    for r in range(len(capacity)):
        if used[at, r] + demand[v, r] > capacity[r]:
            return False
    cost = paid[v]
    for w in range(v):
        if group[w] != at:
            cost += traffic[v, w]
    paid[v + 1] = cost
    return cost < best
