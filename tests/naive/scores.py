"""The scores once more: slow, by the letter of the formulas, container by container. No sparse arrays, no tricks."""

import math
from collections import Counter
from itertools import combinations
from statistics import NormalDist

from bayplan.model import UNPLACED, Cluster, Objective, Placement, Term


def machine(placement: Placement, c: int) -> int:
    return int(placement.machine_of[c])


def placed(cluster: Cluster, placement: Placement) -> list[int]:
    return [c for c in range(len(cluster.containers.name)) if machine(placement, c) != UNPLACED]


def workload(cluster: Cluster, c: int) -> int:
    return int(cluster.containers.workload[c])


def service(cluster: Cluster, c: int) -> int:
    return int(cluster.workloads.service[workload(cluster, c)])


def load(cluster: Cluster, placement: Placement, m: int, r: int) -> int:
    here = [c for c in placed(cluster, placement) if machine(placement, c) == m]
    return sum(int(cluster.workloads.request[workload(cluster, c), r]) for c in here)


def capacity(cluster: Cluster, m: int, r: int) -> int:
    return int(cluster.machines.capacity[m, r])


def machines(cluster: Cluster) -> range:
    return range(len(cluster.machines.name))


def resources(cluster: Cluster) -> range:
    return range(len(cluster.resources))


def utilisation_cost(cluster: Cluster, placement: Placement) -> float:
    cost = 0.0
    for r in resources(cluster):
        have = [m for m in machines(cluster) if capacity(cluster, m, r) > 0]
        share = [load(cluster, placement, m, r) / capacity(cluster, m, r) for m in have]
        if have:
            mean = sum(share) / len(share)
            cost += sum((u - mean) ** 2 for u in share) / len(share)
    return cost


def balance_cost(cluster: Cluster, placement: Placement, objective: Objective) -> float:
    def free(m: int, r: int) -> float:
        largest = max(capacity(cluster, other, r) for other in machines(cluster))
        return (capacity(cluster, m, r) - load(cluster, placement, m, r)) / largest

    cost = 0.0
    for m in machines(cluster):
        for i in resources(cluster):
            for j in resources(cluster):
                if i != j and capacity(cluster, m, i) > 0 and capacity(cluster, m, j) > 0:
                    cost += max(0.0, free(m, i) - free(m, j) * float(objective.ratio[i, j]))
    return cost


def distance(cluster: Cluster, objective: Objective, m: int, other: int) -> float:
    apart = [level.group_of[m] != level.group_of[other] for level in cluster.levels]
    return sum(float(hop) for hop, differ in zip(objective.hop, apart, strict=True) if differ)


def communication_cost(cluster: Cluster, placement: Placement, objective: Objective) -> float:
    edges = list(zip(cluster.traffic.a.tolist(), cluster.traffic.b.tolist(), cluster.traffic.weight.tolist(), strict=True))
    weight = {frozenset((a, b)): w / pairs(cluster, a, b) for a, b, w in edges if pairs(cluster, a, b)}
    cost = 0.0
    for c, other in combinations(placed(cluster, placement), 2):
        traffic = weight.get(frozenset((workload(cluster, c), workload(cluster, other))), 0.0)
        if service(cluster, c) == service(cluster, other):
            traffic += float(cluster.services.clique[service(cluster, c)])
        cost += traffic * distance(cluster, objective, machine(placement, c), machine(placement, other))
    return cost


def pairs(cluster: Cluster, a: int, b: int) -> int:
    return int(cluster.replicas[a]) * int(cluster.replicas[b])


def gained_affinity(cluster: Cluster, placement: Placement) -> float:
    here = Counter((workload(cluster, c), machine(placement, c)) for c in placed(cluster, placement))
    total = gained = 0.0
    for a, b, w in zip(cluster.traffic.a.tolist(), cluster.traffic.b.tolist(), cluster.traffic.weight.tolist(), strict=True):
        total += w
        if pairs(cluster, a, b):
            shares = [(here[a, m] / cluster.replicas[a], here[b, m] / cluster.replicas[b]) for m in machines(cluster)]
            gained += w * sum(min(share) for share in shares)
    return gained / total if total else 0.0


def overload_cost(cluster: Cluster, placement: Placement, objective: Objective) -> float:
    return sum(
        float(objective.overload_weight[r]) * max(0, load(cluster, placement, m, r) - int(cluster.machines.safety[m, r]))
        for m in machines(cluster)
        for r in resources(cluster)
    )


def target_cost(cluster: Cluster, placement: Placement, objective: Objective) -> int:
    def free(m: int, r: int) -> int:
        return capacity(cluster, m, r) - load(cluster, placement, m, r)

    return sum(t.weight * max(0, t.target * free(m, t.r1) - free(m, t.r2)) for t in objective.targets for m in machines(cluster))


def moves(cluster: Cluster, placement: Placement, before: Placement) -> int:
    now = Counter((workload(cluster, c), machine(placement, c)) for c in placed(cluster, placement))
    then = Counter((workload(cluster, c), machine(before, c)) for c in placed(cluster, before))
    return (then - now).total()


def move_cost(cluster: Cluster, placement: Placement, objective: Objective, before: Placement) -> int:
    costs = objective.move_costs
    if costs is None:
        return 0
    gone = [c for c in placed(cluster, before) if machine(placement, c) != machine(before, c)]
    by_service = Counter(service(cluster, c) for c in gone)
    cost = costs.container_weight * sum(int(costs.container[workload(cluster, c)]) for c in gone)
    cost += costs.service_weight * max(by_service.values(), default=0)
    if costs.machine.size:
        arrived = [c for c in gone if machine(placement, c) != UNPLACED]
        cost += costs.machine_weight * sum(int(costs.machine[machine(before, c), machine(placement, c)]) for c in arrived)
    return cost


def ucac(cluster: Cluster, placement: Placement, r: int, alpha: float) -> float:
    total = 0.0
    for m in machines(cluster):
        here = [workload(cluster, c) for c in placed(cluster, placement) if machine(placement, c) == m]
        mean = sum(float(cluster.workloads.usage_mean[w, r]) for w in here)
        variance = sum(float(cluster.workloads.usage_std[w, r]) ** 2 for w in here)
        total += mean + NormalDist().inv_cdf(alpha) * math.sqrt(variance)
    return total


def weighted(cluster: Cluster, placement: Placement, objective: Objective, before: Placement) -> float:
    value = {
        Term.UTILISATION: utilisation_cost(cluster, placement),
        Term.BALANCE: balance_cost(cluster, placement, objective),
        Term.COMMUNICATION: communication_cost(cluster, placement, objective),
        Term.OVERLOAD: overload_cost(cluster, placement, objective),
        Term.TARGETS: target_cost(cluster, placement, objective),
        Term.AFFINITY: -gained_affinity(cluster, placement),
        Term.MOVES: moves(cluster, placement, before),
        Term.MOVE_COST: move_cost(cluster, placement, objective, before),
    }
    return sum(weight * value[term] for term, weight in objective.weight.items())
