"""The frame of [FreeContainer] Algorithm 1: sort the new containers, then give each the machine that it prefers."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.place_greedy import PlacementScratch, Scoring, ServiceIndex, place_in_order
from bayplan.kernels.search.state import NOWHERE
from bayplan.model import FloatArray, IntArray, Placement
from bayplan.model.arrays import random_state
from bayplan.model.problem import Problem
from bayplan.search.array_layout import view
from bayplan.search.state import SearchState, new_search_state


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """What distinguishes one greedy method from another."""

    size: Callable[[SearchState], FloatArray] | None  # (kind,) the largest first; None: in the order of the input
    preference: Callable[[SearchState], Scoring]
    candidates: int  # preferred machines among which the service decides


def place_greedily(problem: Problem, strategy: Strategy, seed: int) -> Placement:
    """The start, with every unplaced container that fits on a machine.

    What fits nowhere is tried again after the others, as long as that places something: a service may depend on another
    one that is new too.
    """
    random_numbers = random_state(seed)
    placement = problem.start
    while True:
        state = new_search_state(replace(problem, start=placement))
        _place_unplaced(state, strategy, random_numbers)
        if not _lists_are_full(state):
            return state.placement()
        placement = state.placement()  # a new state has longer lists of the items on a machine


def _place_unplaced(state: SearchState, strategy: Strategy, random_numbers: npt.NDArray[np.uint64]) -> None:
    unplaced = in_order(state, strategy)
    members, scratch, preference = service_members(state), _scratch(state, strategy.candidates), strategy.preference(state)
    while len(unplaced) and place_in_order(state.arrays, unplaced, preference, members, random_numbers, scratch):
        unplaced = unplaced[state.machine_of[unplaced] == NOWHERE]


def in_order(state: SearchState, strategy: Strategy) -> IntArray:
    """The items without a machine, largest first; among equals by their first container (lines 3 and 5)."""
    new = np.flatnonzero(state.machine_of == NOWHERE)
    new = new[np.argsort(state.items.first[new], kind="stable")]
    if strategy.size is None:
        return new
    return np.asarray(new[np.argsort(-strategy.size(state)[state.items.kind_of[new]], kind="stable")], dtype=np.int64)


def service_members(state: SearchState) -> ServiceIndex:
    """The services of each kind of item, and the items of each service."""
    cluster, items = state.cluster, state.items
    service_of = cluster.workloads.service
    services = [[s] for s in service_of.tolist()] + [sorted(set(service_of[list(unit)].tolist())) for unit in items.units]
    owner = service_of[cluster.containers.workload]
    sizes = np.bincount(owner, minlength=len(cluster.services.name))
    return ServiceIndex(
        kind_start=np.r_[0, np.cumsum([len(of_kind) for of_kind in services])].astype(np.int64),
        service=np.array([s for of_kind in services for s in of_kind], dtype=np.int64),
        own_size=np.array([1] * len(service_of) + [len(unit) for unit in items.units], dtype=np.int64),
        service_start=np.r_[0, np.cumsum(sizes)].astype(np.int64),
        item=items.of_container[np.argsort(owner, kind="stable")],
    )


def _scratch(state: SearchState, candidates: int) -> PlacementScratch:
    machines = len(state.cluster.machines.name)
    d = max(1, min(candidates, machines))
    counts = np.zeros(machines, dtype=np.int64), np.zeros(machines, dtype=np.int64)
    return PlacementScratch(*counts, np.zeros(machines), np.zeros(d, dtype=np.int64))


def _lists_are_full(state: SearchState) -> bool:
    """Is something unplaced while the state's list of the items on some machine was full?"""
    on_size = view(state.arrays, "items_on_size", len(state.cluster.machines.name))
    slots = int(state.arrays.at["slots"][0])
    return bool((state.machine_of == NOWHERE).any() and slots < len(state.machine_of) and (on_size >= slots).any())
