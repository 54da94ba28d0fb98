"""Counts in one pass: services that gain much for what they take come first, each container where it gains most."""

from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from bayplan.decide.collocate.subproblem import Subproblem
from bayplan.kernels.collocate.greedy import Floor, Wanted, fill_by_gain
from bayplan.model import FloatArray, IntArray

Rows: TypeAlias = tuple[IntArray, IntArray]  # (row + 1,) starts, (entry,) values


def greedy_counts(task: Subproblem, start: IntArray | None = None) -> IntArray:
    """Counts (service, machine) that break nothing: `start`, if it breaks nothing, and what is missing by marginal gain.

    Services come by T / (d * size): affinity over what all containers take of the machines' scarcest resource. Ties: the
    machine that takes most containers of the service, then the first. What fits nowhere is left out. O(containers * machines).
    """
    counts = np.zeros(task.shape, dtype=np.int64) if start is None else start.copy()
    fill_by_gain(_wanted(task, counts), _order(task), _floor(task, counts), counts)
    return counts


def _order(task: Subproblem) -> IntArray:
    """Services by affinity for their size; those without affinity last, the large ones first."""
    affinity = np.bincount(task.a, task.weight, len(task.demand)) + np.bincount(task.b, task.weight, len(task.demand))
    size = (task.request * _unit(task)).max(axis=1, initial=0.0)
    by_size = affinity / (task.replicas * np.maximum(size, 1e-12))
    order: IntArray = np.lexsort((-size, -by_size))
    return order


def _unit(task: Subproblem) -> FloatArray:
    """(resource,) one over the room of all machines."""
    unit: FloatArray = 1.0 / np.maximum(1.0, task.room.sum(axis=0, dtype=np.float64))
    return unit


def _wanted(task: Subproblem, counts: IntArray) -> Wanted:
    service, one_set = np.nonzero(task.member.T)
    set_start, set_of = _lists(service, one_set, len(task.demand))
    ends, others = np.concatenate([task.a, task.b]), np.concatenate([task.b, task.a])
    by_service = np.argsort(ends, kind="stable")
    edge_start, other = _lists(ends[by_service], others[by_service], len(task.demand))
    return Wanted(  # copies: a kernel is compiled again for arrays that are read-only or lie otherwise in memory
        missing=task.demand - counts.sum(axis=1),
        replicas=task.replicas.copy(),
        request=task.request.copy(),
        row_of=task.row_of.copy(),
        allow=task.allow.copy(),
        set_start=set_start,
        set_of=set_of,
        edge_start=edge_start,
        other=other,
        weight=np.concatenate([task.weight, task.weight])[by_service],
    )


def _lists(row: IntArray, value: IntArray, rows: int) -> Rows:
    """Values grouped by their rows, which are sorted."""
    return np.searchsorted(row, np.arange(rows + 1)).astype(np.int64), value.astype(np.int64)


def _floor(task: Subproblem, counts: IntArray) -> Floor:
    member = csr_array(task.member.astype(np.int64))
    return Floor(
        room=np.ascontiguousarray(task.room - counts.T @ task.request),
        spare=np.ascontiguousarray(task.spare - member @ counts),
        standing=counts + task.fixed,
        gain=np.empty(len(task.machine)),
        takes=np.empty(len(task.machine), dtype=np.int64),
    )
