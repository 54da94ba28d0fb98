"""What each move of a plan is worth: by how much every term would be worse if it alone were taken back.

Containers that stay together count as one move. Only the machines, groups and pairs that a move touches are looked at, so a move
costs the traffic of what moves, whatever the size of the cluster. Moves of one container, nearly all of a large plan, are valued
together, in arrays; the others one by one.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayplan.model import UNPLACED, Cluster, FloatArray, IntArray, Objective, Placement, Term
from bayplan.model.allowed_machines import co_located_groups
from bayplan.score.counts import loads
from bayplan.score.gmrp import objective_move_cost
from bayplan.score.goal.traffic_gains import single_traffic_gains, unit_traffic_gains


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
    valuer, units = _Valuer(cluster, before, after, objective), move_units(cluster, before, after)
    together = [unit for unit in units if len(unit) > 1]
    gains = valuer.single_gains([unit[0] for unit in units if len(unit) == 1]) + valuer.unit_gains(together)
    of_unit = {gain.members: gain for gain in gains}
    return [of_unit[unit] for unit in units]


class _Valuer:
    """The state after the plan, and what taking back a move would change in it."""

    def __init__(self, cluster: Cluster, before: Placement, after: Placement, objective: Objective) -> None:
        self.cluster, self.before, self.after, self.objective = cluster, before, after, objective
        self.load = loads(cluster, after)
        self.spread = _Variance(cluster, self.load)
        self.largest = np.maximum(1, cluster.machines.capacity.max(axis=0, initial=0))

    def single_gains(self, containers: Sequence[int]) -> list[MoveGain]:
        """What the plan would lose without each of these moves."""
        moved = np.array(containers, dtype=np.int64)
        request = self.cluster.workloads.request[self.cluster.containers.workload[moved]]
        machines = np.stack([self.before.machine_of[moved], self.after.machine_of[moved]], axis=1)
        by_load = self._by_load(machines, np.stack([request, -request], axis=1))
        traffic = single_traffic_gains(self.cluster, self.before, self.after, self.objective, moved)
        by_term = {
            **{term: value.tolist() for term, value in by_load.items()},
            Term.MOVES: [-1.0] * len(moved),
            Term.MOVE_COST: [self._move_cost((c,)) for c in containers],
            Term.AFFINITY: traffic.affinity.tolist(),
            Term.COMMUNICATION: traffic.saved.tolist(),
        }
        return [
            _move_gain((c,), dict(zip(by_term, values, strict=True)), local)
            for c, local, *values in zip(containers, traffic.local, *by_term.values(), strict=True)
        ]

    def unit_gains(self, units: Sequence[tuple[int, ...]]) -> list[MoveGain]:
        """What the plan would lose without each of these moves of containers that stay together."""
        traffic = unit_traffic_gains(self.cluster, self.before, self.after, self.objective, units)
        return [self._unit_gain(unit, *of_traffic) for unit, of_traffic in zip(units, traffic, strict=True)]

    def _unit_gain(self, unit: tuple[int, ...], affinity: float, saved: float, local: Mapping[int, float]) -> MoveGain:
        request = self.cluster.workloads.request
        changes = defaultdict[int, IntArray](lambda: np.zeros(self.load.shape[1], np.int64))
        for c in unit:
            w, old, new = self.cluster.containers.workload[c], int(self.before.machine_of[c]), int(self.after.machine_of[c])
            changes[old] = changes[old] + request[w]
            changes[new] = changes[new] - request[w]
        by_load = self._by_load(np.array(list(changes)), np.array(list(changes.values())))
        gain = {
            **{term: float(value) for term, value in by_load.items()},
            Term.MOVES: -float(len(unit)),
            Term.MOVE_COST: self._move_cost(unit),
            Term.AFFINITY: affinity,
            Term.COMMUNICATION: saved,
        }
        return _move_gain(unit, gain, local)

    def _by_load(self, machines: IntArray, change: IntArray) -> Mapping[Term, Any]:
        """(..., ) by how much the terms of load grow if the load of machines (..., machine) changes (..., machine, resource)."""
        now = self.load[machines]
        back = now + change
        return {
            Term.UTILISATION: self.spread.change(machines, now, back),
            Term.BALANCE: self._balance(machines, back) - self._balance(machines, now),
            Term.OVERLOAD: self._overload(machines, back) - self._overload(machines, now),
            Term.TARGETS: self._targets(machines, back) - self._targets(machines, now),
        }

    def _overload(self, machines: IntArray, load: IntArray) -> FloatArray:
        above = np.maximum(0, load - self.cluster.machines.safety[machines])
        return np.asarray((above @ self.objective.overload_weight).sum(axis=-1))

    def _balance(self, machines: IntArray, load: IntArray) -> FloatArray:
        capacity = self.cluster.machines.capacity[machines]
        free, cost = (capacity - load) / self.largest, np.zeros(machines.shape[:-1])
        for i, j in _ordered_pairs(free.shape[-1]):
            both = (capacity[..., i] > 0) & (capacity[..., j] > 0)
            more = np.maximum(0.0, free[..., i] - free[..., j] * self.objective.ratio[i, j])
            cost = cost + np.where(both, more, 0.0).sum(axis=-1)
        return np.asarray(cost)

    def _targets(self, machines: IntArray, load: IntArray) -> FloatArray:
        free, cost = self.cluster.machines.capacity[machines] - load, np.zeros(machines.shape[:-1])
        for t in self.objective.targets:
            cost = cost + t.weight * np.maximum(0, t.target * free[..., t.r1] - free[..., t.r2]).sum(axis=-1)
        return np.asarray(cost)

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


class _Variance:
    """Utilisation of all machines, and how its variance changes with the load of a few."""

    def __init__(self, cluster: Cluster, load: IntArray) -> None:
        has = cluster.machines.capacity > 0
        self.slope: FloatArray = np.where(has, 1.0 / np.maximum(1, cluster.machines.capacity), 0.0)
        self.machines: IntArray = np.maximum(1, has.sum(axis=0))
        used = load * self.slope
        self.mean: FloatArray = used.sum(axis=0) / self.machines

    def change(self, machines: IntArray, now: IntArray, then: IntArray) -> FloatArray:
        """How much larger the variance is `then`, summed over resources. Deviations from the mean keep the digits."""
        old, new = now * self.slope[machines] - self.mean, then * self.slope[machines] - self.mean
        has = self.slope[machines] > 0
        squares = np.where(has, new**2 - old**2, 0.0).sum(axis=-2) / self.machines
        shift = np.where(has, new - old, 0.0).sum(axis=-2) / self.machines
        return np.asarray((squares - shift**2).sum(axis=-1))


def _move_gain(members: tuple[int, ...], gain: Mapping[Term, float], local: Mapping[int, float]) -> MoveGain:
    return MoveGain(members=members, gain={term: value for term, value in gain.items() if value}, local=local)


def _ordered_pairs(n: int) -> Iterator[tuple[int, int]]:
    return ((i, j) for i in range(n) for j in range(n) if i != j)
