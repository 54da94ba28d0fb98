"""Containers one by one onto the machine that appeals most: the frame of all greedy placements.

Of the machines that an item fits, those with the largest appeal are the candidates, largest first; among equals those with the
lowest index. Of the candidates, the one with most containers of the item's service is taken; among equals the first.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.board import CAPACITY, NOWHERE
from bayplan.kernels.search.chance import share
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.moving import drop
from bayplan.kernels.search.standing import fits
from bayplan.kernels.search.tiny import tiny_board

RESIDUAL, FEWEST, FEWEST_OF_SERVICE, CHANCE = range(4)  # what appeals


class Taste(NamedTuple):
    """What makes a machine appealing."""

    mode: int
    weight: npt.NDArray[np.float64]  # RESIDUAL: (kind, resource) the appeal of one free unit, or (1, resource) for all kinds


class Kin(NamedTuple):
    """Who belongs together: the services of each kind, and the item of each container of a service."""

    kind_start: npt.NDArray[np.int64]  # (kind + 1,)
    service: npt.NDArray[np.int64]
    own: npt.NDArray[np.int64]  # (kind,) containers of an item
    service_start: npt.NDArray[np.int64]  # (service + 1,)
    item: npt.NDArray[np.int64]


class Desk(NamedTuple):
    """Scratch."""

    crowd: npt.NDArray[np.int64]  # (machine,) containers
    kin: npt.NDArray[np.int64]  # (machine,) containers of the services of the kind at hand
    appeal: npt.NDArray[np.float64]  # (machine,)
    candidate: npt.NDArray[np.int64]  # (d,)


@kernel
def count_kin(board, k, kin, count):
    """Count the containers of the services of kind k on every machine."""
    at, whole = board.at[0], board.whole
    count[:] = 0
    for e in range(kin.kind_start[k], kin.kind_start[k + 1]):
        s = kin.service[e]
        for c in range(kin.service_start[s], kin.service_start[s + 1]):
            m = whole[at.machine_of + kin.item[c]]
            if m != NOWHERE:
                count[m] += 1


@kernel
def count_all(board, crowd):
    """Count the containers on every machine."""
    at, whole = board.at[0], board.whole
    crowd[:] = 0
    for i in range(at.items):
        m = whole[at.machine_of + i]
        if m != NOWHERE:
            crowd[m] += whole[at.size + whole[at.kind_of + i]]


@kernel
def appeal_of(board, k, m, taste, chance, desk):
    """How much the machine appeals to an item of kind k."""
    if taste.mode == FEWEST:
        return np.float64(-desk.crowd[m])
    if taste.mode == FEWEST_OF_SERVICE:
        return np.float64(-desk.kin[m])
    if taste.mode == CHANCE:
        return share(chance)
    at, whole = board.at[0], board.whole
    n_r = at.resources
    load = at.machine + m * 5 * n_r
    capacity = load + CAPACITY * n_r
    row = k if len(taste.weight) > 1 else 0
    appeal = 0.0
    for r in range(n_r):
        appeal += taste.weight[row, r] * (whole[capacity + r] - whole[load + r])
    return appeal


@kernel
def look_around(board, k, last, taste, chance, kin, desk):
    """Bring counts and appeals up to date for an item of kind k, if the one before was of kind `last` (-1: none was)."""
    if k != last:
        count_kin(board, k, kin, desk.kin)
    lasting = taste.mode == FEWEST or (taste.mode == RESIDUAL and len(taste.weight) == 1)
    if last == -1 or taste.mode == CHANCE or (k != last and not lasting):
        for m in range(board.at[0].machines):
            desk.appeal[m] = appeal_of(board, k, m, taste, chance, desk)


@kernel
def pick_candidates(board, i, desk):
    """How many of the d most appealing machines that item i fits there are; they stand in `desk`, most appealing first."""
    d, found = len(desk.candidate), 0
    for m in range(board.at[0].machines):
        appeal = desk.appeal[m]
        if (found == d and appeal <= desk.appeal[desk.candidate[d - 1]]) or not fits(board, i, m):
            continue
        e = found if found < d else d - 1
        while e > 0 and desk.appeal[desk.candidate[e - 1]] < appeal:
            desk.candidate[e] = desk.candidate[e - 1]
            e -= 1
        desk.candidate[e] = m
        found = min(d, found + 1)
    return found


@kernel
def most_kin(found, desk):
    """The candidate with most containers of the same service."""
    best = desk.candidate[0]
    for e in range(1, found):
        if desk.kin[desk.candidate[e]] > desk.kin[best]:
            best = desk.candidate[e]
    return best


@kernel
def place_in_order(board, order, taste, kin, chance, desk):
    """How many of the lifted items in `order` found a machine; the others stay lifted."""
    at, whole = board.at[0], board.whole
    count_all(board, desk.crowd)
    placed, last = 0, -1
    for i in order:
        if whole[at.machine_of + i] != NOWHERE:
            continue
        k = whole[at.kind_of + i]
        look_around(board, k, last, taste, chance, kin, desk)
        last = k
        found = pick_candidates(board, i, desk)  # 000 Algorithm 1, line 6
        if found > 0:
            m = most_kin(found, desk)  # line 7
            drop(board, i, m)  # line 8
            desk.crowd[m] += whole[at.size + k]
            desk.kin[m] += kin.own[k]
            desk.appeal[m] = appeal_of(board, k, m, taste, chance, desk)
            placed += 1
    return placed


def warm_up() -> None:
    """Compile `place_in_order` by placing nothing on the tiny board."""
    some, none = tiny_board(), np.zeros(0, dtype=np.int64)
    start, machines = np.zeros(2, dtype=np.int64), int(some.at["machines"][0])
    kin = Kin(start, none, none, start, none)
    desk = Desk(
        np.zeros(machines, dtype=np.int64), np.zeros(machines, dtype=np.int64), np.zeros(machines), np.zeros(1, dtype=np.int64)
    )
    place_in_order(some, none, Taste(RESIDUAL, np.zeros((1, 1))), kin, np.ones(1, dtype=np.uint64), desk)
