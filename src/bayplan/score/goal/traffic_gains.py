"""What moves are worth to traffic: the affinity that they gain and the communication that they save.

For moves of one container this is done in arrays over all pairs of a move and an edge of its workload; for moves of several
containers together, whose changes may meet in one group, one by one.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bayplan.model import Cluster, FloatArray, IntArray, Objective, Placement
from bayplan.score.counts import Counts, service_counts, workload_counts

Key = tuple[int, int]  # workload or service, and a group of a level
UnitTraffic = tuple[float, float, dict[int, float]]  # gained affinity, saved communication, the affinity by partner


class SingleTraffic(NamedTuple):
    """What moves of one container each are worth to traffic."""

    affinity: FloatArray  # (move,) gained, as a share of all traffic
    saved: FloatArray  # (move,) communication
    local: list[dict[int, float]]  # of each move: partner workload -> gained affinity


class _MoveEdges(NamedTuple):
    """All pairs of a move and an edge of its workload."""

    move: IntArray  # (pair,) ascending
    partner: IntArray  # (pair,) the workload at the other end
    weight: FloatArray  # (pair,)


def single_traffic_gains(
    cluster: Cluster, before: Placement, after: Placement, objective: Objective, moved: IntArray
) -> SingleTraffic:
    """What the plan would lose of traffic without each of the moves (move,) of one container."""
    owner, old, new = cluster.containers.workload[moved], before.machine_of[moved], after.machine_of[moved]
    edges, saved = _edges_of(cluster, owner), np.zeros(len(moved))
    pairs = cluster.replicas[owner[edges.move]] * cluster.replicas[edges.partner]
    for level in _levels(objective):
        hop, count = float(objective.hop[level]), _CountLookup(workload_counts(cluster, after, level))
        g_old, g_new = cluster.levels[level].group_of[old], cluster.levels[level].group_of[new]
        met = count.at(edges.partner, g_new[edges.move]) - count.at(edges.partner, g_old[edges.move])
        between = np.bincount(edges.move, weights=edges.weight * (met / pairs), minlength=len(moved))
        within = np.where(g_old != g_new, _clique(cluster, after, level, owner, g_old, g_new), 0.0)
        saved += hop * (between + within)
    gained = _gained(cluster, after, owner[edges.move], edges, (old[edges.move], new[edges.move]))
    local = [dict[int, float]() for _ in moved]
    changed = np.flatnonzero(gained)
    for n, v, value in zip(edges.move[changed].tolist(), edges.partner[changed].tolist(), gained[changed].tolist(), strict=True):
        local[n][v] = value
    affinity: FloatArray = np.bincount(edges.move, weights=gained, minlength=len(moved)).astype(np.float64)
    return SingleTraffic(affinity, saved, local)


def _gained(
    cluster: Cluster, after: Placement, own: IntArray, edges: _MoveEdges, machine: tuple[IntArray, IntArray]
) -> FloatArray:
    """(pair,) gained affinity, as a share of all traffic; `own` workload, and old and new `machine`, of each pair's move."""
    count = _CountLookup(workload_counts(cluster, after))
    d_own, d_partner = cluster.replicas[own], cluster.replicas[edges.partner]
    now = back = np.zeros(len(own))
    for m, returning in zip(machine, (1, -1), strict=True):  # taken back, there is one more on the old machine
        here, share = count.at(own, m), count.at(edges.partner, m) / d_partner
        now = now + np.minimum(here / d_own, share)
        back = back + np.minimum((here + returning) / d_own, share)
    return np.asarray(edges.weight * (now - back) / max(float(cluster.traffic.weight.sum()), 1e-300))


def _clique(cluster: Cluster, after: Placement, level: int, owner: IntArray, g_old: IntArray, g_new: IntArray) -> FloatArray:
    """(move,) traffic inside of services that each move saves at a level."""
    service, count = cluster.workloads.service[owner], _CountLookup(service_counts(cluster, after, level))
    return np.asarray(cluster.services.clique[service] * (count.at(service, g_new) - 1 - count.at(service, g_old)))


def _edges_of(cluster: Cluster, owner: IntArray) -> _MoveEdges:
    """The edges of the workloads (move,) of moves; those with nothing at one end left out."""
    traffic = cluster.traffic
    talks = np.flatnonzero(cluster.replicas[traffic.a] * cluster.replicas[traffic.b])
    a, b, weight = traffic.a[talks], traffic.b[talks], traffic.weight[talks]
    end, partner, both = np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([weight, weight])
    order = np.argsort(end, kind="stable")
    first, last = (np.searchsorted(end[order], owner, side=side) for side in ("left", "right"))
    number = last - first
    move = np.repeat(np.arange(len(owner)), number)
    nth = np.arange(len(move)) - np.repeat(np.cumsum(number) - number, number)
    half_edge = order[first[move] + nth]
    return _MoveEdges(move, partner[half_edge], both[half_edge])


