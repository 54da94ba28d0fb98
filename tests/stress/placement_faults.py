"""What is wrong with a placement that a verb answered, by the naive rules, the naive scores and brute force."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np
from tests.naive import scores as naive
from tests.naive.best_placement import better_than, excess_of, left_out_though_it_fits, worse
from tests.stress.cases import Case
from tests.stress.outcomes import Outcome

from bayplan.check import check
from bayplan.model import UNPLACED, Cluster, Objective, Pinned, Placement, Snapshot, Term, Traffic, floats
from bayplan.model.goal import STEADY
from bayplan.score.goal.objective import goal_objective

ROUNDING = 1e-7  # relative
MOST_PLACEMENTS = 400  # that brute force tries
SHOWN_TERMS: dict[str, Callable[[Cluster, Placement, Objective], float]] = {
    "utilisation": lambda cluster, placement, objective: naive.utilisation_cost(cluster, placement),
    "balance": naive.balance_cost,
    "communication": naive.communication_cost,
    "overload": naive.overload_cost,
    "affinity": lambda cluster, placement, objective: naive.gained_affinity(cluster, placement),
    "machines": lambda cluster, placement, objective: len(set(placement.machine_of[placement.placed].tolist())),
}


def placement_faults(case: Case, outcome: Outcome) -> Iterator[str]:
    """Sentences; none if all is well."""
    snapshot = wanted(case)
    placement = outcome.solution
    if placement is None:
        yield f"no placement, status {outcome.status}"
        return
    yield from rule_faults(snapshot.cluster, placement, snapshot.placement)
    yield from _kept_faults(case, snapshot, outcome)
    yield from score_faults(snapshot, outcome)
    if case.verb != "rebalance" and case.method != "original":
        yield from left_out_faults(snapshot.cluster, placement, snapshot.placement)
        yield from _name_faults(snapshot.cluster, outcome)
    yield from _gain_faults(case, snapshot, outcome)
    yield from _bound_faults(case, snapshot, outcome)


def wanted(case: Case) -> Snapshot:
    """The snapshot under the objective that the options state."""
    snapshot, options = case.value, case.options
    if case.verb == "collocate":
        weight = {Term.AFFINITY: 1.0, **{Term(name): value for name, value in options.get("weights", {}).items()}}
        if options.get("move_price"):
            share = options["move_price"] / max(1, len(snapshot.cluster.containers.name))
            weight[Term.MOVES] = weight.get(Term.MOVES, 0.0) + share
        cluster = _prioritised(snapshot.cluster, options.get("priority", {}))
        return replace(snapshot, cluster=cluster, objective=snapshot.objective.with_weights(weight))
    objective = snapshot.objective if snapshot.objective.explicit else goal_objective(snapshot, STEADY)
    if options.get("objective") == "steady":
        objective = goal_objective(snapshot, STEADY)
    if options.get("objective") == "freecontainer":
        objective = Objective.default(snapshot.cluster)
    weights = {Term(name): value for name, value in options.get("weights", {}).items()}
    return replace(snapshot, objective=objective.with_weights({**objective.weight, **weights}) if weights else objective)


def _prioritised(cluster: Cluster, priority: dict[str, float]) -> Cluster:
    factor = dict.fromkeys(range(len(cluster.workloads.name)), 1.0)
    for name, value in priority.items():
        factor.update({w: value for w, known in enumerate(cluster.workloads.name) if fnmatchcase(known, name)})
    edges = cluster.traffic
    times = [max(factor[a], factor[b]) for a, b in zip(edges.a.tolist(), edges.b.tolist(), strict=True)]
    weight = edges.weight * np.array(times, dtype=float)
    return replace(cluster, traffic=Traffic(a=edges.a, b=edges.b, weight=floats(weight)))


def rule_faults(cluster: Cluster, placement: Placement, before: Placement) -> Iterator[str]:
    """Rules that are violated further than before; both referees must agree about what is violated."""
    then, now = (excess_of(cluster, each, before) for each in (before, placement))
    for key in worse(now, then):
        number = key[0]
        kind = cluster.rules[number].kind if number >= 0 else "running"
        yield f"rule {kind} violated further: {key} by {now[key]:g} instead of {then.get(key, 0.0):g}"
    referee = {v.number for v in check(cluster, placement, before)}
    if referee != {key[0] for key in now}:
        yield f"the referees disagree: {sorted(referee)} and {sorted({key[0] for key in now})}"


def _kept_faults(case: Case, snapshot: Snapshot, outcome: Outcome) -> Iterator[str]:
    """What must stay stays; no more moves than allowed."""
    before, after = snapshot.placement.machine_of, outcome.solution.machine_of
    ran = before != UNPLACED
    if (after[ran] == UNPLACED).any():
        yield "a container lost its machine"
    stays = must_stay(case, snapshot)
    if (after[stays & ran] != before[stays & ran]).any():
        yield "what is to stay has moved"
    if case.verb == "rebalance" and (after[~ran] != UNPLACED).any():
        yield "rebalance placed a new container"
    moved = int((ran & (after != before)).sum())
    if moved != outcome.moved:
        yield f"{moved} containers moved, the answer says {outcome.moved}"
    most = max_moves(case, int(ran.sum()))
    if most is not None and moved > most:
        yield f"{moved} containers moved, at most {most} may"


def must_stay(case: Case, snapshot: Snapshot) -> np.ndarray:
    """(container,) pinned, frozen, or anything that runs (place and pack)."""
    cluster = snapshot.cluster
    stays = np.full(len(cluster.containers.name), case.verb in ("place", "pack"), dtype=np.bool_)
    for rule in cluster.rules:
        if isinstance(rule, Pinned):
            stays[list(rule.containers)] = True
    for pattern in case.options.get("freeze", ()):
        for c, name in enumerate(cluster.containers.name):
            workload = cluster.workloads.name[cluster.containers.workload[c]]
            stays[c] |= fnmatchcase(name, pattern) or fnmatchcase(workload, pattern)
    return stays


def max_moves(case: Case, running: int) -> int | None:
    limit = case.options.get("max_moves")
    if limit is None:
        return None
    return int(running * float(limit[:-1]) / 100) if isinstance(limit, str) else int(limit)


def score_faults(snapshot: Snapshot, outcome: Outcome) -> Iterator[str]:
    """Scores that differ from those of obvious loops."""
    cluster, objective, before, placement = snapshot.cluster, snapshot.objective, snapshot.placement, outcome.solution
    for name, term in SHOWN_TERMS.items():
        if name in outcome.score:
            yield from _unequal(name, outcome.score[name], term(cluster, placement, objective), 0.0)
    if outcome.goal == "objective":
        parts = [
            abs(naive.weighted(cluster, placement, objective.with_weights({t: w}), before)) for t, w in objective.weight.items()
        ]
        value = naive.weighted(cluster, placement, objective, before)
        yield from _unequal("objective", outcome.score["objective"], value, sum(parts))


def _unequal(name: str, value: float, expected: float, size: float) -> Iterator[str]:
    if not abs(value - expected) <= 1e-12 + ROUNDING * max(abs(value), abs(expected), size):
        yield f"score {name} is {value}, obvious loops say {expected}"


def left_out_faults(cluster: Cluster, placement: Placement, before: Placement) -> Iterator[str]:
    """Containers that have no machine although one could take them."""
    for unit, m in left_out_though_it_fits(cluster, placement, before):
        names = ", ".join(cluster.containers.name[c] for c in unit)
        yield f"left out though it fits: {names} on {cluster.machines.name[m]}"


def _name_faults(cluster: Cluster, outcome: Outcome) -> Iterator[str]:
    """Whatever has no machine is named, container by container or workload by workload."""
    for c in outcome.solution.unplaced.tolist():
        names = {cluster.containers.name[c], cluster.workloads.name[cluster.containers.workload[c]]}
        if not names & set(outcome.left_out) and len(outcome.left_out) < 20:
            yield f"{cluster.containers.name[c]} has no machine and no reason"
            return


def _gain_faults(case: Case, snapshot: Snapshot, outcome: Outcome) -> Iterator[str]:
    """Answers that cost more than a valid start, or gain less affinity."""
    cluster, before, after = snapshot.cluster, snapshot.placement, outcome.solution
    if case.verb == "rebalance" and not excess_of(cluster, before, before):
        costs = [naive.weighted(cluster, placement, snapshot.objective, before) for placement in (before, after)]
        if costs[1] > costs[0] + ROUNDING * max(abs(costs[0]), abs(costs[1])):
            yield f"costs {costs[1]}, the start {costs[0]}"
    if case.verb == "collocate" and not case.options.get("weights") and not excess_of(cluster, before, before):
        gains = [naive.gained_affinity(cluster, placement) for placement in (before, after)]
        if gains[1] < gains[0] - 1e-9:
            yield f"gains {gains[1]}, the start {gains[0]}"


def _bound_faults(case: Case, snapshot: Snapshot, outcome: Outcome) -> Iterator[str]:
    """Bounds that a placement beats, and answers that are called optimal and are not."""
    cluster, before = _within_safety(case, snapshot), snapshot.placement
    sign = -1.0 if outcome.goal == "affinity" else 1.0
    value = outcome.score.get(outcome.goal)
    if outcome.status == "optimal" and outcome.bound is None:
        yield "optimal without a bound"
    if outcome.bound is None or value is None:
        return
    limit = sign * (value if outcome.status == "optimal" else outcome.bound)
    limit -= ROUNDING * abs(limit) + (1e-9 if outcome.goal == "affinity" else 1e-12)
    stays = set(np.flatnonzero(must_stay(case, snapshot) & (before.machine_of != UNPLACED)).tolist())
    free = len(before.machine_of) - len(stays)
    if len(cluster.machines.name) ** free > MOST_PLACEMENTS:
        return

    def cost(placement: Placement) -> float:
        if outcome.goal == "affinity":
            return -naive.gained_affinity(cluster, placement)
        return goal_cost(snapshot, placement, outcome.goal)

    found = better_than(cluster, before, limit, cost, stays=stays)
    if found is not None and (outcome.goal == "affinity" or not excess_of(cluster, found, before)):
        claim = "called optimal" if outcome.status == "optimal" else f"bound {outcome.bound}"
        yield f"{outcome.goal} {value}, {claim}, but {sign * cost(found)} is possible: {found.machine_of.tolist()}"


def _within_safety(case: Case, snapshot: Snapshot) -> Cluster:
    """The cluster that a bound of `collocate` is about: machines have their safety capacity, or what they run if that is more."""
    cluster, machines = snapshot.cluster, snapshot.cluster.machines
    if case.verb != "collocate" or not case.options.get("safety", True):
        return cluster
    load = np.zeros_like(machines.capacity)
    for c, m in enumerate(snapshot.placement.machine_of.tolist()):
        if m != UNPLACED:
            load[m] += cluster.workloads.request[cluster.containers.workload[c]]
    capacity = np.minimum(machines.capacity, np.maximum(machines.safety, load))
    return replace(cluster, machines=replace(machines, capacity=capacity, safety=np.minimum(machines.safety, capacity)))


def goal_cost(snapshot: Snapshot, placement: Placement, goal: str) -> float:
    """The goal's score of a placement."""
    objective = snapshot.objective
    if goal == "total":
        kept = {Term.UTILISATION, Term.BALANCE, Term.COMMUNICATION}
        objective = objective.with_weights({term: weight for term, weight in objective.weight.items() if term in kept})
    return naive.weighted(snapshot.cluster, placement, objective, snapshot.placement)
