"""Hot machines are relieved of big items: Sweep, [FreeContainer] Algorithm 2, and Greedy.

Sweep empties spare servers, then big items of hot servers go there. Greedy goes from the most to the least utilised machine, the
biggest item first. `utilisation` holds U(h) of every machine: load / capacity of the resource of which it has least left.
"""

import numpy as np

from bayplan.kernels.jit import kernel
from bayplan.kernels.search.delta_cost import extra_moves
from bayplan.kernels.search.feasible import fits, others_kept
from bayplan.kernels.search.incumbent import ensure_space, record_move, update_best
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.state import LOAD, MAX_MOVES, MOVED, amount_index


@kernel
def utilisation_of(state, m, k, by):
    """U(h): the largest load / capacity over the resources of a machine, with `by` (-1, 0, 1) items of kind k more."""
    at, ints = state.at[0], state.ints
    n_r = at.resources
    load = amount_index(state, m, LOAD)
    largest = 0.0
    for r in range(n_r):
        here = ints[load + r] + by * ints[at.request + k * n_r + r]
        largest = max(largest, state.floats[at.slope + m * n_r + r] * here)
    return largest


@kernel
def measure_utilisation(state, utilisation_out):
    """U(h) of every machine."""
    for m in range(state.at[0].machines):
        utilisation_out[m] = utilisation_of(state, m, 0, 0)


@kernel
def item_size(state, i, m):
    """The size of an item on a machine: its largest request / capacity."""
    at = state.at[0]
    k = state.ints[at.kind_of + i]
    largest = 0.0
    for r in range(at.resources):
        largest = max(largest, state.floats[at.slope + m * at.resources + r] * state.ints[at.request + k * at.resources + r])
    return largest


@kernel
def may_move(state, i, origin, m):
    """May the lifted item move from `origin` to m, by all rules, its own and those of others, and the limit on moves?"""
    at, ints = state.at[0], state.ints
    if m == origin or not fits(state, i, m) or not others_kept(state, i, origin, m):
        return False
    return ints[at.tally + MOVED] + extra_moves(state, i, m) <= ints[at.tally + MAX_MOVES]


@kernel
def least_utilised(state, i, origin, machines, utilisation):
    """The least utilised of some machines that can take the lifted item, the first of equals; -1 if none can."""
    best, least = -1, np.inf
    for e in range(len(machines)):
        if utilisation[machines[e]] < least and may_move(state, i, origin, machines[e]):
            best, least = machines[e], utilisation[machines[e]]
    return best


@kernel
def send_to_least_utilised(state, i, machines, utilisation, incumbent):
    """Move an item to the least utilised of some machines; False if it stays."""
    origin = lift(state, i)
    m = least_utilised(state, i, origin, machines, utilisation)
    drop(state, i, origin if m < 0 else m)
    if m < 0:
        return False
    utilisation[origin] = utilisation_of(state, origin, 0, 0)
    utilisation[m] = utilisation_of(state, m, 0, 0)
    record_move(incumbent, i, origin)
    update_best(incumbent, state)
    ensure_space(incumbent, state)
    return True


@kernel
def list_movable(state, m, items_out):
    """The number of movable items of a machine; they are listed, as the machine's own list changes on the way."""
    at = state.at[0]
    n = 0
    for slot in range(state.ints[at.items_on_size + m]):
        i = state.small[at.items_on + m * at.slots + slot]
        if state.ints[at.movable + i] == 1:
            items_out[n] = i
            n += 1
    return n


@kernel
def empty_spare(state, h, normal, utilisation, incumbent, items):
    """Lines 5-8: every item of a spare server goes to the least utilised normal server that can take it."""
    for e in range(list_movable(state, h, items)):
        send_to_least_utilised(state, items[e], normal, utilisation, incumbent)


@kernel
def take_biggest(state, m, n, items):
    """The biggest of n listed items, moved to the end of the list; the first of equals."""
    best = 0
    for e in range(1, n):
        if item_size(state, items[e], m) > item_size(state, items[best], m):
            best = e
    i = items[best]
    items[best] = items[n - 1]
    items[n - 1] = i
    return i


@kernel
def relieve_hot(state, h, spare, utilisation, incumbent, items):
    """Lines 10-14: the biggest items of a hot server go to spare servers, until it is no hotter than the mean of all."""
    n = list_movable(state, h, items)
    mean = 0.0
    for m in range(state.at[0].machines):
        mean += utilisation[m] / state.at[0].machines
    while n > 0 and utilisation[h] > mean:
        send_to_least_utilised(state, take_biggest(state, h, n, items), spare, utilisation, incumbent)
        n -= 1


@kernel
def hottest(state, utilisation, exhausted):
    """The most utilised machine that is not exhausted, the first of equals; -1 if all are."""
    best = -1
    for m in range(state.at[0].machines):
        if exhausted[m] == 0 and (best < 0 or utilisation[m] > utilisation[best]):
            best = m
    return best


@kernel
def coolest_for(state, i, origin, utilisation):
    """The least utilised machine that can take the lifted item and stays cooler than `origin` was; -1 if none can."""
    k = state.ints[state.at[0].kind_of + i]
    best = -1
    for m in range(state.at[0].machines):
        if (best < 0 or utilisation[m] < utilisation[best]) and utilisation[m] < utilisation[origin]:
            if utilisation_of(state, m, k, 1) < utilisation[origin] and may_move(state, i, origin, m):
                best = m
    return best


@kernel
def cool(state, h, utilisation, incumbent, items):
    """Move one item off machine h so that it and the other machine are cooler than h was; False if none can go."""
    n = list_movable(state, h, items)
    while n > 0:
        i = take_biggest(state, h, n, items)
        n -= 1
        lift(state, i)
        m = coolest_for(state, i, h, utilisation) if utilisation_of(state, h, 0, 0) < utilisation[h] else -1
        drop(state, i, h if m < 0 else m)
        if m >= 0:
            utilisation[h], utilisation[m] = utilisation_of(state, h, 0, 0), utilisation_of(state, m, 0, 0)
            record_move(incumbent, i, h)
            update_best(incumbent, state)
            ensure_space(incumbent, state)
            return True
    return False


@kernel
def cool_down(state, moves, utilisation, exhausted, incumbent, items):
    """At most `moves` moves; their number. Fewer: no machine can be made cooler."""
    made = 0
    while made < moves:
        h = hottest(state, utilisation, exhausted)
        if h < 0:
            if exhausted[state.at[0].machines] == 0:
                break
            for m in range(len(exhausted)):
                exhausted[m] = 0
        elif cool(state, h, utilisation, incumbent, items):
            made += 1
            exhausted[state.at[0].machines] = 1  # something moved since the last reset, so all are tried once more
        else:
            exhausted[h] = 1
    return made
