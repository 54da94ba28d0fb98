"""A case as the kernels want it: costs of members alone and in pairs, and the room they work in."""

import numpy as np

from bayplan.decide.admit.oneshot.case import Case
from bayplan.kernels.admit.branch import Tables, Tree
from bayplan.kernels.admit.climb import Standing
from bayplan.kernels.admit.pairs import tabulate
from bayplan.kernels.admit.question import Question
from bayplan.model import FloatArray, IntArray

LARGEST = 20_000_000  # entries of an array, 160 MB; the pairs of 8 members and 42 zones have 112,896


def question_of(case: Case) -> Question:
    """The arrays of a case."""
    return Question(case.cost, case.demand, case.room, case.traffic, case.link, case.pair, case.bandwidth)


def tables_of(question: Question) -> Tables | None:
    """What members cost alone and in pairs; None if that is too much to hold."""
    v, z = question.cost.shape
    if max((v * z) ** 2, (v + 1) * v * v * z) > LARGEST:  # the pairs, and a tree search's
        return None
    barred = np.zeros(1)
    tables = Tables(np.empty((v, z)), np.empty((v, v, z, z)), np.empty((v, v), dtype=np.bool_), barred)
    barred[0] = tabulate(question, tables.single, tables.pair, tables.talks)
    return tables


def standing_of(question: Question) -> Standing:
    """Room for one placement and what follows from it."""
    v, z = question.cost.shape
    return Standing(np.empty(v, dtype=np.int64), np.empty_like(question.room), np.empty((v, z)))


def tree_of(question: Question) -> Tree:
    """Room for a search."""
    v, z = question.cost.shape
    return Tree(
        members=_whole(v),
        zone=_whole(v),
        free=np.empty_like(question.room),
        paid=_real(v + 1),
        single=_real(v + 1, v, z),
        lam=_real(v + 1, v, v, z),
        child=_whole(v, z),
        bound=_real(v, z),
        next=_whole(2, v),
        work=_real(3, z),
    )


def _whole(*shape: int) -> IntArray:
    return np.empty(shape, dtype=np.int64)


def _real(*shape: int) -> FloatArray:
    return np.empty(shape, dtype=np.float64)
