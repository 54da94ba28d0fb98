"""What is left over gets a machine: by filter and score, by ejections, and at last its old one.

A default scheduler in three steps (004 leaves it open). First everyone who waits goes back to its old machine, if that has room:
nothing moves. Then to the fullest machine that takes it (kube-scheduler's MostAllocated), the largest containers first. Who fits
nowhere sends others away, preferably those that gain little. If even that does not end, newcomers give the old machine back.
"""

from dataclasses import replace

import numpy as np

from bayplan.decide.collocate.packing_state import packing_state
from bayplan.decide.collocate.subproblem import movable
from bayplan.kernels.collocate.eject import MOST, NOWHERE, Pool, settle
from bayplan.kernels.collocate.yard import Yard, best_fit, book, fits, go_home, pick
from bayplan.model import UNPLACED, BoolArray, Clock, Cluster, FloatArray, IntArray, Placement, ints
from bayplan.model.problem import Problem
from bayplan.score.counts import loads


def restore_homes(yard: Yard, service: IntArray, home: IntArray, machine_of: IntArray) -> None:
    """Give a machine to every container (of the lifted ones) that had one: its home, another, its home by force.

    `service`, `home` and `machine_of` are (container,), UNPLACED where there is none; `yard` and `machine_of` change.
    """
    go_home(yard, service, home, machine_of)
    size = (yard.request * yard.unit.max(axis=0, initial=0.0)).sum(axis=1)[service]
    missing = np.flatnonzero((machine_of == UNPLACED) & (home != UNPLACED))
    waiting = missing[np.argsort(size[missing], kind="stable")].tolist()  # the largest come first
    while waiting:
        c = waiting.pop()
        m = pick(yard, service[c], 1.0)
        if m == UNPLACED and home[c] != UNPLACED:
            m = home[c]
            waiting += _send_away(yard, service, home, machine_of, c, size)
        if m != UNPLACED:
            book(yard, service[c], m, 1)
            machine_of[c] = m


def _send_away(yard: Yard, service: IntArray, home: IntArray, machine_of: IntArray, c: int, size: IntArray) -> list[int]:
    """Newcomers that leave the home of a container, the largest first, until it fits there or none is left."""
    m = int(home[c])
    newcomers = np.flatnonzero((machine_of == m) & (home != m))
    gone: list[int] = []
    for other in newcomers[np.argsort(-size[newcomers], kind="stable")].tolist():
        if fits(yard, service[c], m):
            break
        book(yard, service[other], m, -1)
        machine_of[other] = UNPLACED
        gone.append(other)
    return gone


STEPS = 500  # between two looks at the clock
PATIENCE = 40  # steps for each container that waits, and ...
FIRST = 5_000  # ... so many in any case


def place_leftovers(problem: Problem, placement: Placement, *, may_go: BoolArray, clock: Clock, seed: int) -> Placement:
    """The placement with a machine for all movable containers that have none, if that can be.

    `may_go` (container,): those that may be sent away to make room; those that wait, too. Whoever had a machine at the
    start has one. Nothing is broken more than by the start or by the placement.
    """
    waits = movable(problem) & (placement.machine_of == UNPLACED)
    if not waits.any():
        return placement
    yard = _state(problem, placement)
    machine_of = placement.machine_of.copy()
    _by_score(problem, yard, np.flatnonzero(waits), machine_of)
    may = movable(problem)
    if (machine_of[waits] == UNPLACED).any():
        machine_of = _by_ejection(problem.cluster, yard, machine_of, may & may_go, may, clock, seed)
        who = np.flatnonzero(may)
        found = machine_of[who]
        restore_homes(yard, problem.cluster.containers.workload[who], problem.start.machine_of[who], found)
        machine_of[who] = found
    return Placement(machine_of=ints(machine_of))


