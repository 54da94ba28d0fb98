"""The objective as the kernel's prices: every weight multiplied in, everything per kind of item."""

from collections.abc import Mapping

import numpy as np

from bayplan.kernels.search import state as layout
from bayplan.model import UNPLACED, Cluster, FloatArray, IntArray, Objective, Term
from bayplan.search.array_layout import Blocks
from bayplan.search.compile_rules import kind_sums
from bayplan.search.count_rows import CountRows, RaggedLists
from bayplan.search.items import Items


def objective_blocks(cluster: Cluster, items: Items, rows: CountRows, objective: Objective, max_moves: int | None) -> Blocks:
    """The blocks of the state that prices read; rows that they need are requested."""
    weight = {term: objective.weight.get(term, 0.0) for term in Term}
    local_start, local_row, local_gain = _local_gains(cluster, items, rows, objective, weight[Term.COMMUNICATION]).packed(1, 1)
    affinity_start, affinity_edge, affinity_by = _affinity_edges(cluster, items, rows, weight[Term.AFFINITY]).packed(2, 5)
    pair, pair_by = _balance_pairs(cluster, objective)
    counts_moves = weight[Term.MOVES] > 0 or max_moves is not None
    return {
        "overload": weight[Term.OVERLOAD] * objective.overload_weight,
        **_utilisation(cluster, weight[Term.UTILISATION]),
        "unmet_price": [0.0],
        "pair": pair,
        "pair_by": pair_by,
        "local_start": local_start,
        "local_row": local_row,
        "local_gain": local_gain,
        "affinity_start": affinity_start,
        "affinity_edge": np.column_stack([affinity_edge, affinity_by[:, :2]]),
        "affinity_by": affinity_by[:, 2:],
        **_moves(cluster, items, objective, weight),
        **_surplus(cluster, items, counts_moves),
        "tally": [_ran(items), 0, layout.NO_LIMIT if max_moves is None else max_moves, 0, 0],
    }


def _ran(items: Items) -> int:
    """Containers that ran somewhere: while they are lifted, they count as moved."""
    return int((items.home[items.of_container] != UNPLACED).sum())


def _utilisation(cluster: Cluster, weight: float) -> Blocks:
    """U = sum of squares / n - (sum / n)^2, over the machines that have the resource."""
    capacity = cluster.machines.capacity
    has = capacity > 0
    slope = np.where(has, 1.0 / np.maximum(1, capacity), 0.0)
    machines = np.maximum(1, has.sum(axis=0))
    return {"square": weight * slope**2 / machines, "slope": slope, "mean": weight / machines.astype(np.float64) ** 2}


def _balance_pairs(cluster: Cluster, objective: Objective) -> tuple[IntArray, FloatArray]:
    """Residual balance of [FreeContainer] (4) and GMRP's targets: both are weight * max(0, f1 A(r1) - f2 A(r2))."""
    pair, by = [], []
    n_r, weight = len(cluster.resources), objective.weight.get(Term.BALANCE, 0.0)
    largest = np.maximum(1, cluster.machines.capacity.max(axis=0, initial=0))
    for i in range(n_r if weight else 0):
        for j in range(n_r):
            if i != j:
                pair.append((i, j, 1))
                by.append((weight, 1.0 / largest[i], objective.ratio[i, j] / largest[j]))
    weight = objective.weight.get(Term.TARGETS, 0.0)
    for target in objective.targets:
        if weight * target.weight:
            pair.append((target.r1, target.r2, 0))
            by.append((weight * target.weight, float(target.target), 1.0))
    return np.array(pair, dtype=np.int64).reshape(-1, 3), np.array(by, dtype=np.float64).reshape(-1, 3)


def _local_gains(cluster: Cluster, items: Items, rows: CountRows, objective: Objective, weight: float) -> RaggedLists:
    """What a container gains from each container that it shares a group with."""
    lists = RaggedLists(len(cluster.workloads.name) + len(items.units))
    service_size = np.bincount(cluster.workloads.service, weights=cluster.replicas, minlength=len(cluster.services.name))
    for level in np.flatnonzero(objective.hop * weight > 0).tolist():
        by = weight * float(objective.hop[level])
        for s in np.flatnonzero((cluster.services.clique > 0) & (service_size > 1)).tolist():
            row = rows.service(s, level)
            for w in rows.members[row]:
                lists.add(w, (row,), by * float(cluster.services.clique[s]))
        for a, b, traffic in _edges(cluster):
            each = by * traffic / float(cluster.replicas[a] * cluster.replicas[b])
            lists.add(a, (rows.workload(b, level),), each)
            lists.add(b, (rows.workload(a, level),), each)
    for number, unit in enumerate(items.units):
        lists.copy_to(len(cluster.workloads.name) + number, unit)
    return lists


