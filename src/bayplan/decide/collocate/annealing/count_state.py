"""The state of annealing in counts: movable containers on their machines, all others counted where they run."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.decide.collocate.packing_state import packing_state
from bayplan.decide.collocate.subproblem import movable
from bayplan.kernels.collocate.count_state import CountState, move_all
from bayplan.model import UNPLACED, BoolArray, Cluster, FloatArray, IntArray, Placement
from bayplan.model.problem import Problem

Int32Array: TypeAlias = npt.NDArray[np.int32]

NO_CAP = 2**62
SLOTS = 64, 4  # for containers on a machine: at least 64, and 4 times as many as on the machine that has most


def count_state(problem: Problem, start: Placement, *, max_moves: int | None) -> tuple[CountState, IntArray]:
    """The state with all containers where `start` has them, and the containers (item,) that may move.

    Moves count from where containers ran before.
    """
    cluster = problem.cluster
    packing = packing_state(problem)
    items = np.flatnonzero(movable(problem) & (start.machine_of != UNPLACED))
    owner, machine = cluster.containers.workload[items], start.machine_of[items].astype(np.int32)
    n_m, n_w = len(cluster.machines.name), len(cluster.workloads.name)
    stays = np.ones(len(cluster.containers.name), dtype=np.bool_)
    stays[items] = False
    new = int((problem.before.machine_of[items] == UNPLACED).sum())
    state = CountState(
        workload_of=owner.astype(np.int32),
        start_machine=_came_from(problem.before.machine_of[items], machine),
        first_container=np.searchsorted(owner, np.arange(n_w + 1)).astype(np.int64),
        request=packing.request,
        one_over=packing.one_over,
        row_of=packing.row_of,
        allow=packing.allow,
        set_start=packing.set_start,
        set_of=packing.set_of,
        edge_start=packing.edge_start,
        neighbour=packing.neighbour,
        weight=packing.weight,
        cumulative_weight=_cumulated(packing.edge_start, packing.weight),
        home=_counts(cluster, problem.before.machine_of, problem.before.machine_of != UNPLACED),
        counts=_counts(cluster, start.machine_of, stays & (start.machine_of != UNPLACED)),
        free=packing.free,
        set_free=packing.set_free,
        machine_of=np.full(len(items), UNPLACED, dtype=np.int32),
        slot_of=np.zeros(len(items), dtype=np.int32),
        containers_on=np.zeros((n_m, max(SLOTS[0], SLOTS[1] * int(np.bincount(machine, minlength=1).max()))), dtype=np.int32),
        number_on=np.zeros(n_m, dtype=np.int32),
        tally=np.array([0, NO_CAP if max_moves is None else max_moves + new]),
        worth=np.zeros(2),
    )
    move_all(state, machine)
    return state, items


def copied(state: CountState) -> CountState:
    """A copy: arrays that change are its own, the others are shared."""
    changes = ("counts", "free", "set_free", "machine_of", "slot_of", "containers_on", "number_on", "tally", "worth")
    return state._replace(**{name: getattr(state, name).copy() for name in changes})


def placement_of(start: Placement, items: IntArray, machine_of: Int32Array) -> Placement:
    """`start` with other machines (item,) for the items."""
    machine = start.machine_of.copy()
    machine[items] = machine_of
    return Placement(machine_of=machine)


def item_machines(placement: Placement, items: IntArray) -> Int32Array:
    """(item,) the machines that a placement gives to the items."""
    return placement.machine_of[items].astype(np.int32)


def _came_from(before: IntArray, now: Int32Array) -> Int32Array:
    """(item,) the machine that moves count from: where it ran, or where it starts if it is new."""
    return np.where(before == UNPLACED, now, before).astype(np.int32)


def _cumulated(start: IntArray, weight: FloatArray) -> FloatArray:
    """(half edge,) the share of a workload's weight up to and with each edge."""
    total = np.r_[0.0, np.cumsum(weight)]
    of = np.repeat(np.arange(len(start) - 1), np.diff(start))
    weight_of = total[start[1:]] - total[start[:-1]]
    share: FloatArray = (total[1:] - total[start[of]]) / np.maximum(weight_of[of], 1e-300)
    return share


def _counts(cluster: Cluster, machine_of: IntArray, counted: BoolArray) -> npt.NDArray[np.int16]:
    """(machine, workload) numbers of the containers that are counted."""
    count = np.zeros((len(cluster.machines.name), len(cluster.workloads.name)), dtype=np.int16)
    np.add.at(count, (machine_of[counted], cluster.containers.workload[counted]), 1)
    return count
