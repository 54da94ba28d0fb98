"""Which machines can go: as many as can be emptied within the limit of moves, while all rules and safety hold."""

from dataclasses import dataclass, replace

import numpy as np

from bayplan.api.planning.question import PlanQuestion
from bayplan.api.planning.target import with_new_containers
from bayplan.api.what_if.closed_machines import closed
from bayplan.check import check
from bayplan.model import UNPLACED, Budget, IntArray, Placement, Progress, Tick, ints
from bayplan.model.allowed_machines import daemons, pinned_containers
from bayplan.model.problem import Problem
from bayplan.score.gmrp import moves, overload_cost
from bayplan.score.utilisation import machine_fullness
from bayplan.search.anneal import search

TRIES = 16
LEAST_SECONDS, ALL_STAY = 0.2, 0.6  # for one try, and for a placement in which all machines stay


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EmptiedMachines:
    """The machines that can go, the problem without them, and a placement of it."""

    machines: IntArray
    problem: Problem


def empty_machines(question: PlanQuestion, *, budget: Budget, seed: int, progress: Progress) -> EmptiedMachines:
    """As many machines as were found to go, the least loaded first.

    More and more are tried together while that works, fewer when it does not; a machine that cannot go even alone is passed over.
    """
    order, clock = _candidates(question), budget.clock()
    each = budget.share(1.0 / TRIES)
    each = each if each.seconds is None else replace(each, seconds=max(LEAST_SECONDS, each.seconds))
    more = each if each.seconds is None else replace(each, seconds=max(ALL_STAY, 2 * each.seconds))
    all_stay = _searched(question.problem, more, seed)
    best = EmptiedMachines(machines=ints([]), problem=replace(question.problem, start=all_stay))
    passed, size = 0, 1  # candidates that are decided on, and how many are tried next
    for _ in range(TRIES if budget.seconds is None else 10 * TRIES):
        if passed >= len(order) or clock.expired():
            break
        tried = order[passed : passed + size]
        attempt = _attempt(question, all_stay, ints(np.union1d(best.machines, tried)), each, seed)
        if attempt is not None:
            best = attempt
        passed += len(tried) if attempt is not None or size == 1 else 0
        size = 2 * size if attempt is not None else max(1, size // 2)
        progress(Tick(stage=f"emptying machines: {len(best.machines)} can go", done=passed / len(order)))
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
