"""What a collocator may move: 004 knows capacity, allow lists, anti-affinity on machines, and what is pinned."""

from collections.abc import Iterable

import numpy as np

from bayplan.errors import UsageError
from bayplan.model import (
    AntiAffinity,
    BoolArray,
    Cluster,
    Confidence,
    Dependency,
    Interference,
    Rule,
    Spread,
    Transient,
    singled_out,
)
from bayplan.model.problem import Problem


def expect_known_rules(cluster: Cluster, method: str) -> None:
    """Nothing; UsageError if a rule counts for every container that moves, and the method does not know it."""
    for rule in cluster.rules:
        if isinstance(rule, Transient | Confidence):
            raise UsageError(f"method '{method}' does not know {rule.kind} rules; expected 'best'")


def movable(problem: Problem) -> BoolArray:
    """(container,) that may be moved without a look at rules that 004 does not know.

    Others stay: what is pinned, co-located or frozen, and all containers of workloads that are named by spread, dependency
    or interference rules, or by anti-affinity rules of a level above the machine.
    """
    cluster = problem.cluster
    bound = np.zeros(len(cluster.workloads.name), dtype=np.bool_)
    for rule in cluster.rules:
        bound[list(_bound_by(rule, cluster))] = True
    stays = singled_out(cluster) | bound[cluster.containers.workload]
    return ~(stays | problem.frozen if len(problem.frozen) else stays)


def _bound_by(rule: Rule, cluster: Cluster) -> Iterable[int]:
    """The workloads that a rule holds where they are."""
    if isinstance(rule, AntiAffinity):
        return rule.workloads if rule.level else ()
    if isinstance(rule, Interference):
        return rule.a, rule.b
    services = [rule.service] if isinstance(rule, Spread) else [rule.service, rule.on] if isinstance(rule, Dependency) else []
    of_services: list[int] = np.flatnonzero(np.isin(cluster.workloads.service, services)).tolist() if services else []
    return of_services
