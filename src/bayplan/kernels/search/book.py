"""The best placement so far: a journal of what changed since then, written out when it grows too long."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.board import BREACHES
from bayplan.kernels.search.compiled import kernel

LENGTH, OPEN, ALLOWED = range(3)
LONGEST_STEP = 64  # items that one step moves at most


class Book(NamedTuple):
    """The best total, and how to get back to it."""

    best: npt.NDArray[np.float64]  # (1,) total
    best_of: npt.NDArray[np.int64]  # (item,) machine in the best placement, once the journal is closed
    item: npt.NDArray[np.int64]  # (entry,) what moved since the best
    origin: npt.NDArray[np.int64]  # (entry,) from where
    page: npt.NDArray[np.int64]  # (3,) entries; 1 while the best is "the present, journal undone", else 0; allowed breaches


@kernel
def close(book, board):
    """Write the best placement out."""
    if book.page[OPEN] == 1:
        at = board.at[0]
        for i in range(at.items):
            book.best_of[i] = board.whole[at.machine_of + i]
        for e in range(book.page[LENGTH] - 1, -1, -1):
            book.best_of[book.item[e]] = book.origin[e]
        book.page[OPEN] = 0
        book.page[LENGTH] = 0


@kernel
def make_room(book, board):
    """Close the journal if a step might not fit. Called while every item stands where the journal says."""
    if book.page[LENGTH] > len(book.item) - LONGEST_STEP:
        close(book, board)


@kernel
def enter(book, i, m):
    """Note that item i has left machine m."""
    if book.page[OPEN] == 1:
        at = book.page[LENGTH]
        book.item[at] = i
        book.origin[at] = m
        book.page[LENGTH] = at + 1


@kernel
def judge(book, board):
    """If the present is the best so far, and no more dependencies are broken than may be, start a new journal."""
    at = board.at[0]
    breaches = board.whole[at.tally + BREACHES]
    total = board.real[at.total] - board.real[at.breach_price] * breaches
    if total < book.best[0] and breaches <= book.page[ALLOWED]:
        book.best[0] = total
        book.page[OPEN] = 1
        book.page[LENGTH] = 0
