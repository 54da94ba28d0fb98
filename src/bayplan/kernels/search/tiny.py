"""The smallest board, and what walks need beside it: the types are those of every other board."""

import numpy as np

from bayplan.kernels.search import board
from bayplan.kernels.search.book import LONGEST_STEP, Book
from bayplan.kernels.search.party import Party, party_of

LENGTH = 16  # of every block; more than two items, two machines and one resource need
ONES = {"movable", "size", "allowed"}
NOWHERES = {"home", "only", "machine_of", "surplus_row"}


def tiny_board() -> board.Board:
    """Two items without wishes, two machines; nothing stands anywhere."""
    at = np.zeros(1, dtype=board.AT)
    for name, size in zip(board.SIZES, (2, 2, 1, 0, 0, 2, 1), strict=True):
        at[name] = size
    return board.Board(
        at, _blocks(at, board.WHOLE).astype(np.int64), _blocks(at, board.REAL), _blocks(at, board.SMALL).astype(np.int32)
    )


def _blocks(at: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    flat = np.zeros(LENGTH * len(names))
    for number, name in enumerate(names):
        at[name] = number * LENGTH
        flat[number * LENGTH : (number + 1) * LENGTH] = 1 if name in ONES else board.NOWHERE if name in NOWHERES else 0
    return flat


def tiny_book() -> Book:
    """A book for the tiny board."""
    entries = np.zeros(2 * LONGEST_STEP, dtype=np.int64)
    return Book(np.zeros(1), np.zeros(2, dtype=np.int64), entries, entries.copy(), np.zeros(3, dtype=np.int64))


def tiny_party() -> Party:
    """Room for the items that one step lifts."""
    return party_of(1)
