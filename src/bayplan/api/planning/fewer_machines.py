"""Which machines can go: as many as can be emptied within the limit of moves, while all rules and safety hold."""

from dataclasses import dataclass, replace

import numpy as np

from bayplan.api.planning.question import PlanQuestion
from bayplan.api.planning.target import with_new_containers
from bayplan.api.what_if.closed_machines import closed
from bayplan.api.what_if.replicas import pinned_containers
from bayplan.check import check
from bayplan.model import UNPLACED, Budget, IntArray, Placement, Progress, Tick, ints
from bayplan.model.allowed_machines import daemons
from bayplan.model.problem import Problem
from bayplan.score.gmrp import moves, overload_cost
from bayplan.score.utilisation import machine_fullness
from bayplan.search.anneal import search

LEAST_SECONDS = 0.2  # for one try


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EmptiedMachines:
    """The machines that can go, the problem without them, and a placement of it."""

    machines: IntArray
    problem: Problem


def empty_machines(question: PlanQuestion, *, budget: Budget, seed: int, progress: Progress) -> EmptiedMachines:
    """As many machines as were found to go, the least loaded first: doubled while that works, then halved in between."""
    order = _candidates(question)
    tries = 1 + 2 * max(1, int(np.ceil(np.log2(len(order) + 1))))
    each = budget if budget.seconds is None else replace(budget, seconds=max(LEAST_SECONDS, budget.seconds / tries))
    all_stay = _searched(question.problem, each, seed)
    best = EmptiedMachines(machines=ints([]), problem=replace(question.problem, start=all_stay))
    works, fails, size = 0, len(order) + 1, 1
    while works + 1 < fails:
        attempt = _attempt(question, all_stay, ints(np.sort(order[:size])), each, seed)
        if attempt is None:
            fails = size
        else:
            works, best = size, attempt
        progress(Tick(stage=f"emptying machines: {works} can go", done=min(1.0, works / max(1, fails - 1))))
        size = min(2 * works, len(order)) if fails > len(order) and works else (works + fails) // 2
        size = max(size, works + 1)
    return best


def _candidates(question: PlanQuestion) -> IntArray:
    """Machines that run something, and nothing that must stay but what goes with its machine; the least loaded first."""
    snapshot, problem = question.changed.snapshot, question.problem
    machine_of = snapshot.placement.machine_of
    stays = pinned_containers(snapshot.cluster) & ~daemons(snapshot.cluster, snapshot.placement)
    stays = stays | problem.frozen if len(problem.frozen) else stays
    held = set(machine_of[stays & (machine_of != UNPLACED)].tolist())
    full = np.nan_to_num(machine_fullness(snapshot.cluster, snapshot.placement), nan=0.0, posinf=np.inf).max(axis=1, initial=0.0)
    used = np.unique(machine_of[machine_of != UNPLACED])
    free = [m for m in used.tolist() if m not in held]
    return ints(sorted(free, key=lambda m: (full[m], m)))


def _searched(problem: Problem, budget: Budget, seed: int) -> Placement:
    return search(replace(problem, start=with_new_containers(problem, seed)), budget=budget, seed=seed)


def _attempt(
    question: PlanQuestion, all_stay: Placement, machines: IntArray, budget: Budget, seed: int
) -> EmptiedMachines | None:
    """The problem without these machines, started from a placement in which they are empty; None if none was found.

    `all_stay`: what was found with all machines. Without some of them it must not be worse in the first ranks.
    """
    problem = _without(question, machines)
    placement = _searched(problem, budget, seed)
    if not _holds(question, all_stay, placement, machines):
        return None
    return EmptiedMachines(machines=machines, problem=replace(problem, start=placement))


def _without(question: PlanQuestion, machines: IntArray) -> Problem:
    chosen = np.zeros(len(question.problem.cluster.machines.name), dtype=np.bool_)
    chosen[machines] = True
    whole = replace(question.changed.snapshot, cluster=question.problem.cluster)
    return replace(question.problem, cluster=closed(whole, chosen).cluster)


def _holds(question: PlanQuestion, all_stay: Placement, placement: Placement, machines: IntArray) -> bool:
    """Are these machines empty, nothing further violated, nothing hotter than with all, and the moves within their limit?"""
    cluster, before, limit = question.problem.cluster, question.problem.before, question.problem.max_moves
    left = np.isin(placement.machine_of, machines) & ~daemons(cluster, before)
    if left.any() or len(placement.unplaced) > len(all_stay.unplaced):
        return False
    if limit is not None and moves(cluster, placement, before) > limit:
        return False
    old, new = (overload_cost(cluster, each, question.problem.objective) for each in (all_stay, placement))
    if new > old * (1 + 1e-9):
        return False
    excess = {violation.place: violation.excess for violation in check(cluster, before)}
    return all(v.excess <= excess.get(v.place, 0.0) * (1 + 1e-12) for v in check(cluster, placement, before))
