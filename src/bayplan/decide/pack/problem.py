"""The question of `pack`: containers without a machine, machines that may run some already, usage that is random."""

from dataclasses import dataclass, field

import numpy as np

from bayplan.errors import UsageError
from bayplan.model import (
    UNPLACED,
    BoolArray,
    Capacity,
    Cluster,
    Confidence,
    FloatArray,
    IntArray,
    Placement,
    allowed,
    floats,
    ints,
)
from bayplan.score.confidence import deviate


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chance:
    """One resource whose usage stays within capacity with a stated probability: mean + d sqrt(variance) <= room (003 (2))."""

    resource: int
    mean: FloatArray  # (workload,)
    variance: FloatArray  # (workload,)
    d: FloatArray  # (workload,) deviates; on a machine the largest of those that run there counts
    room: FloatArray  # (machine,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PackProblem:
    """What a packer gets. Workloads are the services of 003."""

    cluster: Cluster
    before: Placement
    chances: tuple[Chance, ...]  # the first is the one whose UCaC is to be small
    request: IntArray  # (workload, resource) what is certain; only of resources under a capacity rule
    free: IntArray  # (machine, resource) for it, less what runs already; a very large number where nothing limits
    running: IntArray  # (machine, workload) containers that stand there already
    waiting: IntArray  # (workload,) containers to place
    allowed: BoolArray  # (workload, machine)
    notes: tuple[str, ...] = field(default=())

    @property
    def main(self) -> Chance:
        """The resource whose UCaC counts."""
        return self.chances[0]


def pack_problem(
    cluster: Cluster, before: Placement, *, alpha_of: FloatArray | None = None, main: int | None = None
) -> PackProblem:
    """The problem of a cluster with at least one confidence rule.

    `alpha_of` (workload,) states a confidence per service; where it is larger than the rule's, it counts on every machine that
    runs such a service. `main` is the resource whose UCaC counts; the first confidence rule's if it is None.
    """
    rules = [rule for rule in cluster.rules if isinstance(rule, Confidence)]
    if not rules:
        raise UsageError("no confidence is stated: expected a confidence rule in the input, or --confidence")
    first = rules[0].resource if main is None else main
    rules.sort(key=lambda rule: rule.resource != first)
    return PackProblem(
        cluster=cluster,
        before=before,
        chances=tuple(_chance(cluster, rule, alpha_of) for rule in rules),
        request=ints(np.where(_limited(cluster), cluster.workloads.request, 0)),
        free=_free(cluster, before),
        running=_running(cluster, before),
        waiting=ints(np.bincount(cluster.containers.workload[before.unplaced], minlength=len(cluster.workloads.name))),
        allowed=allowed(cluster).row[allowed(cluster).row_of],
    )


def _chance(cluster: Cluster, rule: Confidence, alpha_of: FloatArray | None) -> Chance:
    alpha = np.full(len(cluster.workloads.name), rule.alpha) if alpha_of is None else np.maximum(alpha_of, rule.alpha)
    if not ((alpha > 0.5) & (alpha < 1)).all():
        raise UsageError(
            f"confidence {alpha.min():g} of resource '{cluster.resources[rule.resource].name}': expected above 0.5 and below 1"
        )
    return Chance(
        resource=rule.resource,
        mean=floats(cluster.workloads.usage_mean[:, rule.resource]),
        variance=floats(np.square(cluster.workloads.usage_std[:, rule.resource])),
        d=floats([deviate(float(a)) for a in alpha]),
        room=floats(cluster.machines.capacity[:, rule.resource]),
    )


def _limited(cluster: Cluster) -> BoolArray:
    """(resource,) under a capacity rule."""
    limited = np.zeros(len(cluster.resources), dtype=np.bool_)
    for rule in cluster.rules:
        if isinstance(rule, Capacity):
            limited[list(rule.resources)] = True
    return limited


def _free(cluster: Cluster, before: Placement) -> IntArray:
    load = np.zeros(cluster.machines.capacity.shape, dtype=np.int64)
    placed = before.placed
    np.add.at(load, before.machine_of[placed], cluster.request_of(placed))
    return ints(np.where(_limited(cluster), cluster.machines.capacity - load, np.iinfo(np.int64).max // 4))


def _running(cluster: Cluster, before: Placement) -> IntArray:
    n_m, n_w = len(cluster.machines.name), len(cluster.workloads.name)
    placed = np.flatnonzero(before.machine_of != UNPLACED)
    cell = before.machine_of[placed] * n_w + cluster.containers.workload[placed]
    return ints(np.bincount(cell, minlength=n_m * n_w).reshape(n_m, n_w))
