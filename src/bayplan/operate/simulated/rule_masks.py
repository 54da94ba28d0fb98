"""Machines that a rule other than capacity, allow and anti-affinity keeps a pending container off."""

from dataclasses import replace

import numpy as np

from bayplan.check.placement.context import placement_context
from bayplan.model import (
    UNPLACED,
    Allow,
    AntiAffinity,
    BoolArray,
    Capacity,
    CoLocate,
    Containers,
    Machines,
    Pinned,
    Placement,
    ints,
)
from bayplan.operate.simulated.instances import NOWHERE, SimulatedInstance
from bayplan.operate.simulated.live_cluster import LiveCluster
from bayplan.score.explain.blockers import blockers
from bayplan.score.explain.move import CandidateMove


def has_further_rules(live: LiveCluster) -> bool:
    """Are there rules that the charges of machines do not show?"""
    return any(not isinstance(rule, Capacity | Allow | AntiAffinity) for rule in live.universe.cluster.rules)


def permitted(live: LiveCluster, instance: SimulatedInstance) -> BoolArray:
    """(machine,) where a pending instance violates no rule, or none more than it is violated now."""
    cluster = live.universe.cluster
    every = [other for slot in live.every_slot() for other in slot.instances()]
    placement = Placement(machine_of=ints([other.machine for other in every]))
    left = np.array(cluster.machines.capacity)
    for other in live.stopping.values():
        left[other.machine] -= cluster.workloads.request[other.workload]
    now = replace(
        cluster,
        machines=Machines(name=cluster.machines.name, capacity=ints(np.maximum(left, 0)), safety=cluster.machines.safety),
        containers=Containers(name=tuple(other.uid for other in every), workload=ints([other.workload for other in every])),
        rules=tuple(rule for rule in cluster.rules if not isinstance(rule, CoLocate | Pinned)),  # see `_beside`, `home`
    )
    context = placement_context(now, placement, placement)
    members = ints([every.index(instance)])
    move = CandidateMove(cluster=now, members=members, home=UNPLACED, now=context, others=context)
    may = np.ones(len(cluster.machines.name), dtype=np.bool_)
    for blocker in blockers(move):
        may &= ~blocker.blocks
    return may & _beside(live, instance)


def _beside(live: LiveCluster, instance: SimulatedInstance) -> BoolArray:
    """(machine,) where the containers run that a co-locate rule ties to it; every machine if none of them runs."""
    tied = {
        c
        for rule in live.universe.cluster.rules
        if isinstance(rule, CoLocate) and instance.slot.index in rule.containers
        for c in rule.containers
        if c != instance.slot.index
    }
    partners = [slot.first for slot in live.every_slot() if slot.index in tied and slot.first is not None]
    machines = [partner.machine for partner in partners if partner.machine != NOWHERE]
    may = np.full(len(live.machines), not machines)
    may[machines] = True
    return may
