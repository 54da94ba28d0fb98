"""The problem of `pack`: unplaced containers, machines that may run some already, usage that is random."""

from dataclasses import dataclass

import numpy as np

from bayplan.errors import UsageError
from bayplan.model import (
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
from bayplan.score.counts import loads, workload_counts
from bayplan.score.packing import ChanceConstraint

UNLIMITED = np.iinfo(np.int64).max // 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PackProblem:
    """What a packer gets. Our workloads are called services in [UCaC]."""

    cluster: Cluster
    before: Placement
    chance_constraints: tuple[ChanceConstraint, ...]  # the first is the one whose UCaC is minimised
    request: IntArray  # (workload, resource) what is certain; only of resources under a capacity rule
    free: IntArray  # (machine, resource) capacity less what runs already; UNLIMITED where no rule limits it
    running: IntArray  # (machine, workload) containers that run there already
    unplaced: IntArray  # (workload,) containers to place
    allowed: BoolArray  # (workload, machine)

    @property
    def main(self) -> ChanceConstraint:
        """The constraint of the resource whose UCaC counts."""
        return self.chance_constraints[0]


def pack_problem(
    cluster: Cluster, before: Placement, *, alpha_of: FloatArray | None = None, main: int | None = None
) -> PackProblem:
    """The problem of a cluster with at least one confidence rule.

    `alpha_of` (workload,) states a confidence per workload; where it is larger than the rule's, it counts on every machine that
    runs such a workload. `main` is the resource whose UCaC counts; the first confidence rule's if it is None.
    """
    rules = [rule for rule in cluster.rules if isinstance(rule, Confidence)]
    if not rules:
        raise UsageError("no confidence is stated: expected a confidence rule")
    first = rules[0].resource if main is None else main
    rules.sort(key=lambda rule: rule.resource != first)
    limited = _limited(cluster)
    return PackProblem(
        cluster=cluster,
        before=before,
        chance_constraints=tuple(_chance_constraint(cluster, rule, alpha_of) for rule in rules),
        request=ints(np.where(limited, cluster.workloads.request, 0)),
        free=ints(np.where(limited, cluster.machines.capacity - loads(cluster, before), UNLIMITED)),
        running=ints(workload_counts(cluster, before).T.toarray()),
        unplaced=ints(np.bincount(cluster.containers.workload[before.unplaced], minlength=len(cluster.workloads.name))),
        allowed=allowed(cluster).row[allowed(cluster).row_of],
    )


def _chance_constraint(cluster: Cluster, rule: Confidence, alpha_of: FloatArray | None) -> ChanceConstraint:
    alpha = np.full(len(cluster.workloads.name), rule.alpha) if alpha_of is None else np.maximum(alpha_of, rule.alpha)
    if not ((alpha > 0.5) & (alpha < 1)).all():
        raise UsageError(
            f"confidence {alpha.min():g} of resource '{cluster.resources[rule.resource].name}': expected above 0.5 and below 1"
        )
    return ChanceConstraint(
        resource=rule.resource,
        mean=floats(cluster.workloads.usage_mean[:, rule.resource]),
        variance=floats(np.square(cluster.workloads.usage_std[:, rule.resource])),
        deviate=floats([deviate(float(a)) for a in alpha]),
        capacity=floats(cluster.machines.capacity[:, rule.resource]),
    )


def _limited(cluster: Cluster) -> BoolArray:
    """(resource,) under a capacity rule."""
    limited = np.zeros(len(cluster.resources), dtype=np.bool_)
    for rule in cluster.rules:
        if isinstance(rule, Capacity):
            limited[list(rule.resources)] = True
    return limited
