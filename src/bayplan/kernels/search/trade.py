"""Swaps of one item with any item of a machine, looked over without lifting: the best by load is then tried in earnest."""

import numpy as np

from bayplan.kernels.search.board import BREACHES, CHARGE, LIMIT, LOAD, MOST_MOVES, MOVED
from bayplan.kernels.search.book import enter, judge
from bayplan.kernels.search.chance import below, share
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.moving import drop, lift
from bayplan.kernels.search.party import undo
from bayplan.kernels.search.standing import fits_alone, machine_cost

FEW = 12  # items of a machine that are looked over


@kernel
def makes_room(board, i, m, j):
    """Is there room for item i on machine m once item j has left it?"""
    at, whole = board.at[0], board.whole
    n_r = at.resources
    want, gone = at.request + whole[at.kind_of + i] * n_r, at.request + whole[at.kind_of + j] * n_r
    machine = at.machine + m * 5 * n_r
    used = machine + (LOAD if whole[at.home + i] == m else CHARGE) * n_r
    stays_charged = whole[at.home + j] == m and whole[at.home + i] != m
    for r in range(n_r):
        q = whole[want + r]
        if q > 0:
            freed = 0 if stays_charged and whole[at.joint + r] == 1 else whole[gone + r]
            if whole[used + r] - freed > whole[machine + LIMIT * n_r + r] - q:
                return False
    return True


@kernel
def traded_mean(board, m, into, origin, out):
    """The change of the part of U that reads all utilisations: kind `into` goes from `origin` to m, `out` back."""
    at, real = board.at[0], board.real
    n_r = at.resources
    cost = 0.0
    for r in range(n_r):
        weight = real[at.mean + r]
        if weight > 0.0:
            more = board.whole[at.request + into * n_r + r] - board.whole[at.request + out * n_r + r]
            change = more * (real[at.slope + m * n_r + r] - real[at.slope + origin * n_r + r])
            cost -= weight * change * (2.0 * real[at.utilised + r] + change)
    return cost


@kernel
def best_partner(board, i, m, most, chance):
    """Of a few items of machine m the one whose swap with item i changes the price of loads least; -1 if by more than `most`."""
    at, whole, real = board.at[0], board.whole, board.real
    origin, k = whole[at.machine_of + i], whole[at.kind_of + i]
    here = real[at.cost + origin] + real[at.cost + m]
    partner, least = -1, most
    size = whole[at.on_size + m]
    first = below(chance, size) if size > FEW else 0
    for e in range(min(size, FEW)):
        slot = first + e
        j = board.small[at.on + m * at.slots + (slot if slot < size else slot - size)]
        other = whole[at.kind_of + j]
        if other == k or whole[at.movable + j] == 0 or not (makes_room(board, i, m, j) and makes_room(board, j, origin, i)):
            continue
        change = machine_cost(board, m, k, other) + machine_cost(board, origin, other, k) - here
        change += traded_mean(board, m, k, origin, other)
        if change <= least:
            partner, least = j, change
    return partner


@kernel
def swap_step(board, i, m, chance, heat, loose, book, party):
    """Swap item i with the best partner on machine m, by Metropolis' rule; was it done?"""
    at, whole = board.at[0], board.whole
    if m == whole[at.machine_of + i]:
        return False
    slack = -heat * np.log(share(chance)) if heat > 0.0 else 0.0
    j = best_partner(board, i, m, slack, chance)
    if j < 0:
        return False
    total, breaches = board.real[at.total], whole[at.tally + BREACHES]
    party.item[0], party.item[1] = i, j
    party.origin[0], party.origin[1] = lift(board, i), lift(board, j)
    placed = 0
    if fits_alone(board, i, m):
        drop(board, i, m)
        placed = 1
        if fits_alone(board, j, party.origin[0]):
            drop(board, j, party.origin[0])
            placed = 2
    good = placed == 2 and board.real[at.total] <= total + slack and whole[at.tally + MOVED] <= whole[at.tally + MOST_MOVES]
    if not (good and (loose or whole[at.tally + BREACHES] <= breaches)):
        undo(board, party, placed, 2, total)
        return False
    enter(book, i, party.origin[0])
    enter(book, j, party.origin[1])
    judge(book, board)
    return True
