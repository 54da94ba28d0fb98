"""Which machines can go: as many as can be emptied within the limit of moves, while all rules and safety hold."""

from dataclasses import dataclass, replace

import numpy as np

from bayplan.api.planning.question import PlanQuestion
from bayplan.api.planning.target import with_new_containers
from bayplan.api.what_if.closed_machines import closed
from bayplan.api.what_if.replicas import pinned_containers
from bayplan.check import check
from bayplan.model import UNPLACED, Budget, IntArray, Placement, Progress, Tick, ints
from bayplan.model.problem import Problem
from bayplan.score.gmrp import machine_overload, moves
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
    best = EmptiedMachines(machines=ints([]), problem=question.problem)
    tries = 2 * max(1, int(np.ceil(np.log2(len(order) + 1))))
    each = budget if budget.seconds is None else replace(budget, seconds=max(LEAST_SECONDS, budget.seconds / tries))
    works, fails, size = 0, len(order) + 1, 1
    while works + 1 < fails:
        attempt = _attempt(question, ints(np.sort(order[:size])), each, seed)
        if attempt is None:
            fails = size
        else:
            works, best = size, attempt
        progress(Tick(stage=f"emptying machines: {works} can go", done=min(1.0, works / max(1, fails - 1))))
        size = min(2 * works, len(order)) if fails > len(order) and works else (works + fails) // 2
        size = max(size, works + 1)
    return best


def _candidates(question: PlanQuestion) -> IntArray:
    """Machines that run something, and nothing that must stay; the least loaded first."""
    snapshot, problem = question.changed.snapshot, question.problem
    machine_of = snapshot.placement.machine_of
    stays = pinned_containers(snapshot.cluster)
    stays = stays | problem.frozen if len(problem.frozen) else stays
    held = set(machine_of[stays & (machine_of != UNPLACED)].tolist())
    full = np.nan_to_num(machine_fullness(snapshot.cluster, snapshot.placement), nan=0.0, posinf=np.inf).max(axis=1, initial=0.0)
    used = np.unique(machine_of[machine_of != UNPLACED])
    free = [m for m in used.tolist() if m not in held]
    return ints(sorted(free, key=lambda m: (full[m], m)))


def _attempt(question: PlanQuestion, machines: IntArray, budget: Budget, seed: int) -> EmptiedMachines | None:
    """The problem without these machines, started from a placement in which they are empty; None if none was found."""
    problem = _without(question, machines)
    start = with_new_containers(problem, seed)
    placement = search(replace(problem, start=start), budget=budget, seed=seed)
    if not _holds(question, problem, placement, machines):
        return None
    return EmptiedMachines(machines=machines, problem=replace(problem, start=placement))


def _without(question: PlanQuestion, machines: IntArray) -> Problem:
    chosen = np.zeros(len(question.problem.cluster.machines.name), dtype=np.bool_)
    chosen[machines] = True
    whole = replace(question.changed.snapshot, cluster=question.problem.cluster)
    return replace(question.problem, cluster=closed(whole, chosen).cluster)


def _holds(question: PlanQuestion, problem: Problem, placement: Placement, machines: IntArray) -> bool:
    """Are these machines empty, nothing further violated, nothing hotter, and the moves within their limit?"""
    cluster, before = question.problem.cluster, question.problem.before
    if np.isin(placement.machine_of, machines).any() or len(placement.unplaced) > len(before.unplaced):
        return False
    if problem.max_moves is not None and moves(cluster, placement, before) > problem.max_moves:
        return False
    if machine_overload(cluster, placement).sum() > machine_overload(cluster, before).sum():
        return False
    excess = {violation.place: violation.excess for violation in check(cluster, before)}
    return all(v.excess <= excess.get(v.place, 0.0) * (1 + 1e-12) for v in check(cluster, placement, before))
