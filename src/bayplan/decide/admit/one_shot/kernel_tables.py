"""A one-shot problem as the kernels need it: costs of members alone and in pairs, and work arrays."""

import numpy as np

from bayplan.decide.admit.one_shot.one_shot_problem import OneShotProblem
from bayplan.kernels.admit.branch import BranchTree
from bayplan.kernels.admit.cost_tables import CostTables, tabulate
from bayplan.kernels.admit.local_search import ZoneState
from bayplan.kernels.admit.zone_problem import ZoneProblem
from bayplan.model import FloatArray, IntArray

LARGEST = 20_000_000  # entries of an array, 160 MB; the pairs of 8 members and 42 zones have 112,896


def question_of(problem: OneShotProblem) -> ZoneProblem:
    """The arrays of a problem."""
    return ZoneProblem(problem.cost, problem.demand, problem.free, problem.traffic, problem.link, problem.pair, problem.bandwidth)


def tables_of(question: ZoneProblem) -> CostTables | None:
    """The costs of members alone and in pairs; None if the tables would be too large."""
    v, z = question.cost.shape
    if max((v * z) ** 2, (v + 1) * v * v * z) > LARGEST:  # the pairs, and the work arrays of a tree search
        return None
    barred = np.zeros(1)
    tables = CostTables(np.empty((v, z)), np.empty((v, v, z, z)), np.empty((v, v), dtype=np.bool_), barred)
    barred[0] = tabulate(question, tables.single, tables.pair, tables.talks)
    return tables


def standing_of(question: ZoneProblem) -> ZoneState:
    """Work arrays for one placement and what follows from it."""
    v, z = question.cost.shape
    return ZoneState(np.empty(v, dtype=np.int64), np.empty_like(question.available), np.empty((v, z)))


def tree_of(question: ZoneProblem) -> BranchTree:
    """Work arrays for a tree search."""
    v, z = question.cost.shape
    return BranchTree(
        members=_ints(v),
        zone=_ints(v),
        free=np.empty_like(question.available),
        paid=_floats(v + 1),
        single=_floats(v + 1, v, z),
        lam=_floats(v + 1, v, v, z),
        child=_ints(v, z),
        bound=_floats(v, z),
        next=_ints(2, v),
        work=_floats(3, z),
    )


def _ints(*shape: int) -> IntArray:
    return np.empty(shape, dtype=np.int64)


def _floats(*shape: int) -> FloatArray:
    return np.empty(shape, dtype=np.float64)
