"""A new start for a search that is stuck: back to the best placement so far, and other prices of load for a while."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.book import LENGTH, OPEN, close
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.moving import rearrange
from bayplan.kernels.search.standing import machine_cost


class Weights(NamedTuple):
    """The blocks of the board that say what load costs, before any noise."""

    over: npt.NDArray[np.float64]  # (resource,)
    mean: npt.NDArray[np.float64]  # (resource,)
    square: npt.NDArray[np.float64]  # (machine * resource,)


@kernel
def go_back(board, book):
    """Everything to where it stood in the best placement so far."""
    close(book, board)
    rearrange(board, book.best_of)
    board.real[board.at[0].total] = book.best[0]
    book.page[OPEN] = 1
    book.page[LENGTH] = 0


@kernel
def reweigh(board, true, factor):
    """Multiply what the load of each resource truly costs by its factor; every sum follows."""
    at, real = board.at[0], board.real
    n_r = at.resources
    for r in range(n_r):
        real[at.over + r] = true.over[r] * factor[r]
        then = true.mean[r] * factor[r]
        real[at.total] -= (then - real[at.mean + r]) * real[at.utilised + r] * real[at.utilised + r]
        real[at.mean + r] = then
        for m in range(at.machines):
            real[at.square + m * n_r + r] = true.square[m * n_r + r] * factor[r]
    for m in range(at.machines):
        cost = machine_cost(board, m, at.nothing, at.nothing)
        real[at.total] += cost - real[at.cost + m]
        real[at.cost + m] = cost
