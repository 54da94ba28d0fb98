"""The feature graph of a subproblem ([RASA] §IV-D): affinity edges, and [r, d] for each of its own workloads."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from bayplan.decide.collocate.columns.pattern_master import machine_types_of
from bayplan.decide.collocate.subproblem import Subproblem
from bayplan.model import FloatArray, IntArray, floats, ints

FEATURES = ("r", "d")  # demand of one container, containers
SIZES = ("workloads", "machines", "machines of a type")  # not in the paper: see `sizes`
LEAST = 1e-6  # a smaller demand counts as this much: logarithms need a floor

Matrix: TypeAlias = "csr_array[np.float64, tuple[int, int]]"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FeatureGraph:
    """What a selector sees of a subproblem."""

    feature: FloatArray  # (workload, 2) FEATURES, neither scaled nor logarithms
    a: IntArray  # (edge,) workload
    b: IntArray  # (edge,) workload
    weight: FloatArray  # (edge,) above 0, in any unit
    machines: int
    types: int  # types of machines: equal free capacity, allow lists, anti-affinity, and what stays there

    @property
    def is_trivial(self) -> bool:
        """Do all placements gain the same?"""
        return len(self.a) == 0 or self.machines < 2


def feature_graph(subproblem: Subproblem) -> FeatureGraph:
    """The graph of a subproblem. Demand is the dominant share of one container on a machine with the mean free capacity."""
    n_w, n_m = subproblem.shape
    free = subproblem.free.mean(axis=0) if n_m else np.zeros(subproblem.free.shape[1])
    share = np.divide(subproblem.request, free, out=np.zeros((n_w, len(free))), where=free > 0)
    keep = (subproblem.a != subproblem.b) & (subproblem.weight > 0)
    return FeatureGraph(
        feature=floats(np.column_stack([share.max(axis=1, initial=0.0), subproblem.demand])),
        a=ints(subproblem.a[keep]),
        b=ints(subproblem.b[keep]),
        weight=floats(subproblem.weight[keep]),
        machines=n_m,
        types=machine_types(subproblem),
    )


def machine_types(subproblem: Subproblem) -> int:
    """How many types of machines there are, as column generation distinguishes them: 0 if there are no machines."""
    return len(machine_types_of(subproblem).number)


def adjacency(graph: FeatureGraph) -> Matrix:
    """(workload, workload) D^-1/2 (A + I) D^-1/2 of Kipf & Welling (2017), A being weights divided by their mean.

    So a workload weighs itself as much as an edge of mean weight, whatever share of the cluster's traffic the subproblem has.
    """
    n_w, own = len(graph.feature), np.arange(len(graph.feature))
    weight = graph.weight / graph.weight.mean() if len(graph.weight) else graph.weight
    row, column = np.concatenate([graph.a, graph.b, own]), np.concatenate([graph.b, graph.a, own])
    value = np.concatenate([weight, weight, np.ones(n_w)])
    degree = np.bincount(row, weights=value, minlength=n_w)
    return csr_array((value / np.sqrt(degree[row] * degree[column]), (row, column)), shape=(n_w, n_w))


def logs(graph: FeatureGraph) -> FloatArray:
    """(workload, 2) logarithms of the features."""
    return floats(np.log(np.maximum(graph.feature, LEAST)))


def sizes(graph: FeatureGraph) -> FloatArray:
    """(3,) logarithms of SIZES. A mean over workloads knows none of them, so the paper's classifier does not, either."""
    size = (len(graph.feature), graph.machines, graph.machines / max(1, graph.types))
    return floats(np.log(np.maximum(size, 1)))
