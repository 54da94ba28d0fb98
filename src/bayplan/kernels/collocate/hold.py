"""A ship's hold in counts: how many containers of each service stand on each machine, and what one more or one less gains.

Replicas are interchangeable, so affinity (004 (1)) and moves are functions of the counts (service, machine). Single containers
are kept only to draw from them at random.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.collocate.yard import smallest_yard
from bayplan.kernels.search.compiled import kernel

NOWHERE = -1
MOVES, MOST_MOVES = range(2)  # of `tally`
GAINED, PRICE = range(2)  # of `worth`


class Hold(NamedTuple):
    """What is fixed and what changes. Only the last block changes."""

    service_of: npt.NDArray[np.int32]  # (container,) those that may move; replicas side by side
    came_from: npt.NDArray[np.int32]  # (container,) the machine where it stood at first
    first: npt.NDArray[np.int64]  # (service + 1,) where its containers begin
    request: npt.NDArray[np.int64]  # (service, resource); this and all up to `weight` as in a yard
    one_over: npt.NDArray[np.float64]  # (service,) 1 / d
    row_of: npt.NDArray[np.int64]  # (service,)
    allow: npt.NDArray[np.bool_]  # (row, machine)
    set_start: npt.NDArray[np.int64]  # (service + 1,)
    set_of: npt.NDArray[np.int64]  # (membership,)
    edge_start: npt.NDArray[np.int64]  # (service + 1,)
    neighbour: npt.NDArray[np.int64]  # (half edge,) heaviest first
    weight: npt.NDArray[np.float64]  # (half edge,)
    chosen: npt.NDArray[np.float64]  # (half edge,) cumulated weight of a service's edges, 1 at its last
    home: npt.NDArray[np.int16]  # (machine, service) counts from which moves are counted

    counts: npt.NDArray[np.int16]  # (machine, service)
    free: npt.NDArray[np.int64]  # (machine, resource)
    spare: npt.NDArray[np.int32]  # (set, machine)
    machine_of: npt.NDArray[np.int32]  # (container,) or NOWHERE
    slot_of: npt.NDArray[np.int32]  # (container,)
    on: npt.NDArray[np.int32]  # (machine, slot) containers
    size: npt.NDArray[np.int32]  # (machine,) of them
    tally: npt.NDArray[np.int64]  # MOVES, MOST_MOVES
    worth: npt.NDArray[np.float64]  # GAINED affinity, PRICE of a move


@kernel
def step_gain(hold, s, m, low):
    """The affinity that the container number low + 1 of the service adds on a machine."""
    here, gain = hold.counts[m], 0.0
    share, more = low * hold.one_over[s], (low + 1) * hold.one_over[s]
    for e in range(hold.edge_start[s], hold.edge_start[s + 1]):
        t = hold.neighbour[e]
        if here[t] > 0:
            other = here[t] * hold.one_over[t]
            if other > share:
                gain += hold.weight[e] * (min(more, other) - share)
    return gain


@kernel
def gain_of(hold, s, m):
    """What one more container of the service on the machine is worth: affinity, less the price of a move."""
    n = hold.counts[m, s]
    return step_gain(hold, s, m, n) - (hold.worth[PRICE] if n >= hold.home[m, s] else 0.0)


@kernel
def loss_of(hold, s, m):
    """What one container of the service less on the machine costs: affinity, less the price of a move that is not made."""
    n = hold.counts[m, s]
    return step_gain(hold, s, m, n - 1) - (hold.worth[PRICE] if n > hold.home[m, s] else 0.0)


@kernel
def book(hold, s, m, by):
    """Count one container more (1) or less (-1)."""
    n = hold.counts[m, s]
    if by > 0:
        if n >= hold.home[m, s]:
            hold.tally[MOVES] += 1
    elif n > hold.home[m, s]:
        hold.tally[MOVES] -= 1
    hold.counts[m, s] = n + by
    for r in range(hold.free.shape[1]):
        hold.free[m, r] -= by * hold.request[s, r]
    for e in range(hold.set_start[s], hold.set_start[s + 1]):
        hold.spare[hold.set_of[e], m] -= by


@kernel
def put(hold, c, m):
    """Put a lifted container on a machine; what that is worth."""
    s = hold.service_of[c]
    gain = gain_of(hold, s, m)
    book(hold, s, m, 1)
    at = hold.size[m]
    hold.on[m, at] = c
    hold.slot_of[c] = at
    hold.machine_of[c] = m
    hold.size[m] = at + 1
    hold.worth[GAINED] += gain
    return gain


@kernel
def take(hold, c):
    """Lift a container off its machine; what that costs."""
    s, m = hold.service_of[c], hold.machine_of[c]
    loss = loss_of(hold, s, m)
    book(hold, s, m, -1)
    last = hold.size[m] - 1
    other, at = hold.on[m, last], hold.slot_of[c]
    hold.on[m, at] = other
    hold.slot_of[other] = at
    hold.size[m] = last
    hold.machine_of[c] = NOWHERE
    hold.worth[GAINED] -= loss
    return loss


@kernel
def refill(hold, target):
    """Put every container where it belongs: first all that leave are lifted."""
    for c in range(len(target)):
        if hold.machine_of[c] != NOWHERE and hold.machine_of[c] != target[c]:
            take(hold, c)
    for c in range(len(target)):
        if hold.machine_of[c] == NOWHERE and target[c] != NOWHERE:
            put(hold, c, target[c])


def smallest_hold() -> Hold:
    """Two services that talk, two machines; arrays of the types that a problem has."""
    yard = smallest_yard()
    allow = np.ones((1, 2), dtype=np.bool_)
    allow.flags.writeable = False
    shared = {name: getattr(yard, name) for name in yard._fields if name in Hold._fields}
    changed = {"allow": allow, "free": np.full((2, 1), 9, dtype=np.int64), "spare": np.zeros((0, 2), dtype=np.int32)}
    return Hold(
        **{**shared, **changed},
        service_of=np.arange(2, dtype=np.int32),
        came_from=np.zeros(2, dtype=np.int32),
        first=np.arange(3),
        chosen=np.ones(2),
        home=np.zeros((2, 2), dtype=np.int16),
        counts=np.zeros((2, 2), dtype=np.int16),
        machine_of=np.full(2, NOWHERE, dtype=np.int32),
        slot_of=np.zeros(2, dtype=np.int32),
        on=np.zeros((2, 4), dtype=np.int32),
        size=np.zeros(2, dtype=np.int32),
        tally=np.array([0, 9]),
        worth=np.zeros(2),
    )


def warm_up() -> None:
    """Compile what is called from outside, with the types it uses."""
    refill(smallest_hold(), np.zeros(2, dtype=np.int32))
