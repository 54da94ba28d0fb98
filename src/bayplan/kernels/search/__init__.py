"""The kernels of the search: one state, its moves, its drivers."""

import numpy as np

from bayplan.kernels.search.book import close
from bayplan.kernels.search.moving import fill, rearrange
from bayplan.kernels.search.restart import Weights, go_back, reweigh
from bayplan.kernels.search.tiny import tiny_board, tiny_book, tiny_party
from bayplan.kernels.search.walk import Style, walk


def warm_up() -> None:
    """Compile what drivers call, by a step on the tiny board."""
    some, items = tiny_board(), np.arange(2)
    fill(some, items)
    rearrange(some, items)
    chance, book, style = (
        np.ones(1, dtype=np.uint64),
        tiny_book(),
        Style(shift_tries=1, eject_tries=1, eject_finds=1, eject_share=0.3, swap_share=0.3, scan=1),
    )
    walk(some, items, items, style, chance, 1.0, True, 1, book, tiny_party())
    close(book, some)
    go_back(some, book)
    reweigh(some, Weights(over=np.zeros(1), mean=np.zeros(1), square=np.zeros(2)), np.ones(1))