def _affinity_edges(cluster: Cluster, items: Items, rows: CountRows, weight: float) -> RaggedLists:
    """Per edge: rows of both ends, containers that the kind adds to each, weight, 1 / replicas of each."""
    lists = RaggedLists(len(cluster.workloads.name) + len(items.units))
    total = float(cluster.traffic.weight.sum())
    for a, b, traffic in _edges(cluster) if weight and total else ():
        key = (rows.workload(a, 0), rows.workload(b, 0))
        by = (weight * traffic / total, 1.0 / float(cluster.replicas[a]), 1.0 / float(cluster.replicas[b]))
        lists.add(a, key, 1, 0, *by)
        lists.add(b, key, 0, 1, *by)
    for number, unit in enumerate(items.units):
        for edge in dict.fromkeys(key for w in unit for key in lists.of(w)):
            entries = [lists.of(w)[edge] for w in unit if edge in lists.of(w)]
            of_a, of_b = sum(entry[0] for entry in entries), sum(entry[1] for entry in entries)
            lists.add(len(cluster.workloads.name) + number, edge, of_a, of_b, *entries[0][2:])
    return lists


def _edges(cluster: Cluster) -> list[tuple[int, int, float]]:
    traffic = cluster.traffic
    entries = (cluster.replicas[traffic.a] > 0) & (cluster.replicas[traffic.b] > 0)
    return list(zip(traffic.a[entries].tolist(), traffic.b[entries].tolist(), traffic.weight[entries].tolist(), strict=True))


def _moves(cluster: Cluster, items: Items, objective: Objective, weight: Mapping[Term, float]) -> Blocks:
    """The price of moving, GMRP's three move costs included."""
    n_w, kinds = len(cluster.workloads.name), len(cluster.workloads.name) + len(items.units)
    costs, by = objective.move_costs, weight[Term.MOVE_COST]
    lists = RaggedLists(kinds)
    leaving, machine_move, busiest = np.zeros(kinds), np.zeros((0, 0)), 0.0
    if costs is not None and by:
        leaving = by * costs.container_weight * kind_sums(items, costs.container).astype(np.float64)
        machine_move, busiest = by * costs.machine_weight * costs.machine.astype(np.float64), by * costs.service_weight
    for w, s in enumerate(cluster.workloads.service.tolist() if busiest else ()):
        lists.add(w, (s,), 1)
    for number, unit in enumerate(items.units):
        lists.copy_to(n_w + number, unit)
    start, service, count = lists.packed(1, 1)
    services_with = np.zeros(len(cluster.containers.name) + 2)
    services_with[0] = len(cluster.services.name)
    return {
        "leaving_cost": leaving,
        "machine_move_cost": machine_move,
        "service_start": start,
        "service": np.column_stack([service, count]),
        "moved_of": np.zeros(len(cluster.services.name)),
        "services_with": services_with,
        "move_price": [weight[Term.MOVES], busiest, float(machine_move.any())],
    }


def _surplus(cluster: Cluster, items: Items, wanted: bool) -> Blocks:
    """A row for each kind of several items, as only these are interchangeable: minus the items that ran on each machine."""
    kinds = len(cluster.workloads.name) + len(items.units)
    several = (np.bincount(items.kind_of, minlength=kinds) > 1) & wanted
    row_of = np.where(several, np.cumsum(several) - 1, layout.NOWHERE)
    surplus = np.zeros((int(several.sum()), len(cluster.machines.name)), dtype=np.int32)
    row = row_of[items.kind_of]
    ran = (row != layout.NOWHERE) & (items.home != UNPLACED)
    np.subtract.at(surplus, (row[ran], items.home[ran]), 1)
    return {"surplus_row": row_of, "surplus": surplus}