def _state(problem: Problem, placement: Placement) -> Yard:
    """The yard with everyone on it who has a machine. Unlike the room of a task, what is free may be negative."""
    cluster = problem.cluster
    everyone = np.ones(len(cluster.containers.name), dtype=np.bool_)
    yard = packing_state(replace(problem, start=placement, frozen=everyone))
    free = np.where(yard.unit > 0, cluster.machines.capacity - loads(cluster, placement), yard.free)
    return yard._replace(free=free)


def _by_score(problem: Problem, yard: Yard, who: IntArray, machine_of: IntArray) -> None:
    """Home if there is room, else to the fullest machine that has some; large ones first. `yard` and `machine_of` change."""
    owner = problem.cluster.containers.workload
    who = who[np.argsort(-container_sizes(yard)[owner[who]], kind="stable")]
    found = np.full(len(who), UNPLACED, dtype=np.int64)
    go_home(yard, owner[who], problem.start.machine_of[who], found)
    still = found == UNPLACED
    other = np.full(int(still.sum()), UNPLACED, dtype=np.int64)
    best_fit(yard, owner[who[still]], other)
    found[still] = other
    machine_of[who] = found


def container_sizes(yard: Yard) -> FloatArray:
    """(service,) share of a mean machine's scarcest resource that one container takes."""
    share: FloatArray = (yard.request * yard.unit.mean(axis=0)).max(axis=1, initial=0.0)
    return share


def _by_ejection(
    cluster: Cluster, yard: Yard, machine_of: IntArray, may_go: BoolArray, may_come: BoolArray, clock: Clock, seed: int
) -> IntArray:
    """(container,) machines after ejections; `yard` changes with them."""
    pool = _ejection_pool(cluster, yard, machine_of, may_go, may_come)
    chance = np.array([np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] | np.uint64(1)], dtype=np.uint64)
    steps = FIRST + PATIENCE * int(pool.size[0])
    while steps > 0 and not clock.expired() and settle(yard, pool, min(steps, STEPS), chance):
        steps -= STEPS
    return pool.machine_of


def _ejection_pool(cluster: Cluster, yard: Yard, machine_of: IntArray, may_go: BoolArray, may_come: BoolArray) -> Pool:
    """Everyone in place; the smallest of those that wait at the bottom of the stack."""
    n_c, owner = len(machine_of), cluster.containers.workload
    stands = np.flatnonzero(may_go & (machine_of != UNPLACED))
    stands = stands[np.argsort(machine_of[stands], kind="stable")]
    waits = np.flatnonzero(may_come & (machine_of == UNPLACED))
    waits = waits[np.argsort(container_sizes(yard)[owner[waits]], kind="stable")]
    head, after, before = (np.full(n, NOWHERE, dtype=np.int64) for n in (len(yard.free), n_c, n_c))
    beside = machine_of[stands[1:]] == machine_of[stands[:-1]]
    after[stands[:-1][beside]] = stands[1:][beside]
    before[stands[1:][beside]] = stands[:-1][beside]
    first = stands[np.r_[True, ~beside]] if len(stands) else stands
    head[machine_of[first]] = first
    stack = np.full(n_c, NOWHERE, dtype=np.int64)
    stack[: len(waits)] = waits
    return Pool(
        service=owner.copy(),
        may_go=may_go,
        machine_of=machine_of.copy(),
        price=ejection_prices(yard, cluster),
        head=head,
        after=after,
        before=before,
        waiting=stack,
        size=np.array([len(waits)], dtype=np.int64),
        leaves=np.zeros((2, MOST), dtype=np.int64),
        gap=np.zeros(yard.free.shape[1], dtype=np.int64),
    )


def ejection_prices(yard: Yard, cluster: Cluster) -> FloatArray:
    """(service,) 1, and what a container of it can gain, in shares of the total affinity that each container would have."""
    end = np.repeat(np.arange(len(yard.one_over)), np.diff(yard.edge_start))
    affinity = np.bincount(end, weights=yard.weight, minlength=len(yard.one_over))
    price: FloatArray = 1.0 + affinity * yard.one_over * len(cluster.containers.name)
    return price
