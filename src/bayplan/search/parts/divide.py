"""Machines in parts: by zones, by where containers may run, and by the traffic that could become local.

A part is grown from one machine by those that its containers have most to gain with. Two machines pull each other by the traffic
between what runs on them that crosses machines now, if one of the ends may run on the other's machine. Workloads with very many
replicas are left aside: every part has its share of both ends of their traffic, however machines are divided.
"""

import math
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import coo_array, csr_array

from bayplan.model import (
    AntiAffinity,
    BoolArray,
    Cluster,
    Dependency,
    FloatArray,
    IntArray,
    Interference,
    Placement,
    Skew,
    Spread,
    floats,
    ints,
)
from bayplan.model.allowed_machines import allowed
from bayplan.score.affinity import gained_shares
from bayplan.score.counts import containers_on, workload_counts

Pull: TypeAlias = Any  # csr_array of floats: its types are not worth the casts

MOST_PAIRS = 400  # of machines that one edge ties together; edges with more are left aside
STEPS = 24  # in which a part grows: in each, many machines join at once
SAME = 0.1  # of the pull between machines that were in one part before, where borders are looked at


def divide(cluster: Cluster, placement: Placement, parts: int, *, before: IntArray | None = None) -> tuple[IntArray, ...]:
    """About as many sets of machines as `parts` says, of about as many containers each; every machine is in one.

    `before` (machine,): earlier parts; the new ones are formed across their borders.
    """
    size = containers_on(cluster, placement) + 1  # an empty machine is not for free
    most = math.ceil(size.sum() / max(1, parts))
    atom, zone = _tied(cluster, size, most)
    pull = _joined(_pull(cluster, placement, before), atom)
    weight = floats(np.bincount(atom, weights=size))
    zone_of = np.zeros(len(weight), dtype=np.int64)
    zone_of[atom] = zone  # of its last machine, where an atom lies in several: rules that this splits hold containers
    groups = [group for z in np.unique(zone_of) for group in _grown(pull, weight, np.flatnonzero(zone_of == z), most)]
    part_of = np.zeros(len(weight), dtype=np.int64)
    for number, group in enumerate(groups):
        part_of[group] = number
    return tuple(ints(np.flatnonzero(part_of[atom] == number)) for number in range(len(groups)))


def _tied(cluster: Cluster, size: IntArray, most: int) -> tuple[IntArray, IntArray]:
    """(machine,) numbers of sets that are not divided, and of zones that no part crosses.

    Rules look at groups of a level. A group that is smaller than a part stays whole; one that is larger has parts of its own.
    """
    atom, zone = np.arange(len(size)), np.zeros(len(size), dtype=np.int64)
    about_groups = AntiAffinity | Interference | Dependency | Spread | Skew
    for level in sorted({rule.level for rule in cluster.rules if isinstance(rule, about_groups) and rule.level}):
        group_of = cluster.levels[level].group_of
        large = np.bincount(group_of, weights=size)[group_of] > most
        zone = np.unique(np.column_stack([zone, np.where(large, group_of + 1, 0)]), axis=0, return_inverse=True)[1].ravel()
        atom = _united(atom, group_of, ~large)
    return ints(np.unique(atom, return_inverse=True)[1].ravel()), ints(zone)


def _united(atom: IntArray, group_of: IntArray, small: BoolArray) -> IntArray:
    """(machine,) the sets, those that share a small group made one."""
    from scipy.sparse.csgraph import connected_components

    machine, groups = np.arange(len(atom)), int(group_of.max(initial=0)) + 1
    first = len(atom)
    row = np.concatenate([machine, machine[small]])
    column = np.concatenate([first + atom, first + len(atom) + group_of[small]])
    nodes = first + len(atom) + groups
    _, label = connected_components(coo_array((np.ones(len(row)), (row, column)), shape=(nodes, nodes)), directed=False)
    return ints(label[: len(atom)])


