"""Mend what the start violates, as far as single moves can."""

import numpy as np

from bayplan.kernels.search.evaluate_all import new_evaluation
from bayplan.kernels.search.repair import bring_together, repair_items
from bayplan.kernels.search.state import MAX_MOVES, MOVED
from bayplan.model import UNPLACED, Pinned
from bayplan.model.allowed_machines import co_located_groups
from bayplan.model.problem import Problem
from bayplan.search.array_layout import view
from bayplan.search.state import SearchState, relax_spread_minimum, restore_spread_minimum

PASSES = 8


def repair(state: SearchState, problem: Problem) -> int:
    """How many items left a place where rules do not want them. No rule is violated more than before."""
    moved = _unite(state, problem)
    order = _big_first(state)
    minimum = state.minimum
    restore_spread_minimum(state)
    seen = new_evaluation(len(state.cluster.machines.name), len(state.cluster.resources))
    for _ in range(PASSES):
        need = view(state.arrays, "groups_needed", len(minimum))
        need[:] = np.minimum(minimum, view(state.arrays, "groups_used", len(minimum)) + 1)  # one group more is a start
        mended = repair_items(state.arrays, order, seen)
        moved += mended
        if not mended:
            break
    relax_spread_minimum(state)
    return moved


def _big_first(state: SearchState) -> np.ndarray:
    """Movable items, those with the largest share of a machine first."""
    request = state.cluster.workloads.request / np.maximum(1, state.cluster.machines.capacity.max(axis=0, initial=1))
    size = np.bincount(state.items.of_container, weights=request.max(axis=1, initial=0.0)[state.cluster.containers.workload])
    movable = np.flatnonzero(state.items.movable)
    return movable[np.argsort(-size[movable], kind="stable")]


def _unite(state: SearchState, problem: Problem) -> int:
    """Bring scattered members of co-locate rules to the machine that has most of them, where rules allow it."""
    pinned = {c for rule in problem.cluster.rules if isinstance(rule, Pinned) for c in rule.containers}
    pinned |= set(np.flatnonzero(problem.frozen).tolist())
    moved = 0
    for group in co_located_groups(problem.cluster):
        members = list(group)
        machine = state.items.machines_of(state.machine_of)[members]
        if len(set(machine.tolist())) > 1 and (machine != UNPLACED).all():
            moved += _bring_together(state, members, machine, pinned)
    return moved


def _bring_together(state: SearchState, members: list[int], machine: np.ndarray, pinned: set[int]) -> int:
    names, count = np.unique(machine, return_counts=True)
    for target in names[np.argsort(-count, kind="stable")].tolist():
        away = [c for c, m in zip(members, machine.tolist(), strict=True) if m != target]
        items = np.array(list(dict.fromkeys(state.items.of_container[away].tolist())), dtype=np.int64)
        tally = view(state.arrays, "tally", MAX_MOVES + 1)
        may_move = tally[MOVED] + len(away) <= tally[MAX_MOVES]
        if may_move and not pinned & set(away) and bring_together(state.arrays, items, target, np.empty_like(items)):
            return len(items)
    return 0
