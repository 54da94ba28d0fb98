"""The kernels that place one request, warmed up."""

import numpy as np

from bayplan.kernels.admit.branch import Tables, Tree, branch
from bayplan.kernels.admit.climb import Standing, search
from bayplan.kernels.admit.greedy import greedy
from bayplan.kernels.admit.pairs import tabulate
from bayplan.kernels.admit.question import Question
from bayplan.kernels.admit.repair import repair
from bayplan.kernels.admit.sift import Estimate, guess, sift


def warm_up_one_shots() -> None:
    """Compile them for the types of a `Case`: one member, one zone."""
    question, whole = tiny_question(), np.zeros((1, 1), dtype=np.int64)
    zone, one, real = whole[0].copy(), np.zeros(1), np.zeros((1, 1))
    greedy(*question, zone)
    tables = Tables(real.copy(), np.zeros((1, 1, 1, 1)), np.zeros((1, 1), dtype=np.bool_), one)
    one[0] = tabulate(question, tables.single, tables.pair, tables.talks)
    search(question, tables, np.arange(1), np.arange(1), 2, Standing(zone.copy(), whole.copy(), real.copy()), zone)
    lists = whole.copy(), real.copy(), np.zeros((2, 1), dtype=np.int64), np.zeros((3, 1))
    path = zone.copy(), zone.copy(), whole.copy(), np.zeros(2), np.zeros((2, 1, 1)), np.zeros((2, 1, 1, 1))
    branch(question, tables, Tree(*path, *lists), 1, np.array([np.inf, 0.0]), zone)
    sample = np.zeros(1, dtype=np.int64)
    sample.flags.writeable = False
    estimate = Estimate(real, np.zeros((1, 1, 1, 1)), question.demand, question.room, sample, np.ones(1), np.zeros((2, 1, 1)))
    sift(estimate, whole, np.zeros((2, 1, 1)), whole.copy(), whole.copy(), zone)
    guess(estimate, whole[0], real.copy())
    zone[0] = 0
    repair(question, tables, Standing(zone.copy(), whole.copy(), real.copy()), zone)


def tiny_question() -> Question:
    """One member, one zone; arrays read-only, as those of a `Case` are."""
    one, whole = np.ones((1, 1)), np.ones((1, 1), dtype=np.int64)
    none, nowhere = np.zeros((1, 1)), np.zeros((1, 1), dtype=np.int64)
    question = Question(one, whole, whole.copy(), none, np.zeros((1, 1, 1)), nowhere, one.copy())
    for array in question:
        array.flags.writeable = False
    return question
