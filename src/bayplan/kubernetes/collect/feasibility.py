"""Would the scheduler put this container on that machine? By the rules of the model, as its referee judges them."""

import numpy as np

from bayplan.check import Violation, violations
from bayplan.model import Allow, AntiAffinity, Cluster, Dependency, Interference, Placement, Rule, Skew, Snapshot, ints


def obstacles(snapshot: Snapshot, container: int, machine: int) -> tuple[Violation, ...]:
    """Every rule that keeps a container from a machine, with all others where they are; empty if it may run there.

    Stricter than "no rule is violated further": where a rule about this container is violated already, nothing is added to it,
    because a scheduler adds nothing either. What runs elsewhere in violation of a rule does not matter.
    """
    machine_of = np.array(snapshot.placement.machine_of)
    machine_of[container] = machine
    found = violations(snapshot.cluster, Placement(machine_of=ints(machine_of)))
    return tuple(one for one in found if one.number >= 0 and _concerns(snapshot.cluster, one, container, machine))


def _concerns(cluster: Cluster, violation: Violation, container: int, machine: int) -> bool:
    """Is a violation about this container on this machine?"""
    rule = cluster.rules[violation.number]
    workload = int(cluster.containers.workload[container])
    if rule.kind == "capacity":
        name, resource = violation.subject
        r = [known.name for known in cluster.resources].index(resource)
        return name == cluster.machines.name[machine] and bool(cluster.workloads.request[workload, r])
    if isinstance(rule, Allow):
        return violation.subject == (cluster.workloads.name[workload], cluster.machines.name[machine])
    return workload in _bound(cluster, rule) and _is_here(cluster, rule, violation, machine)


def _bound(cluster: Cluster, rule: Rule) -> frozenset[int]:
    """The workloads whose containers a rule keeps from groups of machines."""
    if isinstance(rule, AntiAffinity):
        return frozenset(rule.workloads)
    if isinstance(rule, Interference):
        return frozenset({rule.a, rule.b})
    if isinstance(rule, Skew):
        return frozenset({rule.workload})
    if isinstance(rule, Dependency):
        return frozenset(np.flatnonzero(cluster.workloads.service == rule.service).tolist())
    return frozenset()


def _is_here(cluster: Cluster, rule: Rule, violation: Violation, machine: int) -> bool:
    """Is a violation in the group of this machine? Referees name the group last."""
    level = cluster.levels[getattr(rule, "level", 0)]
    return bool(violation.subject[-1] == level.group[level.group_of[machine]])
