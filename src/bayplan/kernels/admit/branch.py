"""The cheapest placement of one request (001 IQP (4)): depth first, the bound of `messages` at every node."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.admit.messages import certain, least_beside, least_of, tighten
from bayplan.kernels.admit.question import UNPLACED, copy, has_room, passes
from bayplan.kernels.search.compiled import kernel

SLACK = 1e-10  # of the best: what is not better by more than this is rounding
WORTH_IT = 1e-3  # of what lies between bound and best: with less than this a further round gains nothing
FIRST_ROUNDS, ROUNDS = 50, 2  # of tightening, at the root and below


class Tables(NamedTuple):
    """What the members cost: see `tabulate`."""

    single: npt.NDArray[np.float64]  # (member, zone)
    pair: npt.NDArray[np.float64]  # (member, member, zone, zone)
    talks: npt.NDArray[np.bool_]  # (member, member)
    barred: npt.NDArray[np.float64]  # (1,) what a forbidden choice costs


class Tree(NamedTuple):
    """The path from the root to the node that is looked at; members[:depth] have a zone, the others are open."""

    members: npt.NDArray[np.int64]  # (depth,)
    zone: npt.NDArray[np.int64]  # (member,)
    free: npt.NDArray[np.int64]  # (zone, resource)
    paid: npt.NDArray[np.float64]  # (depth + 1,) cost of the members that have a zone
    single: npt.NDArray[np.float64]  # (depth + 1, member, zone) cost beside them
    lam: npt.NDArray[np.float64]  # (depth + 1, member, member, zone) what has been moved from pairs
    child: npt.NDArray[np.int64]  # (depth, zone) zones for members[depth], the most promising first
    bound: npt.NDArray[np.float64]  # (depth, zone) of each child
    next: npt.NDArray[np.int64]  # (2, depth) the child to be looked at next, and how many there are
    work: npt.NDArray[np.float64]  # (3, zone)


@kernel
def branch(question, tables, tree, nodes, best_out, zone_out):
    """Nodes looked at, at most `nodes`. `best_out`: the least cost, and a bound on it; `zone_out`: its zones.

    On entry best_out[0] is the cost of the placement in `zone_out`, or infinite. Zones: lowest bound first, then lowest index.
    """
    looked, depth = 0, start(question, tables, tree, best_out[0])
    while depth >= 0:
        if tree.next[0, depth] == tree.next[1, depth] or tree.bound[depth, tree.next[0, depth]] >= cut(best_out[0]):
            depth -= 1
            if depth >= 0:
                leave(question, tree, depth)
            continue
        if looked == nodes:
            best_out[1] = min(best_out[0], still_possible(tree, depth))
            return looked
        looked += 1
        if not enter(question, tree, depth):
            continue
        if depth + 1 == len(tree.members):
            v = tree.members[depth]
            best_out[0] = tree.paid[depth] + tree.single[depth, v, tree.zone[v]]
            copy(tree.zone, zone_out)
            leave(question, tree, depth)
            continue
        descend(question, tables, tree, depth)
        depth += 1
        expand(tables, tree, depth, best_out[0], ROUNDS)
    best_out[1] = best_out[0]
    return looked


@kernel
def cut(best):
    """What a node must promise to be looked at."""
    return best - SLACK * best if best < np.inf else np.inf


@kernel
def start(question, tables, tree, best):
    """Make the root ready; its depth, 0."""
    for v in range(len(tree.members)):
        tree.members[v] = v
        tree.zone[v] = UNPLACED
    for z in range(len(tree.free)):
        copy(question.room[z], tree.free[z])
    tree.paid[0] = 0.0
    tree.lam[0] = 0.0
    for v in range(len(tree.members)):
        copy(tables.single[v], tree.single[0, v])
        for z in range(len(tree.free)):
            if not has_room(question, tree.free, v, z):
                tree.single[0, v, z] = tables.barred[0]
    expand(tables, tree, 0, best, FIRST_ROUNDS)
    return 0


@kernel
def enter(question, tree, depth):
    """Put the member of this depth into the next of its zones; False if a link does not carry it."""
    v, z = tree.members[depth], tree.child[depth, tree.next[0, depth]]
    tree.next[0, depth] += 1
    tree.zone[v] = z
    if not passes(question, tree.zone, v):
        tree.zone[v] = UNPLACED
        return False
    for r in range(tree.free.shape[1]):
        tree.free[z, r] -= question.demand[v, r]
    return True


@kernel
def leave(question, tree, depth):
    """Take the member of this depth out of its zone."""
    v = tree.members[depth]
    for r in range(tree.free.shape[1]):
        tree.free[tree.zone[v], r] += question.demand[v, r]
    tree.zone[v] = UNPLACED


@kernel
def descend(question, tables, tree, depth):
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
        if not has_room(question, tree.free, w, z):
            new[z] = tables.barred[0]
        for j in range(depth + 1, len(tree.members)):
            copy(lam[w, tree.members[j]], tree.lam[depth + 1, w, tree.members[j]])


@kernel
def expand(tables, tree, depth, best, rounds):
    """Raise the bound of a node, and list the children of the open member that has the fewest worth looking at."""
    goal = min(cut(best), tables.barred[0])
    spare = goal - tree.paid[depth]
    tree.next[:, depth] = 0
    single, lam, open_members = tree.single[depth], tree.lam[depth], tree.members[depth:]
    bound = certain(open_members, single)
    for _ in range(rounds):
        if bound >= spare:
            return
        before = bound
        bound = tighten(tables.pair, tables.talks, open_members, single, lam, tree.work)
        if bound - before < WORTH_IT * (spare - before):
            break
    if bound < spare:
        chosen = narrow(tables, tree, depth, spare)
        if chosen >= 0:
            v = tree.members[chosen]
            tree.members[chosen] = tree.members[depth]
            tree.members[depth] = v
            promise(tables, tree, depth, v, tree.work[2])
            list_children(tree, depth, goal)


@kernel
def narrow(tables, tree, depth, spare):
    """Which open member has the fewest zones left once those are barred that cannot beat the best; -1 if one has none.

    Ties: the member whose zones promise the most in all, then the first. single[v, z] stays what it is for zones that are left.
    """
    chosen, fewest, highest = -1, len(tree.free) + 1, 0.0
    single = tree.single[depth]
    total = tree.work[2]
    for i in range(depth, len(tree.members)):
        v = tree.members[i]
        promise(tables, tree, depth, v, total)
        left, sum_of_bounds = 0, 0.0
        for z in range(len(total)):
            if total[z] >= spare:
                single[v, z] = tables.barred[0]
            else:
                left += 1
                sum_of_bounds += total[z]
        if left == 0:
            return -1
        if left < fewest or (left == fewest and sum_of_bounds > highest):
            chosen, fewest, highest = i, left, sum_of_bounds
    return chosen


@kernel
def promise(tables, tree, depth, v, total_out):
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
    """List the zones of the member of this depth by their bound, from what it promises."""
    bound, child, total = tree.bound[depth], tree.child[depth], tree.work[2]
    listed = 0
    for z in range(len(total)):
        some = tree.paid[depth] + total[z]
        if some >= goal:
            continue
        at = listed
        while at > 0 and bound[at - 1] > some:
            bound[at], child[at] = bound[at - 1], child[at - 1]
            at -= 1
        bound[at], child[at] = some, z
        listed += 1
    tree.next[1, depth] = listed


@kernel
def still_possible(tree, depth):
    """The least bound of all children that have not been looked at."""
    least = np.inf
    for d in range(depth + 1):
        if tree.next[0, d] < tree.next[1, d]:
            least = min(least, tree.bound[d, tree.next[0, d]])
    return least
