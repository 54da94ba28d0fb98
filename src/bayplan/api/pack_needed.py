"""How many machines of which type a cluster's containers need, from empty."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayplan.decide.pack.instance import PackInstance
from bayplan.decide.pack.machines_needed import MachinesNeeded, machines_needed
from bayplan.model import Budget, Cluster, IntArray, Progress
from bayplan.model.interrupt import stoppable
from bayplan.model.quantities import format_quantity
from bayplan.report.amounts import written


def how_many(instance: PackInstance, *, budget: Budget, seed: int, progress: Progress) -> Mapping[str, Any]:
    """What `pack --machines-needed` says as JSON. Ctrl-C asks for the best so far."""
    with stoppable() as stop:
        need = machines_needed(instance.problem, alpha_of=instance.alpha_of, budget=budget, seed=seed, progress=progress)
        interrupted = stop.requested
    result = need.result
    return {
        "machines": int(need.by_type.sum()),
        "bound": result.bound,
        "gap": result.gap,
        "by_type": _types(instance.problem.cluster, need),
        "confidence": instance.alpha,
        "resource": instance.resource.name,
        "status": str(result.status),
        "seconds": result.seconds,
        "seed": seed,
        "left_out": [{"name": reason.subject, "reason": reason.text} for reason in result.left_out],
        "interrupted": interrupted,
    }


def _types(cluster: Cluster, need: MachinesNeeded) -> list[Mapping[str, Any]]:
    """One entry per capacity that machines have: how many are needed, how many there are."""
    kinds, there = np.unique(cluster.machines.capacity, axis=0, return_counts=True)
    number = {tuple(kind): int(count) for kind, count in zip(kinds.tolist(), there.tolist(), strict=True)}
    return [
        {
            "type": written(capacity.tolist(), cluster.resources),
            "machines": int(count),
            "there": number[tuple(capacity.tolist())],
            "capacity": _written(cluster, capacity),
        }
        for capacity, count in zip(need.capacity, need.by_type, strict=True)
    ]


def _written(cluster: Cluster, capacity: IntArray) -> Mapping[str, str]:
    """Exact, as in a file."""
    pairs = zip(cluster.resources, capacity.tolist(), strict=True)
    return {resource.name: format_quantity(amount, resource.scale) for resource, amount in pairs}
