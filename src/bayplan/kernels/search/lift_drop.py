"""Lift an item from its machine, or drop it on one: every sum follows, in O(resources + rows + degree)."""

from bayplan.kernels.jit import kernel
from bayplan.kernels.search.delta_cost import extra_moves, machine_cost, mean_cost, move_cost, traffic_gain
from bayplan.kernels.search.feasible import extra_unmet
from bayplan.kernels.search.skew import count_skew, extra_skew
from bayplan.kernels.search.state import (
    ADD_WIDTH,
    BUSIEST,
    BUSIEST_MOVE,
    CHARGE,
    LOAD,
    MOVED,
    NOWHERE,
    SERVICE_WIDTH,
    SKEWED,
    UNMET,
    amount_index,
    count_index,
)


@kernel
def add_to_counts(state, k, m, by):
    """Add `by` (1 or -1) items of kind k to the counts of a machine."""
    at, ints, small = state.at[0], state.ints, state.small
    for e in range(ints[at.add_start + k], ints[at.add_start + k + 1]):
        row, containers = ints[at.add + ADD_WIDTH * e], by * ints[at.add + ADD_WIDTH * e + 1]
        there = count_index(state, row, m)
        before = small[there]
        small[there] = before + containers
        ints[at.row_placed + row] += containers
        if before == 0:
            ints[at.groups_used + row] += 1
        elif before + containers == 0:
            ints[at.groups_used + row] -= 1
    count_skew(state, k, m, by)


@kernel
def add_to_load(state, i, m, by):
    """Add `by` times item i to the load of a machine and to what it is charged."""
    at, ints, floats = state.at[0], state.ints, state.floats
    n_r = at.resources
    k = ints[at.kind_of + i]
    at_home = ints[at.home + i] == m
    load, charge = amount_index(state, m, LOAD), amount_index(state, m, CHARGE)
    variance = at.variance_priced == 1
    for r in range(n_r):
        amount = by * ints[at.request + k * n_r + r]
        ints[load + r] += amount
        if not (at_home and ints[at.joint + r] == 1):
            ints[charge + r] += amount
        if variance:
            floats[at.utilisation_sum + r] += floats[at.slope + m * n_r + r] * amount
    for e in range(at.risks):
        floats[at.risk_mean + m * at.risks + e] += by * floats[at.usage_mean + k * at.risks + e]
        floats[at.risk_variance + m * at.risks + e] += by * floats[at.usage_variance + k * at.risks + e]


@kernel
def count_moves(state, i, m, by):
    """Update the surplus of the kind, the moved containers of every service, and those of the service that moves most."""
    at, ints = state.at[0], state.ints
    k, home = ints[at.kind_of + i], ints[at.home + i]
    row = ints[at.surplus_row + k]
    if row != NOWHERE:
        state.small[at.surplus + row * at.machines + m] += by
    if home == m or home == NOWHERE or state.floats[at.move_price + BUSIEST_MOVE] == 0.0:
        return
    for e in range(ints[at.service_start + k], ints[at.service_start + k + 1]):
        moved = at.moved_of + ints[at.service + SERVICE_WIDTH * e]
        ints[at.services_with + ints[moved]] -= 1
        ints[moved] += by * ints[at.service + SERVICE_WIDTH * e + 1]
        ints[at.services_with + ints[moved]] += 1
        ints[at.tally + BUSIEST] = max(ints[at.tally + BUSIEST], ints[moved])
    while ints[at.tally + BUSIEST] > 0 and ints[at.services_with + ints[at.tally + BUSIEST]] == 0:
        ints[at.tally + BUSIEST] -= 1


@kernel
def count_unmet(state, i, m, by):
    """Update the containers without what they depend on, what that costs the walk, and those beyond skew; item i is lifted."""
    at = state.at[0]
    change = by * extra_unmet(state, i, m)
    state.ints[at.tally + UNMET] += change
    state.ints[at.tally + SKEWED] += by * extra_skew(state, i, m)
    state.floats[at.total] += state.floats[at.unmet_price] * change


@kernel
def drop(state, i, m):
    """Put the lifted item on the machine."""
    at, ints, floats = state.at[0], state.ints, state.floats
    k = ints[at.kind_of + i]
    ints[at.tally + MOVED] += extra_moves(state, i, m)
    then = machine_cost(state, m, k, at.empty_kind)
    floats[at.total] += then - floats[at.cost + m] + mean_cost(state, m, k) - traffic_gain(state, k, m) + move_cost(state, i, m)
    count_unmet(state, i, m, 1)
    floats[at.cost + m] = then
    add_to_load(state, i, m, 1)
    add_to_counts(state, k, m, 1)
    count_moves(state, i, m, 1)
    last = ints[at.items_on_size + m]
    ints[at.machine_of + i] = m
    ints[at.slot_of + i] = last
    state.small[at.items_on + m * at.slots + last] = i
    ints[at.items_on_size + m] = last + 1


@kernel
def lift(state, i):
    """Take the item off its machine; the machine. What `drop` would charge for putting it back is gained."""
    at, ints, floats = state.at[0], state.ints, state.floats
    k, m = ints[at.kind_of + i], ints[at.machine_of + i]
    add_to_load(state, i, m, -1)
    add_to_counts(state, k, m, -1)
    count_moves(state, i, m, -1)
    then = machine_cost(state, m, at.empty_kind, at.empty_kind)
    floats[at.total] += then - floats[at.cost + m] - mean_cost(state, m, k) + traffic_gain(state, k, m) - move_cost(state, i, m)
    count_unmet(state, i, m, -1)
    floats[at.cost + m] = then
    ints[at.tally + MOVED] -= extra_moves(state, i, m)
    last = ints[at.items_on_size + m] - 1
    slot, other = ints[at.slot_of + i], state.small[at.items_on + m * at.slots + last]
    state.small[at.items_on + m * at.slots + slot] = other
    ints[at.slot_of + other] = slot
    ints[at.items_on_size + m] = last
    ints[at.machine_of + i] = NOWHERE
    return m


@kernel
def place_start(state, start):
    """Put every item on its home, then where it is at the start (NOWHERE: it stays lifted)."""
    at, ints = state.at[0], state.ints
    for step in range(2):
        for i in range(at.items):
            m = ints[at.home + i] if step == 0 else start[i]
            if m != ints[at.machine_of + i]:
                if ints[at.machine_of + i] != NOWHERE:
                    lift(state, i)
                if m != NOWHERE:
                    drop(state, i, m)


@kernel
def move_all(state, target):
    """Move every item to its target: first all that leave are lifted, then dropped."""
    at, ints = state.at[0], state.ints
    for i in range(at.items):
        if ints[at.machine_of + i] != NOWHERE and ints[at.machine_of + i] != target[i]:
            lift(state, i)
    for i in range(at.items):
        if ints[at.machine_of + i] == NOWHERE and target[i] != NOWHERE:
            drop(state, i, target[i])
