"""The smallest state, and what walks need beside it, to compile kernels with: the types are those of every other state."""

import numpy as np

from bayplan.kernels.search.eject import LiftedSet, new_lifted_set
from bayplan.kernels.search.incumbent import MAX_STEP, Incumbent
from bayplan.kernels.search.state import AT, FLOATS, INTS, NOWHERE, SIZES, SMALL, State

LENGTH = 16  # of every block; more than two items, two machines and one resource need
ONES = {"movable", "size", "allowed"}
NOWHERES = {"home", "only_machine", "machine_of", "surplus_row"}


def tiny_state() -> State:
    """Two items that request nothing, two machines; nothing is placed."""
    at = np.zeros(1, dtype=AT)
    for name, size in zip(SIZES, (2, 2, 1, 0, 0, 2, 1, 1, 0, 0), strict=True):
        at[name] = size
    return State(at, _blocks(at, INTS).astype(np.int64), _blocks(at, FLOATS), _blocks(at, SMALL).astype(np.int32))


def _blocks(at: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    flat = np.zeros(LENGTH * len(names))
    for number, name in enumerate(names):
        at[name] = number * LENGTH
        flat[number * LENGTH : (number + 1) * LENGTH] = 1 if name in ONES else NOWHERE if name in NOWHERES else 0
    return flat


def tiny_incumbent() -> Incumbent:
    """The incumbent of the tiny state."""
    entries = np.zeros(2 * MAX_STEP, dtype=np.int64)
    return Incumbent(np.zeros(1), np.zeros(2, dtype=np.int64), entries, entries.copy(), np.zeros(3, dtype=np.int64))


def tiny_lifted_set() -> LiftedSet:
    """A set of lifted items for the tiny state."""
    return new_lifted_set(1)
