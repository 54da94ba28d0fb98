"""CA-WFD as the paper states it, container by container; the referee says what fits."""

from bayplan.check import check
from bayplan.model import UNPLACED, Cluster, Placement, Snapshot, ints


def ca_wfd(snapshot: Snapshot, d: int) -> list[int]:
    """The machine of every container, for a valid snapshot without co-located containers."""
    cluster, machine_of = snapshot.cluster, snapshot.placement.machine_of.tolist()
    unplaced = sorted((c for c, m in enumerate(machine_of) if m == UNPLACED), key=lambda c: -dominant(cluster, c))
    again = True
    while again:
        again = False
        for c in [c for c in unplaced if machine_of[c] == UNPLACED]:
            fits = [
                m for m in range(len(cluster.machines.name)) if keeps_rules(snapshot, [*machine_of[:c], m, *machine_of[c + 1 :]])
            ]
            candidates = sorted(fits, key=lambda m: -free_share(cluster, machine_of, m))[:d]
            if candidates:
                machine_of[c] = max(candidates, key=lambda m: of_service(cluster, machine_of, c, m))
                again = True
    return machine_of


def keeps_rules(snapshot: Snapshot, machine_of: list[int]) -> bool:
    return not check(snapshot.cluster, Placement(machine_of=ints(machine_of)), snapshot.placement)


def dominant(cluster: Cluster, c: int) -> float:
    request = cluster.workloads.request[cluster.containers.workload[c]]
    return max(q / most for q, most in zip(request, largest(cluster), strict=True))


def free_share(cluster: Cluster, machine_of: list[int], m: int) -> float:
    free = cluster.machines.capacity[m].copy()
    for c, where in enumerate(machine_of):
        if where == m:
            free -= cluster.workloads.request[cluster.containers.workload[c]]
    return sum((1.0 / most) * a for a, most in zip(free, largest(cluster), strict=True))


def of_service(cluster: Cluster, machine_of: list[int], c: int, m: int) -> int:
    service = cluster.workloads.service[cluster.containers.workload]
    return sum(where == m and service[other] == service[c] for other, where in enumerate(machine_of))


def largest(cluster: Cluster) -> list[int]:
    return [max(1, int(most)) for most in cluster.machines.capacity.max(axis=0)]
