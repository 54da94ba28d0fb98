"""A one-shot problem as the kernels need it: costs of members alone and in pairs, and work arrays."""

from typing import NamedTuple

import numpy as np

from bayplan.decide.admit.one_shot.one_shot_problem import OneShotProblem
from bayplan.kernels.admit.branch import BranchTree
from bayplan.kernels.admit.cost_tables import CostTables, MemberCosts, prepare_costs, tabulate
from bayplan.kernels.admit.local_search import StartLists, ZoneState
from bayplan.kernels.admit.zone_problem import ZoneProblem
from bayplan.model import FloatArray, IntArray

LARGEST = 20_000_000  # entries of an array, 160 MB; the pairs of 8 members and 42 zones have 112,896


def question_of(problem: OneShotProblem) -> ZoneProblem:
    """The arrays of a problem."""
    return ZoneProblem(problem.cost, problem.demand, problem.free, problem.traffic, problem.link, problem.pair, problem.bandwidth)


class LocalScratch(NamedTuple):
    """Work arrays for a local search; after it `costs` are those of its problem."""

    costs: MemberCosts
    state: ZoneState
    lists: StartLists


def is_too_large(members: int, zones: int) -> bool:
    """Would the pairs, or the work arrays of a tree search, be too large?"""
    return max((members * zones) ** 2, (members + 1) * members * members * zones) > LARGEST


def costs_of(question: ZoneProblem) -> MemberCosts:
    """What members cost alone, and pairs by the prices of links."""
    v, z = question.cost.shape
    costs = _no_costs(v, z, len(question.link))
    prepare_costs(question, costs)
    return costs


def tables_of(question: ZoneProblem, costs: MemberCosts) -> CostTables:
    """The costs of members alone and in pairs."""
    v, z = question.cost.shape
    tables = CostTables(costs.single, _floats(v, v, z, z), costs.talks, costs.forbidden_cost)
    tabulate(question, costs, tables.pair)
    return tables


def local_scratch(question: ZoneProblem, rows: int) -> LocalScratch:
    """Work arrays for a local search that remembers `rows` placements."""
    v, z = question.cost.shape
    lists = StartLists(order=_ints(v), zones=_ints(z), rank=_floats(v + z), seen=_ints(rows, v))
    return LocalScratch(_no_costs(v, z, len(question.link)), standing_of(question), lists)


def standing_of(question: ZoneProblem) -> ZoneState:
    """Work arrays for one placement and what follows from it."""
    v, z = question.cost.shape
    return ZoneState(_ints(v), np.empty_like(question.available), _floats(v, z), _floats(z, z), _floats(3, z))


def _no_costs(members: int, zones: int, tables: int) -> MemberCosts:
    talks = np.empty((members, members), dtype=np.bool_)
    return MemberCosts(_floats(members, zones), _floats(tables, zones, zones), talks, np.empty(1))


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
