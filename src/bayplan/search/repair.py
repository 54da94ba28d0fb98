"""Mend what the start breaks, as far as single moves can."""

import numpy as np

from bayplan.kernels.search.evaluate_all import new_evaluation
from bayplan.kernels.search.feasible import dependants_kept, fits
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.repair import repair_items
from bayplan.model import UNPLACED, CoLocate, Pinned
from bayplan.model.problem import Problem
from bayplan.search.blocks import view
from bayplan.search.game import Game, settle_for_less

PASSES = 8


def repair(game: Game, problem: Problem) -> int:
    """How many items left a place where rules do not want them. No rule is broken more than before."""
    moved = _unite(game, problem)
    order = _big_first(game)
    minimum = game.minimum
    seen = new_evaluation(len(game.cluster.machines.name), len(game.cluster.resources))
    for _ in range(PASSES):
        need = view(game.arrays, "groups_needed", len(minimum))
        need[:] = np.minimum(minimum, view(game.arrays, "groups_used", len(minimum)) + 1)  # one group more is a start
        mended = repair_items(game.arrays, order, seen)
        moved += mended
        if not mended:
            break
    view(game.arrays, "groups_needed", len(minimum))[:] = minimum
    settle_for_less(game.arrays, len(minimum))
    return moved


def _big_first(game: Game) -> np.ndarray:
    """Movable items, those with the largest share of a machine first."""
    request = game.cluster.workloads.request / np.maximum(1, game.cluster.machines.capacity.max(axis=0, initial=1))
    size = np.bincount(game.items.of_container, weights=request.max(axis=1)[game.cluster.containers.workload])
    movable = np.flatnonzero(game.items.movable)
    return movable[np.argsort(-size[movable], kind="stable")]


def _unite(game: Game, problem: Problem) -> int:
    """Bring scattered members of co-locate rules to the machine that has most of them, where rules allow it."""
    pinned = {c for rule in problem.cluster.rules if isinstance(rule, Pinned) for c in rule.containers}
    pinned |= set(np.flatnonzero(problem.frozen).tolist())
    moved = 0
    for rule in problem.cluster.rules:
        if isinstance(rule, CoLocate):
            members = list(dict.fromkeys(rule.containers))
            machine = game.items.machines_of(game.machine_of)[members]
            if len(set(machine.tolist())) > 1 and (machine != UNPLACED).all():
                moved += _bring_together(game, members, machine, pinned)
    return moved


def _bring_together(game: Game, members: list[int], machine: np.ndarray, pinned: set[int]) -> int:
    names, count = np.unique(machine, return_counts=True)
    for target in names[np.argsort(-count, kind="stable")].tolist():
        away = [c for c, m in zip(members, machine.tolist(), strict=True) if m != target]
        items = list(dict.fromkeys(game.items.of_container[away].tolist()))
        if not pinned & set(away) and _all_come(game, items, target):
            return len(items)
    return 0


def _all_come(game: Game, items: list[int], target: int) -> bool:
    """Move all of some items to a machine, or none."""
    origin = [lift(game.arrays, i) for i in items]
    come = 0
    for i, m in zip(items, origin, strict=True):
        if not fits(game.arrays, i, target) or not dependants_kept(game.arrays, i, m, target):
            break
        drop(game.arrays, i, target)
        come += 1
    if come == len(items):
        return True
    for i in items[:come]:
        lift(game.arrays, i)
    for i, m in zip(items, origin, strict=True):
        drop(game.arrays, i, m)
    return False
