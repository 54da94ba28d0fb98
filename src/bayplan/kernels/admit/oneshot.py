"""The kernels that place one request, warmed up."""

import numpy as np

from bayplan.kernels.admit.greedy import greedy
from bayplan.kernels.admit.question import Question


def tiny_question() -> Question:
    """One member, one zone; arrays read-only, as those of a `Case` are."""
    one, whole = np.ones((1, 1)), np.ones((1, 1), dtype=np.int64)
    none, nowhere = np.zeros((1, 1)), np.zeros((1, 1), dtype=np.int64)
    question = Question(one, whole, whole.copy(), none, np.zeros((1, 1, 1)), nowhere, one.copy())
    for array in question:
        array.flags.writeable = False
    return question


def warm_up_one_shots() -> None:
    """Compile them for the types of a `Case`."""
    question = tiny_question()
    zone = np.zeros(1, dtype=np.int64)
    greedy(*question, zone)
