"""A machine for containers that have none, within all rules and without a move.

What counts of containers cannot describe is placed here, one item at a time, on the state of the search: containers that spread,
skew, dependency, interference, pinned or co-locate rules name, and all of them where there are transient or confidence rules.
"""

from dataclasses import replace

import numpy as np

from bayplan.decide.collocate.subproblem import has_other_rules, movable
from bayplan.kernels.search.evaluate_all import Evaluation, evaluate_all, new_evaluation
from bayplan.kernels.search.lift_drop import drop
from bayplan.model import UNPLACED, Cluster, FloatArray, IntArray, Objective, Placement, Term, floats, ints
from bayplan.model.problem import Problem
from bayplan.search.array_layout import view
from bayplan.search.state import SearchState, new_search_state

EQUAL = 1e-12  # costs that differ by less are the same


def place_by_rules(problem: Problem, placement: Placement) -> Placement:
    """The placement with every unplaced container that some machine can take; affinity can only grow.

    Large ones come first, each goes where the objective grows least, then to the fullest machine. What fits nowhere is tried
    again after the others, as long as that places something: a service may depend on another one that is new, too.
    """
    while _counts_are_not_enough(problem, placement):
        state = new_search_state(replace(problem, objective=_with_affinity(problem.objective), start=placement, max_moves=None))
        _place_items(state)
        placement = state.placement()
        if not _lists_are_full(state):
            break  # else a new state has longer lists of the items on a machine
    return placement


def _counts_are_not_enough(problem: Problem, placement: Placement) -> bool:
    """Is a container unplaced about which there are rules that only the state of the search knows?"""
    if not len(problem.cluster.machines.name):
        return False
    unplaced = placement.machine_of == UNPLACED
    return bool((unplaced if has_other_rules(problem) else unplaced & ~movable(problem)).any())


def _with_affinity(objective: Objective) -> Objective:
    return objective if objective.weight.get(Term.AFFINITY) else objective.with_weights({Term.AFFINITY: 1.0})


def _place_items(state: SearchState) -> None:
    evaluation = new_evaluation(len(state.cluster.machines.name), len(state.cluster.resources))
    unit = _capacity_unit(state.cluster)
    unplaced, before = _unplaced_items(state), -1
    while len(unplaced) != before:
        before = len(unplaced)
        for i in unplaced.tolist():
            machine = _cheapest(state, i, evaluation, unit)
            if machine != UNPLACED:
                drop(state.arrays, i, machine)
        unplaced = unplaced[state.machine_of[unplaced] == UNPLACED]


def _unplaced_items(state: SearchState) -> IntArray:
    """The items without a machine, those with the largest share of a machine first."""
    share = (state.cluster.workloads.request * _capacity_unit(state.cluster).max(axis=0, initial=0.0)).max(axis=1, initial=0.0)
    owner = state.cluster.containers.workload
    size = np.bincount(state.items.of_container, weights=share[owner], minlength=len(state.items.kind_of))
    unplaced = np.flatnonzero(state.machine_of == UNPLACED)
    return ints(unplaced[np.argsort(-size[unplaced], kind="stable")])


def _capacity_unit(cluster: Cluster) -> FloatArray:
    """(machine, resource) one over the capacity."""
    return floats(1.0 / np.maximum(1, cluster.machines.capacity))


def _cheapest(state: SearchState, item: int, evaluation: Evaluation, unit: FloatArray) -> int:
    """The feasible machine where the item costs least, of equals the fullest, then the first; UNPLACED if there is none."""
    number = evaluate_all(state.arrays, item, evaluation)
    if not number:
        return UNPLACED
    machine, delta = evaluation.machine[:number], evaluation.delta[:number]
    free = (evaluation.free[:, :number].T * unit[machine]).sum(axis=1)
    best = np.where(delta <= delta.min() + EQUAL, free, np.inf).argmin()
    return int(machine[best])


def _lists_are_full(state: SearchState) -> bool:
    """Is something unplaced while the state's list of the items on some machine was full?"""
    on_size = view(state.arrays, "items_on_size", len(state.cluster.machines.name))
    slots = int(state.arrays.at["slots"][0])
    return bool((state.machine_of == UNPLACED).any() and slots < len(state.machine_of) and (on_size >= slots).any())
