"""A machine for containers that have none: by filter and score, by ejections, and at last the old one.

A default scheduler in three steps ([RASA] leaves it open).

1. Every unplaced container goes back to its old machine, if it fits there: nothing moves. Else it goes to the fullest machine
   that takes it (kube-scheduler's MostAllocated), the largest containers first.
2. Containers that fit nowhere eject others, preferably those that gain little (`kernels.collocate.eject`).
3. If even that does not end, a container takes its old machine back, and those that came there since make way
   (`restore_homes`). Containers at home are never sent away, and what ran together at the start violated no rule more than the
   start does. So this ends with a machine for every container that had one, at worst with the start itself.
"""

from dataclasses import replace

import numpy as np

from bayplan.decide.collocate.packing_state import container_sizes, packing_state
from bayplan.decide.collocate.subproblem import movable
from bayplan.kernels.collocate.eject import MAX_LEAVING, NOWHERE, EjectionPool, place_unplaced
from bayplan.kernels.collocate.packing_state import PackingState, add_containers, best_fit, fits, pick_by_free_share, return_home
from bayplan.model import UNPLACED, BoolArray, Clock, Cluster, FloatArray, IntArray, Placement, ints
from bayplan.model.arrays import random_state
from bayplan.model.problem import Problem
from bayplan.score.counts import loads

STEPS = 500  # between two looks at the clock
PATIENCE = 40  # steps for each unplaced container, and ...
FIRST = 5_000  # ... this many in any case


def place_leftovers(problem: Problem, placement: Placement, *, may_go: BoolArray, clock: Clock, seed: int) -> Placement:
    """The placement with a machine for all movable containers that have none, as far as possible.

    `may_go` (container,): those that may be sent away for others; unplaced ones, too. Every container that had a machine at the
    start has one. No rule is violated more than by the start or by the placement.
    """
    may_move = movable(problem)
    unplaced = may_move & (placement.machine_of == UNPLACED)
    if not unplaced.any():
        return placement
    state = _state(problem, placement)
    machine_of = placement.machine_of.copy()
    _by_score(problem, state, np.flatnonzero(unplaced), machine_of)
    if (machine_of[unplaced] == UNPLACED).any():
        machine_of = _by_ejection(problem.cluster, state, machine_of, may_move & may_go, may_move, clock, seed)
        containers = np.flatnonzero(may_move)
        restored = machine_of[containers]
        restore_homes(state, problem.cluster.containers.workload[containers], problem.start.machine_of[containers], restored)
        machine_of[containers] = restored
        _by_score(problem, state, np.flatnonzero(may_move & (machine_of == UNPLACED)), machine_of)  # where others made way
    return Placement(machine_of=ints(machine_of))


def _state(problem: Problem, placement: Placement) -> PackingState:
    """The state with all containers that have a machine. Unlike in a subproblem, free capacity may be negative."""
    cluster = problem.cluster
    all_containers = np.ones(len(cluster.containers.name), dtype=np.bool_)
    state = packing_state(replace(problem, start=placement, frozen=all_containers))
    free = np.where(state.unit > 0, cluster.machines.capacity - loads(cluster, placement), state.free)
    return state._replace(free=free)


def _by_score(problem: Problem, state: PackingState, containers: IntArray, machine_of: IntArray) -> None:
    """Home if they fit there, else to the fullest machine that takes them; large ones first. `state` and `machine_of` change."""
    owner = problem.cluster.containers.workload
    by_size = containers[np.argsort(-container_sizes(state)[owner[containers]], kind="stable")]
    chosen = np.full(len(by_size), UNPLACED, dtype=np.int64)
    return_home(state, owner[by_size], problem.start.machine_of[by_size], chosen)
    still = chosen == UNPLACED
    fullest = np.full(int(still.sum()), UNPLACED, dtype=np.int64)
    best_fit(state, owner[by_size[still]], fullest)
    chosen[still] = fullest
    machine_of[by_size] = chosen


