"""The scores of a placement by name, and the one number that an objective makes of them."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from bayplan.model import GAINS, Cluster, Confidence, Objective, Placement, Term
from bayplan.score.affinity import gained_affinity
from bayplan.score.balance import balance_cost, communication_cost, utilisation_cost
from bayplan.score.confidence import ALPHA, ucac
from bayplan.score.counts import containers_on
from bayplan.score.gmrp import gmrp_cost, moves, objective_move_cost, overload_cost, target_cost


class TermInputs(NamedTuple):
    """What a term may look at."""

    cluster: Cluster
    placement: Placement
    objective: Objective
    before: Placement | None = None  # where the containers ran; None if nothing counts as moved


TERMS: Mapping[Term, Callable[[TermInputs], float]] = {
    Term.UTILISATION: lambda case: utilisation_cost(case.cluster, case.placement),
    Term.BALANCE: lambda case: balance_cost(case.cluster, case.placement, case.objective),
    Term.COMMUNICATION: lambda case: communication_cost(case.cluster, case.placement, case.objective),
    Term.OVERLOAD: lambda case: overload_cost(case.cluster, case.placement, case.objective),
    Term.TARGETS: lambda case: target_cost(case.cluster, case.placement, case.objective.targets),
    Term.AFFINITY: lambda case: gained_affinity(case.cluster, case.placement),
    Term.MOVES: lambda case: 0 if case.before is None else moves(case.cluster, case.placement, case.before),
    Term.MOVE_COST: lambda case: objective_move_cost(*case).total,
}
EQUATION_6 = (Term.UTILISATION, Term.BALANCE, Term.COMMUNICATION)


def weighted(cluster: Cluster, placement: Placement, objective: Objective, before: Placement | None = None) -> float:
    """The objective: each term times its weight, gains subtracted. Smaller is better."""
    case = TermInputs(cluster, placement, objective, before)
    parts = (weight * TERMS[term](case) * (-1 if term in GAINS else 1) for term, weight in objective.weight.items() if weight)
    return float(sum(parts))


def score(
    cluster: Cluster, placement: Placement, objective: Objective | None = None, before: Placement | None = None
) -> Mapping[str, float]:
    """The scores that apply, by the names of the command line. Whole numbers are ints, exact."""
    objective = Objective.default(cluster) if objective is None else objective
    case = TermInputs(cluster, placement, objective, before)
    scores: dict[str, float] = {term.value: TERMS[term](case) for term in EQUATION_6}
    if any(objective.weight.get(term) for term in EQUATION_6):
        scores["total"] = sum(objective.weight.get(term, 0.0) * scores[term.value] for term in EQUATION_6)  # (6)
    scores["overload"] = TERMS[Term.OVERLOAD](case)
    if len(cluster.traffic.a):
        scores["affinity"] = TERMS[Term.AFFINITY](case)
    if before is not None:
        scores["moves"] = TERMS[Term.MOVES](case)
    if objective.move_costs is not None:
        scores["gmrp"] = gmrp_cost(*case).total
    asked = confidence_asked(cluster)
    if asked is not None:
        in_units = cluster.resources[asked.resource].scale
        scores["ucac"] = ucac(cluster, placement, asked.resource, alpha=asked.alpha) / in_units
    scores["machines"] = int((containers_on(cluster, placement) > 0).sum())
    return scores


def confidence_asked(cluster: Cluster) -> Confidence | None:
    """The resource and alpha of the `ucac` score: those of the first confidence rule, else of the first stated usage."""
    for rule in cluster.rules:
        if isinstance(rule, Confidence):
            return rule
    workloads = cluster.workloads
    stated = (workloads.usage_std > 0) | (workloads.usage_mean != workloads.request)
    columns = stated.any(axis=0).nonzero()[0]
    return Confidence(resource=int(columns[0]), alpha=ALPHA) if len(columns) else None
