"""The feature graph of a sub-problem (004 section IV-D): affinity edges, and [r, d] for each of its own services."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from bayplan.decide.collocate.columns.pattern_master import machine_types_of
from bayplan.decide.collocate.subproblem import Subproblem
from bayplan.model import FloatArray, IntArray, floats, ints

FEATURES = ("r", "d")  # demand of one container, containers
SIZES = ("services", "machines", "machines of a type")  # not in the paper: see `sizes`
LEAST = 1e-6  # what asks for less counts as this much: logarithms need a floor

Matrix: TypeAlias = "csr_array[np.float64, tuple[int, int]]"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FeatureGraph:
    """What a selector may look at."""

    feature: FloatArray  # (service, 2) FEATURES, neither scaled nor logarithms
    a: IntArray  # (edge,) service
    b: IntArray  # (edge,) service
    weight: FloatArray  # (edge,) above 0, in any unit
    machines: int
    types: int  # kinds of machines: equal room, allow lists, anti-affinity, and what stays there

    @property
    def is_trivial(self) -> bool:
        """Can nothing be gained by placing this or that way?"""
        return len(self.a) == 0 or self.machines < 2


def feature_graph(task: Subproblem) -> FeatureGraph:
    """The graph of a task. Demand is the dominant share of one container on a machine with the mean room of the task's."""
    n_s, n_m = task.shape
    room = task.room.mean(axis=0) if n_m else np.zeros(task.room.shape[1])
    share = np.divide(task.request, room, out=np.zeros((n_s, len(room))), where=room > 0)
    keep = (task.a != task.b) & (task.weight > 0)
    return FeatureGraph(
        feature=floats(np.column_stack([share.max(axis=1, initial=0.0), task.demand])),
        a=ints(task.a[keep]),
        b=ints(task.b[keep]),
        weight=floats(task.weight[keep]),
        machines=n_m,
        types=machine_types(task),
    )


def machine_types(task: Subproblem) -> int:
    """How many kinds of machines there are, as column generation tells them apart: 0 if there are no machines."""
    return len(machine_types_of(task).number)


def adjacency(graph: FeatureGraph) -> Matrix:
    """(service, service) D^-1/2 (A + I) D^-1/2 of Kipf & Welling (2017), A being weights divided by their mean.

    So a service weighs itself as much as an edge of mean weight, whatever share of the cluster's traffic the task has.
    """
    n_s, own = len(graph.feature), np.arange(len(graph.feature))
    weight = graph.weight / graph.weight.mean() if len(graph.weight) else graph.weight
    row, column = np.concatenate([graph.a, graph.b, own]), np.concatenate([graph.b, graph.a, own])
    value = np.concatenate([weight, weight, np.ones(n_s)])
    degree = np.bincount(row, weights=value, minlength=n_s)
    return csr_array((value / np.sqrt(degree[row] * degree[column]), (row, column)), shape=(n_s, n_s))


def logs(graph: FeatureGraph) -> FloatArray:
    """(service, 2) logarithms of the features."""
    return floats(np.log(np.maximum(graph.feature, LEAST)))


def sizes(graph: FeatureGraph) -> FloatArray:
    """(3,) logarithms of SIZES. A mean over services knows none of them, so the paper's classifier does not, either."""
    size = (len(graph.feature), graph.machines, graph.machines / max(1, graph.types))
    return floats(np.log(np.maximum(size, 1)))
