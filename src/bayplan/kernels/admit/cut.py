"""The least traffic between groups of members of one request, each group small enough for the roomiest zone."""

import numpy as np

from bayplan.kernels.search.compiled import kernel


@kernel
def least_cut(demand, room, traffic, groups, nodes, used, group, paid):
    """The least traffic between different groups, at most `groups` of them; infinite: there are none; below 0: out of nodes.

    demand (member, resource), room (resource,), traffic (member, member) of both directions. Members are taken in order, into one
    of the groups there are or into a new one: no two branches are the same partition. Work: used (group, resource),
    group (member,) and paid (member + 1,).
    """
    n_v = len(demand)
    best, v = np.inf, 0
    used[:] = 0
    group[:] = -1
    paid[0] = 0.0
    while v >= 0:
        if v == n_v:
            best = paid[v]  # only a path that costs less comes here
            v -= 1
            continue
        at = group[v]
        if at >= 0:
            for r in range(len(room)):
                used[at, r] -= demand[v, r]
        opened = highest(group, v) + 1
        at += 1
        while at < min(opened + 1, groups) and not better(demand, room, traffic, used, group, paid, v, at, best):
            at += 1
        if at >= min(opened + 1, groups):
            group[v] = -1
            v -= 1
            continue
        nodes -= 1
        if nodes < 0:
            return -1.0
        group[v] = at
        for r in range(len(room)):
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
def better(demand, room, traffic, used, group, paid, v, at, best):
    """Does v fit into a group, and is that less than the best? Writes what is paid then."""
    for r in range(len(room)):
        if used[at, r] + demand[v, r] > room[r]:
            return False
    cost = paid[v]
    for w in range(v):
        if group[w] != at:
            cost += traffic[v, w]
    paid[v + 1] = cost
    return cost < best


def warm_up_cut() -> None:
    """Compile with the types that are used."""
    one, work = np.ones((1, 1), dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
    least_cut(one, one[0], np.zeros((1, 1)), 1, 10, work, work[0].copy(), np.zeros(2))
