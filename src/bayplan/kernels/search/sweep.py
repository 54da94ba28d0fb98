"""Sweep, Algorithm 2 of 000: spare servers are emptied, then big items of hot servers go there.

`heat` holds U(h) of every machine: load / capacity of the resource of which it has least left.
"""

import numpy as np

from bayplan.kernels.search.board import LOAD, MOST_MOVES, MOVED
from bayplan.kernels.search.book import enter, judge, make_room
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.moving import drop, lift
from bayplan.kernels.search.standing import extra_moves, fits, leaves_well


@kernel
def utilisation(board, m, k, by):
    """U(h): the largest load / capacity over the resources of a machine, with `by` (-1, 0, 1) items of kind k more."""
    at, whole = board.at[0], board.whole
    n_r = at.resources
    load = at.machine + m * 5 * n_r + LOAD * n_r
    most = 0.0
    for r in range(n_r):
        here = whole[load + r] + by * whole[at.request + k * n_r + r]
        most = max(most, board.real[at.slope + m * n_r + r] * here)
    return most


@kernel
def measure(board, heat_out):
    """U(h) of every machine."""
    for m in range(board.at[0].machines):
        heat_out[m] = utilisation(board, m, 0, 0)


@kernel
def bulk(board, i, m):
    """How big an item is for a machine: its largest request / capacity."""
    at = board.at[0]
    k = board.whole[at.kind_of + i]
    most = 0.0
    for r in range(at.resources):
        most = max(most, board.real[at.slope + m * at.resources + r] * board.whole[at.request + k * at.resources + r])
    return most


@kernel
def may_go(board, i, origin, m):
    """May the lifted item move from `origin` to m: all rules, those left behind, the churn budget?"""
    at, whole = board.at[0], board.whole
    if m == origin or not fits(board, i, m) or not leaves_well(board, i, origin, m):
        return False
    return whole[at.tally + MOVED] + extra_moves(board, i, m) <= whole[at.tally + MOST_MOVES]


@kernel
def roomiest(board, i, origin, among, heat):
    """The least utilised of some machines that can take the lifted item, the first of equals; -1 if none can."""
    best, least = -1, np.inf
    for e in range(len(among)):
        if heat[among[e]] < least and may_go(board, i, origin, among[e]):
            best, least = among[e], heat[among[e]]
    return best


@kernel
def send(board, i, among, heat, book):
    """Move an item to the roomiest of some machines; False if it stays."""
    origin = lift(board, i)
    m = roomiest(board, i, origin, among, heat)
    drop(board, i, origin if m < 0 else m)
    if m < 0:
        return False
    heat[origin] = utilisation(board, origin, 0, 0)
    heat[m] = utilisation(board, m, 0, 0)
    enter(book, i, origin)
    judge(book, board)
    make_room(book, board)
    return True


@kernel
def list_movable(board, m, held_out):
    """How many items of a machine may move; they are listed, as the machine's own list changes on the way."""
    at = board.at[0]
    n = 0
    for slot in range(board.whole[at.on_size + m]):
        i = board.small[at.on + m * at.slots + slot]
        if board.whole[at.movable + i] == 1:
            held_out[n] = i
            n += 1
    return n


@kernel
def empty(board, h, normal, heat, book, held):
    """Lines 5-8: every item of a spare server goes to the roomiest normal server that can take it."""
    for e in range(list_movable(board, h, held)):
        send(board, held[e], normal, heat, book)


@kernel
def take_biggest(board, m, n, held):
    """The biggest of n listed items, moved to the end of the list; the first of equals."""
    best = 0
    for e in range(1, n):
        if bulk(board, held[e], m) > bulk(board, held[best], m):
            best = e
    i = held[best]
    held[best] = held[n - 1]
    held[n - 1] = i
    return i


@kernel
def relieve(board, h, spare, heat, book, held):
    """Lines 10-14: the biggest items of a hot server go to spare servers, until it is no hotter than the mean of all."""
    n = list_movable(board, h, held)
    mean = 0.0
    for m in range(board.at[0].machines):
        mean += heat[m] / board.at[0].machines
    while n > 0 and heat[h] > mean:
        send(board, take_biggest(board, h, n, held), spare, heat, book)
        n -= 1
