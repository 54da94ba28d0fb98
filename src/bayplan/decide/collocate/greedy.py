"""Counts in one greedy pass: workloads that gain much for their size come first, each container where it gains most."""

from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from bayplan.decide.collocate.subproblem import Subproblem
from bayplan.kernels.collocate.greedy import GreedyProblem, GreedyState, fill_by_gain
from bayplan.model import FloatArray, IntArray

Rows: TypeAlias = tuple[IntArray, IntArray]  # (row + 1,) starts, (entry,) values


def greedy_counts(subproblem: Subproblem, start: IntArray | None = None) -> IntArray:
    """Counts (workload, machine) that violate nothing: `start`, if it violates nothing, and what is missing by marginal gain.

    Workloads come by T / (d * size): affinity over what all containers take of the machines' scarcest resource. Ties: the
    machine that takes most containers of the workload, then the first. What fits nowhere is left out. O(containers * machines).
    """
    counts = np.zeros(subproblem.shape, dtype=np.int64) if start is None else start.copy()
    fill_by_gain(_wanted(subproblem, counts), _order(subproblem), _floor(subproblem, counts), counts)
    return counts


def _order(subproblem: Subproblem) -> IntArray:
    """Workloads by affinity for their size; those without affinity last, the large ones first."""
    n = len(subproblem.demand)
    affinity = np.bincount(subproblem.a, subproblem.weight, n) + np.bincount(subproblem.b, subproblem.weight, n)
    size = (subproblem.request * _unit(subproblem)).max(axis=1, initial=0.0)
    by_size = affinity / (subproblem.replicas * np.maximum(size, 1e-12))
    order: IntArray = np.lexsort((-size, -by_size))
    return order


def _unit(subproblem: Subproblem) -> FloatArray:
    """(resource,) one over what is free on all machines."""
    unit: FloatArray = 1.0 / np.maximum(1.0, subproblem.free.sum(axis=0, dtype=np.float64))
    return unit


def _wanted(subproblem: Subproblem, counts: IntArray) -> GreedyProblem:
    workload, one_set = np.nonzero(subproblem.member.T)
    set_start, set_of = _lists(workload, one_set, len(subproblem.demand))
    ends, others = np.concatenate([subproblem.a, subproblem.b]), np.concatenate([subproblem.b, subproblem.a])
    by_workload = np.argsort(ends, kind="stable")
    edge_start, other = _lists(ends[by_workload], others[by_workload], len(subproblem.demand))
    return GreedyProblem(  # copies: a kernel is compiled again for arrays that are read-only or lie otherwise in memory
        missing=subproblem.demand - counts.sum(axis=1),
        replicas=subproblem.replicas.copy(),
        request=subproblem.request.copy(),
        row_of=subproblem.row_of.copy(),
        allow=subproblem.allow.copy(),
        set_start=set_start,
        set_of=set_of,
        edge_start=edge_start,
        neighbour=other,
        weight=np.concatenate([subproblem.weight, subproblem.weight])[by_workload],
    )


def _lists(row: IntArray, value: IntArray, rows: int) -> Rows:
    """Values grouped by their rows, which are sorted."""
    return np.searchsorted(row, np.arange(rows + 1)).astype(np.int64), value.astype(np.int64)


def _floor(subproblem: Subproblem, counts: IntArray) -> GreedyState:
    member = csr_array(subproblem.member.astype(np.int64))
    return GreedyState(
        free=np.ascontiguousarray(subproblem.free - counts.T @ subproblem.request),
        set_free=np.ascontiguousarray(subproblem.set_free - member @ counts),
        placed=counts + subproblem.fixed,
        gain=np.empty(len(subproblem.machine)),
        max_more=np.empty(len(subproblem.machine), dtype=np.int64),
    )