class _CountLookup:
    """Counts of many (row, group) pairs at once."""

    def __init__(self, counts: Counts) -> None:
        self.groups = counts.shape[1]
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        self.key = np.append(row * self.groups + counts.indices, np.iinfo(np.int64).max)  # ascending; the last is never asked for
        self.count = np.append(counts.data, 0)

    def at(self, row: IntArray, group: IntArray) -> IntArray:
        """(pair,) the counts; 0 where nothing is."""
        key = row * self.groups + group
        place = np.searchsorted(self.key, key)
        return np.where(self.key[place] == key, self.count[place], 0)


def _levels(objective: Objective) -> list[int]:
    """Machines, and the levels between which communication costs something."""
    return [0, *(level for level, hop in enumerate(objective.hop.tolist()) if level and hop > 0)]


# ---- containers that stay together -------------------------------------------------------------------------------------------


def unit_traffic_gains(
    cluster: Cluster, before: Placement, after: Placement, objective: Objective, units: Sequence[tuple[int, ...]]
) -> list[UnitTraffic]:
    """What the plan would lose of traffic without each of the moves of containers that stay together."""
    if not units:
        return []
    counted = _UnitTraffic(cluster, before, after, objective)
    return [counted.gains(unit) for unit in units]


class _UnitTraffic:
    """The counts after the plan, and what taking back a move would change in them."""

    def __init__(self, cluster: Cluster, before: Placement, after: Placement, objective: Objective) -> None:
        self.cluster, self.before, self.after, self.objective = cluster, before, after, objective
        self.levels = _levels(objective)
        self.count = {level: _lookup(workload_counts(cluster, after, level)) for level in self.levels}
        self.service_count = {level: _lookup(service_counts(cluster, after, level)) for level in self.levels}
        self.edges_of: dict[int, list[tuple[int, int, float]]] = defaultdict(list)  # workload -> (a, b, weight)
        traffic = cluster.traffic
        for a, b, weight in zip(traffic.a.tolist(), traffic.b.tolist(), traffic.weight.tolist(), strict=True):
            if not cluster.replicas[a] * cluster.replicas[b]:
                continue  # nothing talks at one end
            self.edges_of[a].append((a, b, weight))
            self.edges_of[b].append((a, b, weight))
        self.total = float(traffic.weight.sum())

    def gains(self, unit: tuple[int, ...]) -> UnitTraffic:
        """Gained affinity, saved communication, and the affinity by partner."""
        affinity, saved, local = 0.0, 0.0, dict[int, float]()
        workloads = {int(self.cluster.containers.workload[c]) for c in unit}
        for level in self.levels:
            shift = self._count_changes(unit, level)
            groups = sorted({group for _, group in shift})
            for a, b, weight in dict.fromkeys(edge for w in sorted(workloads) for edge in self.edges_of.get(w, ())):
                now, back = self._shared(level, a, b, groups), self._shared(level, a, b, groups, shift)
                pairs = float(now[1] - back[1]) / float(self.cluster.replicas[a] * self.cluster.replicas[b])
                saved += float(self.objective.hop[level]) * weight * pairs
                if level == 0 and now[0] != back[0]:
                    partner = b if a in workloads else a
                    gained = weight * (now[0] - back[0]) / self.total
                    affinity, local[partner] = affinity + gained, local.get(partner, 0.0) + gained
            saved += float(self.objective.hop[level]) * self._clique(shift, level)
        return affinity, saved, local

    def _count_changes(self, unit: tuple[int, ...], level: int) -> Counter[Key]:
        """(workload, group) -> containers more if the move is taken back."""
        group_of, shift = self.cluster.levels[level].group_of, Counter[Key]()
        for c in unit:
            w, old, new = int(self.cluster.containers.workload[c]), int(self.before.machine_of[c]), int(self.after.machine_of[c])
            shift[w, int(group_of[old])] += 1
            shift[w, int(group_of[new])] -= 1
        return shift

    def _shared(
        self, level: int, a: int, b: int, groups: Sequence[int], shift: Mapping[Key, int] | None = None
    ) -> tuple[float, int]:
        """Over some groups: what both ends share of an edge, as a share of it, and as pairs of containers."""
        share, pairs, count, more = 0.0, 0, self.count[level], shift or {}
        d_a, d_b = float(self.cluster.replicas[a]), float(self.cluster.replicas[b])
        for group in groups:
            of_a = count.get((a, group), 0) + more.get((a, group), 0)
            of_b = count.get((b, group), 0) + more.get((b, group), 0)
            share, pairs = share + min(of_a / d_a, of_b / d_b), pairs + of_a * of_b
        return share, pairs

    def _clique(self, shift: Mapping[Key, int], level: int) -> float:
        """Traffic inside of services that the move saves at a level."""
        of_service, saved = Counter[Key](), 0.0
        for (w, group), more in shift.items():
            of_service[int(self.cluster.workloads.service[w]), group] += more
        for (s, group), more in of_service.items():
            now = self.service_count[level].get((s, group), 0)
            saved += float(self.cluster.services.clique[s]) * (now * (now - 1) - (now + more) * (now + more - 1)) / 2
        return saved


def _lookup(counts: Counts) -> dict[Key, int]:
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    return dict(zip(zip(row.tolist(), counts.indices.tolist(), strict=True), counts.data.tolist(), strict=True))
