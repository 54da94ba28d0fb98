"""The slow obvious twin of `bayplan.kernels.kube_scheduler`: lists, whole recounts, no shared state."""

import math


def score(load, capacity):
    """LeastAllocated plus BalancedAllocation of a machine that would carry `load`."""
    pairs = [(used, size) for used, size in zip(load, capacity, strict=True) if size > 0]
    if not pairs:
        return 100
    free = sum((size - used) * 100 // size for used, size in pairs) // len(pairs)
    share = [used / size for used, size in pairs]
    mean = sum(share) / len(share)
    std = math.sqrt(sum((s - mean) ** 2 for s in share) / len(share))
    return free + int((1 - std) * 100)


def schedule(order, tie, workload_of, request, capacity, allowed_machines, anti_affinity, window):
    """Machine per container (-1 for none).

    `allowed_machines[w]` is a set; `anti_affinity` a list of (workloads, limit).
    """
    placed = {}
    for c in order:
        w = workload_of[c]
        candidates = []
        for m in range(len(capacity)):
            here = [workload_of[other] for other, machine in placed.items() if machine == m]
            load = [sum(request[v][r] for v in [*here, w]) for r in range(len(request[w]))]
            fits = all(used <= size for used, size in zip(load, capacity[m], strict=True))
            room = all(sum(v in group for v in here) < limit for group, limit in anti_affinity if w in group)
            if fits and room and m in allowed_machines[w]:
                candidates.append((score(load, capacity[m]), m))
        first = candidates[:window]
        if first:
            top = max(first)[0]
            ties = [m for value, m in first if value == top]
            placed[c] = ties[int(tie[c] * len(ties))]
    return [placed.get(c, -1) for c in range(len(workload_of))]
