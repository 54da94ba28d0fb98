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
    Term.UTILISATION: lambda inputs: utilisation_cost(inputs.cluster, inputs.placement),
    Term.BALANCE: lambda inputs: balance_cost(inputs.cluster, inputs.placement, inputs.objective),
    Term.COMMUNICATION: lambda inputs: communication_cost(inputs.cluster, inputs.placement, inputs.objective),
    Term.OVERLOAD: lambda inputs: overload_cost(inputs.cluster, inputs.placement, inputs.objective),
    Term.TARGETS: lambda inputs: target_cost(inputs.cluster, inputs.placement, inputs.objective.targets),
    Term.AFFINITY: lambda inputs: gained_affinity(inputs.cluster, inputs.placement),
    Term.MOVES: lambda inputs: 0 if inputs.before is None else moves(inputs.cluster, inputs.placement, inputs.before),
    Term.MOVE_COST: lambda inputs: objective_move_cost(*inputs).total,
}
EQUATION_6 = (Term.UTILISATION, Term.BALANCE, Term.COMMUNICATION)


class TermValues:
    """The terms of one placement, each worked out when it is first needed."""

    def __init__(self, inputs: TermInputs) -> None:
        self.inputs, self.known = inputs, dict[Term, float]()

    def __getitem__(self, term: Term) -> float:
        """The value of a term, in its own unit."""
        if term not in self.known:
            self.known[term] = TERMS[term](self.inputs)
        return self.known[term]

    @property
    def weighted(self) -> float:
        """The objective: each term times its weight, gains subtracted. Smaller is better."""
        weights = self.inputs.objective.weight.items()
        return float(sum(weight * self[term] * (-1 if term in GAINS else 1) for term, weight in weights if weight))

    @property
    def scores(self) -> Mapping[str, float]:
        """The scores that apply, by the names of the command line. Whole numbers are ints, exact."""
        cluster, placement, objective, before = self.inputs
        scores: dict[str, float] = {term.value: self[term] for term in EQUATION_6}
        if any(objective.weight.get(term) for term in EQUATION_6):
            scores["total"] = sum(objective.weight.get(term, 0.0) * scores[term.value] for term in EQUATION_6)  # (6)
        scores["overload"] = self[Term.OVERLOAD]
        if len(cluster.traffic.a):
            scores["affinity"] = self[Term.AFFINITY]
        if before is not None:
            scores["moves"] = self[Term.MOVES]
        if objective.move_costs is not None:
            scores["gmrp"] = gmrp_cost(*self.inputs).total
        confidence = stated_confidence(cluster)
        if confidence is not None:
            scale = cluster.resources[confidence.resource].scale
            scores["ucac"] = ucac(cluster, placement, confidence.resource, alpha=confidence.alpha) / scale
        scores["machines"] = int((containers_on(cluster, placement) > 0).sum())
        return scores


def weighted(cluster: Cluster, placement: Placement, objective: Objective, before: Placement | None = None) -> float:
    """The objective: each term times its weight, gains subtracted. Smaller is better."""
    return TermValues(TermInputs(cluster, placement, objective, before)).weighted


def score(
    cluster: Cluster, placement: Placement, objective: Objective | None = None, before: Placement | None = None
) -> Mapping[str, float]:
    """The scores that apply, by the names of the command line. Whole numbers are ints, exact."""
    objective = Objective.default(cluster) if objective is None else objective
    return TermValues(TermInputs(cluster, placement, objective, before)).scores


def stated_confidence(cluster: Cluster) -> Confidence | None:
    """The resource and alpha of the `ucac` score: those of the first confidence rule, else of the first stated usage."""
    for rule in cluster.rules:
        if isinstance(rule, Confidence):
            return rule
    workloads = cluster.workloads
    stated = (workloads.usage_std > 0) | (workloads.usage_mean != workloads.request)
    columns = stated.any(axis=0).nonzero()[0]
    return Confidence(resource=int(columns[0]), alpha=ALPHA) if len(columns) else None
