"""What each move of a plan is worth: by how much every term would be worse if it alone were taken back.

Containers that stay together count as one move. Only the machines, groups and pairs that a move touches are looked at, so a move
costs the traffic of what moves, whatever the size of the cluster.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.model import UNPLACED, Cluster, FloatArray, IntArray, Objective, Placement, Term
from bayplan.model.allowed_machines import co_located_groups
from bayplan.score.counts import Counts, loads, service_counts, workload_counts
from bayplan.score.gmrp import objective_move_cost

Key = tuple[int, int]  # workload or service, and a group of a level


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveGain:
    """One move, alone or of co-located containers: what the plan would lose without it, everything else as planned."""

    members: tuple[int, ...]  # containers
    gain: Mapping[Term, float]  # by term, in its own unit; more is better, for costs as for gains
    local: Mapping[int, float]  # partner workload -> gained affinity on the way, as a share of all traffic

    def net(self, objective: Objective) -> float:
        """The gain of all terms together, less the price of the move."""
        return sum(objective.weight.get(term, 0.0) * value for term, value in self.gain.items())


def move_units(cluster: Cluster, before: Placement, after: Placement) -> list[tuple[int, ...]]:
    """The containers that move, those that stay together as one."""
    moved = [c for c in after.moved_from(before).tolist() if after.machine_of[c] != UNPLACED]
    moves = set(moved)
    unit_of: dict[int, tuple[int, ...]] = {}
    for group in co_located_groups(cluster):
        together = tuple(c for c in group if c in moves)
        unit_of.update(dict.fromkeys(together, together))
    return list(dict.fromkeys(unit_of.get(c, (c,)) for c in moved))


def move_gains(cluster: Cluster, before: Placement, after: Placement, objective: Objective) -> list[MoveGain]:
    """The gain of every move from `before` to `after`, in the order of the containers."""
    valuer = _Valuer(cluster, before, after, objective)
    return [valuer.gain(unit) for unit in move_units(cluster, before, after)]


class _Valuer:
    """The state after the plan, and what taking back a move would change in it."""

    def __init__(self, cluster: Cluster, before: Placement, after: Placement, objective: Objective) -> None:
        self.cluster, self.before, self.after, self.objective = cluster, before, after, objective
        self.load = loads(cluster, after)
        self.spread = _Variance(cluster, self.load)
        self.largest = np.maximum(1, cluster.machines.capacity.max(axis=0, initial=0))
        self.levels = [0, *(level for level, hop in enumerate(objective.hop.tolist()) if level and hop > 0)]
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

    def gain(self, unit: tuple[int, ...]) -> MoveGain:
        """What the plan would lose without this move."""
        request = self.cluster.workloads.request
        changes = defaultdict[int, IntArray](lambda: np.zeros(self.load.shape[1], np.int64))
        for c in unit:
            w, old, new = self._where(c)
            changes[old] = changes[old] + request[w]
            changes[new] = changes[new] - request[w]
        machines = list(changes)
        now, back = self.load[machines], self.load[machines] + np.array([changes[m] for m in machines])
        gain = {
            Term.UTILISATION: self.spread.change(machines, now, back),
            Term.BALANCE: self._balance(machines, back) - self._balance(machines, now),
            Term.OVERLOAD: self._overload(machines, back) - self._overload(machines, now),
            Term.TARGETS: self._targets(machines, back) - self._targets(machines, now),
            Term.MOVES: -float(len(unit)),
            Term.MOVE_COST: self._move_cost(unit),
        }
        affinity, communication, local = self._traffic(unit)
        gain |= {Term.AFFINITY: affinity, Term.COMMUNICATION: communication}
        return MoveGain(members=unit, gain={term: value for term, value in gain.items() if value}, local=local)

    def _where(self, c: int) -> tuple[int, int, int]:
        """Workload, old and new machine of a container."""
        return int(self.cluster.containers.workload[c]), int(self.before.machine_of[c]), int(self.after.machine_of[c])

    def _overload(self, machines: list[int], load: IntArray) -> float:
        return float((np.maximum(0, load - self.cluster.machines.safety[machines]) @ self.objective.overload_weight).sum())

    def _balance(self, machines: list[int], load: IntArray) -> float:
        capacity = self.cluster.machines.capacity[machines]
        free, cost = (capacity - load) / self.largest, 0.0
        for i, j in _ordered_pairs(free.shape[1]):
            both = (capacity[:, i] > 0) & (capacity[:, j] > 0)
            cost += float(np.maximum(0.0, free[both, i] - free[both, j] * self.objective.ratio[i, j]).sum())
        return cost

    def _targets(self, machines: list[int], load: IntArray) -> float:
        free = self.cluster.machines.capacity[machines] - load
        return float(
            sum(t.weight * np.maximum(0, t.target * free[:, t.r1] - free[:, t.r2]).sum() for t in self.objective.targets)
        )

    def _move_cost(self, unit: tuple[int, ...]) -> float:
        if self.objective.move_costs is None:
            return 0.0
        machine_of = self.after.machine_of.copy()
        machine_of[list(unit)] = self.before.machine_of[list(unit)]
        costs = [
            objective_move_cost(self.cluster, placement, self.objective, self.before).total
            for placement in (Placement(machine_of=machine_of), self.after)
        ]
        return float(costs[0] - costs[1])

    def _traffic(self, unit: tuple[int, ...]) -> tuple[float, float, dict[int, float]]:
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
            w, old, new = self._where(c)
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


class _Variance:
    """Utilisation of all machines, and how its variance changes with the load of a few."""

    def __init__(self, cluster: Cluster, load: IntArray) -> None:
        has = cluster.machines.capacity > 0
        self.slope: FloatArray = np.where(has, 1.0 / np.maximum(1, cluster.machines.capacity), 0.0)
        self.machines: IntArray = np.maximum(1, has.sum(axis=0))
        used = load * self.slope
        self.mean: FloatArray = used.sum(axis=0) / self.machines

    def change(self, machines: list[int], now: IntArray, then: IntArray) -> float:
        """How much larger the variance is `then`, summed over resources. Deviations from the mean keep the digits."""
        old, new = now * self.slope[machines] - self.mean, then * self.slope[machines] - self.mean
        has = self.slope[machines] > 0
        squares = np.where(has, new**2 - old**2, 0.0).sum(axis=0) / self.machines
        shift = np.where(has, new - old, 0.0).sum(axis=0) / self.machines
        return float((squares - shift**2).sum())


def _lookup(counts: Counts) -> dict[Key, int]:
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    return dict(zip(zip(row.tolist(), counts.indices.tolist(), strict=True), counts.data.tolist(), strict=True))


def _ordered_pairs(n: int) -> Iterator[tuple[int, int]]:
    return ((i, j) for i in range(n) for j in range(n) if i != j)
