"""The cheapest placement of one request ([Online clusters] IQP (4)): depth first, the bound of `message_bound` at every node."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.admit.message_bound import least_beside, least_of, sum_of_least, tighten
from bayplan.kernels.admit.zone_problem import UNPLACED, copy, fits, links_fit
from bayplan.kernels.jit import kernel

SLACK = 1e-10  # of the best: what is not better by more than this is rounding
MIN_PROGRESS = 1e-3  # of what lies between bound and best: with less than this a further round gains nothing
FIRST_ROUNDS, ROUNDS = 50, 2  # of tightening, at the root and below


class BranchTree(NamedTuple):
    """The path from the root to the present node; members[:depth] have a zone, the others are open."""

    members: npt.NDArray[np.int64]  # (depth,)
    zone: npt.NDArray[np.int64]  # (member,)
    free: npt.NDArray[np.int64]  # (zone, resource)
    paid: npt.NDArray[np.float64]  # (depth + 1,) cost of the members that have a zone
    single: npt.NDArray[np.float64]  # (depth + 1, member, zone) cost beside them
    lam: npt.NDArray[np.float64]  # (depth + 1, member, member, zone) what has been moved from pairs
    child: npt.NDArray[np.int64]  # (depth, zone) zones for members[depth], the most promising first
    bound: npt.NDArray[np.float64]  # (depth, zone) of each child
    next: npt.NDArray[np.int64]  # (2, depth) the next child, and the number of children
    work: npt.NDArray[np.float64]  # (3, zone)


@kernel
def branch(problem, tables, tree, nodes, best_out, zone_out):
    """The number of nodes visited, at most `nodes`. `best_out`: the least cost, and a bound on it; `zone_out`: its zones.

    On entry best_out[0] is the cost of the placement in `zone_out`, or infinite. Zones: lowest bound first, then lowest index.
    """
    visited, depth = 0, init_root(problem, tables, tree, best_out[0])
    while depth >= 0:
        if tree.next[0, depth] == tree.next[1, depth] or tree.bound[depth, tree.next[0, depth]] >= cutoff(best_out[0]):
            depth -= 1
            if depth >= 0:
                leave_child(problem, tree, depth)
            continue
        if visited == nodes:
            best_out[1] = min(best_out[0], open_bound(tree, depth))
            return visited
        visited += 1
        if not enter_child(problem, tree, depth):
            continue
        if depth + 1 == len(tree.members):
            v = tree.members[depth]
            best_out[0] = tree.paid[depth] + tree.single[depth, v, tree.zone[v]]
            copy(tree.zone, zone_out)
            leave_child(problem, tree, depth)
            continue
        descend(problem, tables, tree, depth)
        depth += 1
        expand(tables, tree, depth, best_out[0], ROUNDS)
    best_out[1] = best_out[0]
    return visited


@kernel
def cutoff(best):
    """The bound that a node must be below to be visited."""
    return best - SLACK * best if best < np.inf else np.inf


@kernel
def init_root(problem, tables, tree, best):
    """Initialise the root; its depth, 0."""
    for v in range(len(tree.members)):
        tree.members[v] = v
        tree.zone[v] = UNPLACED
    for z in range(len(tree.free)):
        copy(problem.available[z], tree.free[z])
    tree.paid[0] = 0.0
    tree.lam[0] = 0.0
    for v in range(len(tree.members)):
        copy(tables.single[v], tree.single[0, v])
        for z in range(len(tree.free)):
            if not fits(problem, tree.free, v, z):
                tree.single[0, v, z] = tables.forbidden_cost[0]
    expand(tables, tree, 0, best, FIRST_ROUNDS)
    return 0


@kernel
def enter_child(problem, tree, depth):
    """Put the member of this depth into the next of its zones; False if a link does not carry it."""
    v, z = tree.members[depth], tree.child[depth, tree.next[0, depth]]
    tree.next[0, depth] += 1
    tree.zone[v] = z
    if not links_fit(problem, tree.zone, v):
        tree.zone[v] = UNPLACED
        return False
    for r in range(tree.free.shape[1]):
        tree.free[z, r] -= problem.demand[v, r]
    return True


@kernel
def leave_child(problem, tree, depth):
    """Take the member of this depth out of its zone."""
    v = tree.members[depth]
    for r in range(tree.free.shape[1]):
        tree.free[tree.zone[v], r] += problem.demand[v, r]
    tree.zone[v] = UNPLACED


@kernel
def descend(problem, tables, tree, depth):
    """What the open members cost beside the member of this depth in its zone, where they still fit."""
    v = tree.members[depth]
    z = tree.zone[v]
    single, lam = tree.single[depth], tree.lam[depth]
    tree.paid[depth + 1] = tree.paid[depth] + single[v, z]
    for i in range(depth + 1, len(tree.members)):
        w = tree.members[i]
        new = tree.single[depth + 1, w]
        copy(single[w], new)
        if tables.talks[v, w]:
            for y in range(len(new)):
                new[y] += tables.pair[v, w, z, y] - lam[v, w, z] - lam[w, v, y]
        if not fits(problem, tree.free, w, z):
            new[z] = tables.forbidden_cost[0]
        for j in range(depth + 1, len(tree.members)):
            copy(lam[w, tree.members[j]], tree.lam[depth + 1, w, tree.members[j]])


@kernel
def expand(tables, tree, depth, best, rounds):
    """Raise the bound of a node, and list the children of the open member that has the fewest worth visiting."""
    goal = min(cutoff(best), tables.forbidden_cost[0])
    margin = goal - tree.paid[depth]
    tree.next[:, depth] = 0
    single, lam, open_members = tree.single[depth], tree.lam[depth], tree.members[depth:]
    bound = sum_of_least(open_members, single)
    for _ in range(rounds):
        if bound >= margin:
            return
        before = bound
        bound = tighten(tables.pair, tables.talks, open_members, single, lam, tree.work)
        if bound - before < MIN_PROGRESS * (margin - before):
            break
    if bound < margin:
        chosen = choose_member(tables, tree, depth, margin)
        if chosen >= 0:
            v = tree.members[chosen]
            tree.members[chosen] = tree.members[depth]
            tree.members[depth] = v
            child_bounds(tables, tree, depth, v, tree.work[2])
            list_children(tree, depth, goal)


@kernel
def choose_member(tables, tree, depth, margin):
    """The open member with the fewest zones left once those are forbidden that cannot beat the best; -1 if one has none.

    Ties: the member whose zones have the highest sum of bounds, then the first. single[v, z] does not change for zones left.
    """
    chosen, fewest, highest = -1, len(tree.free) + 1, 0.0
    single = tree.single[depth]
    total = tree.work[2]
    for i in range(depth, len(tree.members)):
        v = tree.members[i]
        child_bounds(tables, tree, depth, v, total)
        left, sum_of_bounds = 0, 0.0
        for z in range(len(total)):
            if total[z] >= margin:
                single[v, z] = tables.forbidden_cost[0]
            else:
                left += 1
                sum_of_bounds += total[z]
        if left == 0:
            return -1
        if left < fewest or (left == fewest and sum_of_bounds > highest):
            chosen, fewest, highest = i, left, sum_of_bounds
    return chosen


@kernel
def child_bounds(tables, tree, depth, v, total_out):
    """A bound on all open members together for each zone of member v."""
    single, lam, near, far = tree.single[depth], tree.lam[depth], tree.work[0], tree.work[1]
    copy(single[v], total_out)
    for i in range(depth, len(tree.members)):
        w = tree.members[i]
        if w == v:
            continue
        if not tables.talks[v, w]:
            least = least_of(single, w)
            for z in range(len(total_out)):
                total_out[z] += least
            continue
        for y in range(len(far)):
            far[y] = single[w, y] - lam[w, v, y]
        least_beside(tables.pair, w, v, far, near)
        for z in range(len(total_out)):
            total_out[z] += near[z] - lam[v, w, z]


@kernel
def list_children(tree, depth, goal):
    """List the zones of the member of this depth by their bound."""
    bound, child, total = tree.bound[depth], tree.child[depth], tree.work[2]
    listed = 0
    for z in range(len(total)):
        child_bound = tree.paid[depth] + total[z]
        if child_bound >= goal:
            continue
        at = listed
        while at > 0 and bound[at - 1] > child_bound:
            bound[at], child[at] = bound[at - 1], child[at - 1]
            at -= 1
        bound[at], child[at] = child_bound, z
        listed += 1
    tree.next[1, depth] = listed


@kernel
def open_bound(tree, depth):
    """The least bound of all children that have not been visited."""
    least = np.inf
    for d in range(depth + 1):
        if tree.next[0, d] < tree.next[1, d]:
            least = min(least, tree.bound[d, tree.next[0, d]])
    return least