def _pull(cluster: Cluster, placement: Placement, before: IntArray | None) -> Pull:
    """(machine, machine) how much traffic between two machines could become local, in expectation; symmetric."""
    counts, n_m = workload_counts(cluster, placement), len(cluster.machines.name)
    width, may_run = np.diff(counts.indptr).astype(np.int64), allowed(cluster)
    a, b = cluster.traffic.a, cluster.traffic.b
    crossing = cluster.traffic.weight * (1.0 - gained_shares(cluster, placement))
    chosen = np.flatnonzero((width[a] * width[b] <= MOST_PAIRS) & (width[a] * width[b] > 0) & (crossing > 0))
    of_edge = np.repeat(chosen, width[a[chosen]] * width[b[chosen]])
    within = _within(width[a[chosen]] * width[b[chosen]])
    at_a = counts.indptr[a[of_edge]] + within // width[b[of_edge]]
    at_b = counts.indptr[b[of_edge]] + within % width[b[of_edge]]
    m, n = counts.indices[at_a], counts.indices[at_b]
    share = (counts.data[at_a] / cluster.replicas[a[of_edge]]) * (counts.data[at_b] / cluster.replicas[b[of_edge]])
    meets = may_run.row[may_run.row_of[a[of_edge]], n] | may_run.row[may_run.row_of[b[of_edge]], m]
    value = np.where(meets & (m != n), crossing[of_edge] * share, 0.0)
    if before is not None:
        value = np.where(before[m] == before[n], SAME * value, value)
    one_way: Any = coo_array((value, (m, n)), shape=(n_m, n_m)).tocsr()
    return csr_array(one_way + one_way.T)


def _within(length: IntArray) -> IntArray:
    """0, 1, ... within each of the stretches of these lengths."""
    return np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)


def _joined(pull: Pull, atom: IntArray) -> Pull:
    """(atom, atom) the pull of whole sets."""
    member = csr_array((np.ones(len(atom)), (atom, np.arange(len(atom)))), shape=(int(atom.max(initial=-1)) + 1, len(atom)))
    return csr_array(member @ pull @ member.T)


def _grown(pull: Pull, weight: FloatArray, atoms: IntArray, most: int) -> Iterator[IntArray]:
    """The atoms in parts of equal weight, about `most`, one grown after the other. Ties go to the lower number."""
    parts = max(1, round(float(weight[atoms].sum()) / most))
    free = np.zeros(len(weight), dtype=np.bool_)
    free[atoms] = True
    degree: FloatArray = np.asarray(pull.sum(axis=1)).ravel()
    for left in range(parts, 0, -1):
        rest = np.flatnonzero(free)
        if not len(rest):
            return
        goal = float(weight[rest].sum()) / left
        yield ints(np.sort(rest if left == 1 else _one_part(pull, weight, free, degree, goal)))
        if left == 1:
            return


def _one_part(pull: Pull, weight: FloatArray, free: BoolArray, degree: FloatArray, goal: float) -> IntArray:
    """Free atoms of about this weight, the first that with most traffic; they are no longer free."""
    rest = np.flatnonzero(free)
    joined = rest[[int(np.argmax(degree[rest]))]]
    members, total = [joined], float(weight[joined].sum())
    free[joined] = False
    attraction = np.zeros(len(weight))
    while total < goal:
        attraction += np.asarray(pull[joined].sum(axis=0)).ravel()
        joined = _next(attraction, degree, weight, np.flatnonzero(free), min(goal / STEPS, goal - total))
        if not len(joined):
            break
        free[joined] = False
        members.append(joined)
        total += float(weight[joined].sum())
    return np.concatenate(members)


def _next(attraction: FloatArray, degree: FloatArray, weight: FloatArray, rest: IntArray, goal: float) -> IntArray:
    """The atoms that join next: those that are pulled most; if none is, the one with most traffic; if none has any, the first."""
    pulled = rest[attraction[rest] > 0]
    if len(pulled):
        order = pulled[np.argsort(-attraction[pulled] / degree[pulled], kind="stable")]
    elif degree[rest].any():
        return rest[[int(np.argmax(degree[rest]))]]
    else:
        order = rest
    return order[: int(np.searchsorted(np.cumsum(weight[order]), goal, side="left")) + 1]
