"""The hold of a problem: every movable container that has a machine, on it; all others counted where they stand."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.decide.collocate.packing_state import packing_state
from bayplan.decide.collocate.subproblem import movable
from bayplan.kernels.collocate.hold import Hold, refill
from bayplan.model import UNPLACED, BoolArray, Cluster, FloatArray, IntArray, Placement
from bayplan.model.problem import Problem

Int32Array: TypeAlias = npt.NDArray[np.int32]

NO_CAP = 2**62
SLOTS = 64, 4  # of each machine, for containers: at least so many, and so many times as on the machine that has most


def count_state(problem: Problem, start: Placement, *, max_moves: int | None) -> tuple[Hold, IntArray]:
    """The hold with everyone where `start` says, and the containers (item,) that are its items. Moves count from `before`."""
    cluster = problem.cluster
    yard = packing_state(problem)
    who = np.flatnonzero(movable(problem) & (start.machine_of != UNPLACED))
    owner, machine = cluster.containers.workload[who], start.machine_of[who].astype(np.int32)
    n_m, n_w = len(cluster.machines.name), len(cluster.workloads.name)
    stays = np.ones(len(cluster.containers.name), dtype=np.bool_)
    stays[who] = False
    new = int((problem.before.machine_of[who] == UNPLACED).sum())
    hold = Hold(
        service_of=owner.astype(np.int32),
        came_from=_came_from(problem.before.machine_of[who], machine),
        first=np.searchsorted(owner, np.arange(n_w + 1)).astype(np.int64),
        request=yard.request,
        one_over=yard.one_over,
        row_of=yard.row_of,
        allow=yard.allow,
        set_start=yard.set_start,
        set_of=yard.set_of,
        edge_start=yard.edge_start,
        neighbour=yard.neighbour,
        weight=yard.weight,
        chosen=_cumulated(yard.edge_start, yard.weight),
        home=_counts(cluster, problem.before.machine_of, problem.before.machine_of != UNPLACED),
        counts=_counts(cluster, start.machine_of, stays & (start.machine_of != UNPLACED)),
        free=yard.free,
        spare=yard.spare,
        machine_of=np.full(len(who), UNPLACED, dtype=np.int32),
        slot_of=np.zeros(len(who), dtype=np.int32),
        on=np.zeros((n_m, max(SLOTS[0], SLOTS[1] * int(np.bincount(machine, minlength=1).max()))), dtype=np.int32),
        size=np.zeros(n_m, dtype=np.int32),
        tally=np.array([0, NO_CAP if max_moves is None else max_moves + new]),
        worth=np.zeros(2),
    )
    refill(hold, machine)
    return hold, who


def copied(hold: Hold) -> Hold:
    """The same, what changes on arrays of its own."""
    changes = ("counts", "free", "spare", "machine_of", "slot_of", "on", "size", "tally", "worth")
    return hold._replace(**{name: getattr(hold, name).copy() for name in changes})


def placement_of(start: Placement, who: IntArray, machine_of: Int32Array) -> Placement:
    """`start`, but for the items."""
    everyone = start.machine_of.copy()
    everyone[who] = machine_of
    return Placement(machine_of=everyone)


def item_machines(placement: Placement, who: IntArray) -> Int32Array:
    """(item,) the machines of a placement."""
    return placement.machine_of[who].astype(np.int32)


def _came_from(before: IntArray, now: Int32Array) -> Int32Array:
    return np.where(before == UNPLACED, now, before).astype(np.int32)


def _cumulated(start: IntArray, weight: FloatArray) -> FloatArray:
    """(half edge,) the share of a service's weight up to and with each edge."""
    total = np.r_[0.0, np.cumsum(weight)]
    of = np.repeat(np.arange(len(start) - 1), np.diff(start))
    whole = total[start[1:]] - total[start[:-1]]
    share: FloatArray = (total[1:] - total[start[of]]) / np.maximum(whole[of], 1e-300)
    return share


def _counts(cluster: Cluster, machine_of: IntArray, some: BoolArray) -> npt.NDArray[np.int16]:
    """(machine, service) of some containers."""
    count = np.zeros((len(cluster.machines.name), len(cluster.workloads.name)), dtype=np.int16)
    np.add.at(count, (machine_of[some], cluster.containers.workload[some]), 1)
    return count