def _by_ejection(
    cluster: Cluster, state: PackingState, machine_of: IntArray, may_go: BoolArray, may_come: BoolArray, clock: Clock, seed: int
) -> IntArray:
    """(container,) machines after ejections; `state` changes with them."""
    pool = _ejection_pool(cluster, state, machine_of, may_go, may_come)
    chance = random_state(seed)
    steps = FIRST + PATIENCE * int(pool.size[0])
    while steps > 0 and not clock.expired() and place_unplaced(state, pool, min(steps, STEPS), chance):
        steps -= STEPS
    return pool.machine_of


def _ejection_pool(
    cluster: Cluster, state: PackingState, machine_of: IntArray, may_go: BoolArray, may_come: BoolArray
) -> EjectionPool:
    """All containers where they are; unplaced ones on a stack, the smallest at its bottom."""
    n_c, owner = len(machine_of), cluster.containers.workload
    placed = np.flatnonzero(may_go & (machine_of != UNPLACED))
    placed = placed[np.argsort(machine_of[placed], kind="stable")]
    unplaced = np.flatnonzero(may_come & (machine_of == UNPLACED))
    unplaced = unplaced[np.argsort(container_sizes(state)[owner[unplaced]], kind="stable")]
    head, after, before = (np.full(n, NOWHERE, dtype=np.int64) for n in (len(state.free), n_c, n_c))
    beside = machine_of[placed[1:]] == machine_of[placed[:-1]]
    after[placed[:-1][beside]] = placed[1:][beside]
    before[placed[1:][beside]] = placed[:-1][beside]
    first = placed[np.r_[True, ~beside]] if len(placed) else placed
    head[machine_of[first]] = first
    stack = np.full(n_c, NOWHERE, dtype=np.int64)
    stack[: len(unplaced)] = unplaced
    return EjectionPool(
        workload=owner.copy(),
        may_leave=may_go,
        machine_of=machine_of.copy(),
        price=ejection_prices(state, cluster),
        head=head,
        after=after,
        before=before,
        unplaced=stack,
        size=np.array([len(unplaced)], dtype=np.int64),
        leaving=np.zeros((2, MAX_LEAVING), dtype=np.int64),
        shortage=np.zeros(state.free.shape[1], dtype=np.int64),
    )


def ejection_prices(state: PackingState, cluster: Cluster) -> FloatArray:
    """(workload,) 1, plus what a container of it can gain, in units of the mean affinity of a container."""
    end = np.repeat(np.arange(len(state.one_over)), np.diff(state.edge_start))
    affinity = np.bincount(end, weights=state.weight, minlength=len(state.one_over))
    price: FloatArray = 1.0 + affinity * state.one_over * len(cluster.containers.name)
    return price


def restore_homes(state: PackingState, workload: IntArray, home: IntArray, machine_of: IntArray) -> None:
    """Give every lifted container that had a machine one again: its home, another, or its home after others made way.

    `workload`, `home` and `machine_of` are (container,), UNPLACED where there is none; `state` and `machine_of` change.
    """
    return_home(state, workload, home, machine_of)
    size = (state.request * state.unit.max(axis=0, initial=0.0)).sum(axis=1)[workload]
    missing = np.flatnonzero((machine_of == UNPLACED) & (home != UNPLACED))
    unplaced = missing[np.argsort(size[missing], kind="stable")].tolist()  # the largest last: it is taken first
    while unplaced:
        c = unplaced.pop()
        m = pick_by_free_share(state, workload[c], 1.0)
        if m == UNPLACED and home[c] != UNPLACED:
            m = home[c]
            unplaced += _send_away(state, workload, home, machine_of, c, size)
        if m != UNPLACED:
            add_containers(state, workload[c], m, 1)
            machine_of[c] = m


def _send_away(
    state: PackingState, workload: IntArray, home: IntArray, machine_of: IntArray, c: int, size: IntArray
) -> list[int]:
    """Containers that are not at home on the home of another and leave it, the largest first, until that one fits."""
    m = int(home[c])
    strangers = np.flatnonzero((machine_of == m) & (home != m))
    gone: list[int] = []
    for other in strangers[np.argsort(-size[strangers], kind="stable")].tolist():
        if fits(state, workload[c], m):
            break
        add_containers(state, workload[other], m, -1)
        machine_of[other] = UNPLACED
        gone.append(other)
    return gone
