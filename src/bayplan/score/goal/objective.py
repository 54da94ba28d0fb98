"""What a goal means on one cluster: the objective, whose terms are shares there, and the rules that it adds.

- Local traffic is gained affinity, a share of all traffic between workloads. Where only the containers within services talk, it
  is the communication cost, as a share of what it costs if no two of them share a machine.
- Balance is the variance of utilisation, as a share of what it is now; machines that differ by no more than `EVEN` count as even,
  so that a cluster in good order is not torn apart for the rest.
- Overload is counted in largest machines. Its weight makes it a rank of its own: a thousandth of a machine above safety outweighs
  all traffic of the cluster.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bayplan.model import AntiAffinity, Cluster, Confidence, Objective, Placement, Rule, Snapshot, Term
from bayplan.model.goal import Goal
from bayplan.score.affinity import total_affinity
from bayplan.score.balance import utilisation_cost
from bayplan.score.terms import weighted

FIRST = 1_000.0  # weight of overload, in largest machines
MOST = 2 / 3  # of a workload's replicas in one zone
EVEN = 0.05  # standard deviation of utilisation


def goal_objective(snapshot: Snapshot, goal: Goal) -> Objective:
    """The objective of a goal, in the shares of the snapshot's placement."""
    cluster, stated = snapshot.cluster, snapshot.objective
    weight: dict[Term, float] = {
        Term.OVERLOAD: FIRST if goal.safety else 0.0,
        **_local_weight(cluster, stated, goal.local_traffic),
    }
    weight[Term.UTILISATION] = goal.balance / balance_unit(cluster, snapshot.placement)
    weight[Term.MOVES] = goal.price / max(1, len(snapshot.placement.placed))
    for term, value in goal.weights.items():
        weight[term] = weight.get(term, 0.0) + value
    largest = np.maximum(1, cluster.machines.capacity.max(axis=0, initial=0))
    return replace(stated, weight={term: value for term, value in weight.items() if value}, overload_weight=1.0 / largest)


def third_rank(cluster: Cluster, placement: Placement, objective: Objective, before: Placement) -> float:
    """The weighted rest of a goal, with the price of moves and without the load above safety. Less is better."""
    rest: dict[Term, float] = {term: value for term, value in objective.weight.items() if term is not Term.OVERLOAD}
    return weighted(cluster, placement, replace(objective, weight=rest), before)


def balance_unit(cluster: Cluster, placement: Placement) -> float:
    """The variance of utilisation that counts as 1: today's, or that of machines that are nearly even."""
    return max(utilisation_cost(cluster, placement), EVEN**2 * max(1, len(cluster.resources)))


def _local_weight(cluster: Cluster, stated: Objective, weight: float) -> dict[Term, float]:
    if total_affinity(cluster) > 0:
        return {Term.AFFINITY: weight}
    size = np.bincount(cluster.workloads.service, weights=cluster.replicas, minlength=len(cluster.services.name))
    apart = float(cluster.services.clique @ (size * (size - 1) / 2)) * float(stated.hop.sum())
    return {Term.COMMUNICATION: weight / apart} if apart > 0 else {}


def rules_of_goal(cluster: Cluster, goal: Goal) -> tuple[Rule, ...]:
    """The rules that a goal adds to those of a cluster."""
    return (*_confidence(cluster, goal.confidence), *(_spread(cluster) if goal.spread else ()))


def _confidence(cluster: Cluster, alpha: float | None) -> Iterator[Rule]:
    """For each resource whose usage is uncertain, unless a rule is as strict already."""
    if alpha is None:
        return
    strictest = {rule.resource: rule.alpha for rule in cluster.rules if isinstance(rule, Confidence)}
    for r in np.flatnonzero((cluster.workloads.usage_std > 0).any(axis=0)).tolist():
        if strictest.get(r, 0.0) < alpha:
            yield Confidence(resource=r, alpha=alpha)


def _spread(cluster: Cluster) -> Iterator[Rule]:
    """No group of the largest level holds more than `MOST` of a workload, or what an even spread needs if that is more."""
    level = spread_level(cluster)
    groups = len(cluster.levels[level].group)
    for w, replicas in enumerate(cluster.replicas.tolist()):
        if replicas > 1 and groups > 1:
            yield AntiAffinity(workloads=(w,), limit=max(math.ceil(replicas / groups), int(MOST * replicas + 1e-9)), level=level)


def spread_level(cluster: Cluster) -> int:
    """The level with the fewest groups, of at least two: zones rather than racks; machines where there is no other."""
    several = [level for level, known in enumerate(cluster.levels) if len(known.group) > 1]
    return min(several, key=lambda level: len(cluster.levels[level].group), default=0)
