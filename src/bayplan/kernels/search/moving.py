"""Lift an item from its machine, or drop it on one: every sum follows, in O(resources + rows + degree)."""

from bayplan.kernels.search.board import BREACHES, BUSIEST, BUSIEST_MOVE, CHARGE, MOVED, NOWHERE
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.standing import cell, extra_breaches, extra_moves, machine_cost, mean_cost, move_cost, traffic_gain


@kernel
def count_in(board, k, m, by):
    """Add `by` (1 or -1) items of kind k to the counts of a machine."""
    at, whole, small = board.at[0], board.whole, board.small
    for e in range(whole[at.add_start + k], whole[at.add_start + k + 1]):
        row, containers = whole[at.add + 2 * e], by * whole[at.add + 2 * e + 1]
        there = cell(board, row, m)
        before = small[there]
        small[there] = before + containers
        whole[at.placed + row] += containers
        if before == 0:
            whole[at.used + row] += 1
        elif before + containers == 0:
            whole[at.used + row] -= 1


@kernel
def load_in(board, i, m, by):
    """Add `by` times item i to the load of a machine and to what it is charged."""
    at, whole, real = board.at[0], board.whole, board.real
    n_r = at.resources
    k = whole[at.kind_of + i]
    at_home = whole[at.home + i] == m
    machine = at.machine + m * 5 * n_r
    for r in range(n_r):
        amount = by * whole[at.request + k * n_r + r]
        whole[machine + r] += amount
        if not (at_home and whole[at.joint + r] == 1):
            whole[machine + CHARGE * n_r + r] += amount
        real[at.utilised + r] += real[at.slope + m * n_r + r] * amount
    for e in range(at.risks):
        real[at.risk_mean + m * at.risks + e] += by * real[at.usage_mean + k * at.risks + e]
        real[at.risk_variance + m * at.risks + e] += by * real[at.usage_variance + k * at.risks + e]


@kernel
def count_moved(board, i, m, by):
    """Keep the surplus of the kind, the moved containers of every service, and those of the busiest one."""
    at, whole = board.at[0], board.whole
    k, home = whole[at.kind_of + i], whole[at.home + i]
    row = whole[at.surplus_row + k]
    if row != NOWHERE:
        board.small[at.surplus + row * at.machines + m] += by
    if home == m or home == NOWHERE or board.real[at.move_price + BUSIEST_MOVE] == 0.0:
        return
    for e in range(whole[at.service_start + k], whole[at.service_start + k + 1]):
        moved = at.moved_of + whole[at.service + 2 * e]
        whole[at.services_with + whole[moved]] -= 1
        whole[moved] += by * whole[at.service + 2 * e + 1]
        whole[at.services_with + whole[moved]] += 1
        whole[at.tally + BUSIEST] = max(whole[at.tally + BUSIEST], whole[moved])
    while whole[at.tally + BUSIEST] > 0 and whole[at.services_with + whole[at.tally + BUSIEST]] == 0:
        whole[at.tally + BUSIEST] -= 1


@kernel
def count_breaches(board, i, m, by):
    """Keep the containers that have not what they need, and what the walk charges for them; item i is lifted."""
    at = board.at[0]
    more = by * extra_breaches(board, i, m)
    board.whole[at.tally + BREACHES] += more
    board.real[at.total] += board.real[at.breach_price] * more


@kernel
def drop(board, i, m):
    """Put the lifted item on the machine."""
    at, whole, real = board.at[0], board.whole, board.real
    k = whole[at.kind_of + i]
    whole[at.tally + MOVED] += extra_moves(board, i, m)
    then = machine_cost(board, m, k, at.nothing)
    real[at.total] += then - real[at.cost + m] + mean_cost(board, m, k) - traffic_gain(board, k, m) + move_cost(board, i, m)
    count_breaches(board, i, m, 1)
    real[at.cost + m] = then
    load_in(board, i, m, 1)
    count_in(board, k, m, 1)
    count_moved(board, i, m, 1)
    last = whole[at.on_size + m]
    whole[at.machine_of + i] = m
    whole[at.slot_of + i] = last
    board.small[at.on + m * at.slots + last] = i
    whole[at.on_size + m] = last + 1


@kernel
def lift(board, i):
    """Take the item off its machine; the machine. What `drop` would charge for putting it back is gained."""
    at, whole, real = board.at[0], board.whole, board.real
    k, m = whole[at.kind_of + i], whole[at.machine_of + i]
    load_in(board, i, m, -1)
    count_in(board, k, m, -1)
    count_moved(board, i, m, -1)
    then = machine_cost(board, m, at.nothing, at.nothing)
    real[at.total] += then - real[at.cost + m] - mean_cost(board, m, k) + traffic_gain(board, k, m) - move_cost(board, i, m)
    count_breaches(board, i, m, -1)
    real[at.cost + m] = then
    whole[at.tally + MOVED] -= extra_moves(board, i, m)
    last = whole[at.on_size + m] - 1
    slot, other = whole[at.slot_of + i], board.small[at.on + m * at.slots + last]
    board.small[at.on + m * at.slots + slot] = other
    whole[at.slot_of + other] = slot
    whole[at.on_size + m] = last
    whole[at.machine_of + i] = NOWHERE
    return m


@kernel
def fill(board, start):
    """Put every item on its home, then where it stands at the start (NOWHERE: it stays lifted)."""
    at, whole = board.at[0], board.whole
    for step in range(2):
        for i in range(at.items):
            m = whole[at.home + i] if step == 0 else start[i]
            if m != whole[at.machine_of + i]:
                if whole[at.machine_of + i] != NOWHERE:
                    lift(board, i)
                if m != NOWHERE:
                    drop(board, i, m)


@kernel
def rearrange(board, target):
    """Put every item where it belongs: first all that leave are lifted, then dropped."""
    at, whole = board.at[0], board.whole
    for i in range(at.items):
        if whole[at.machine_of + i] != NOWHERE and whole[at.machine_of + i] != target[i]:
            lift(board, i)
    for i in range(at.items):
        if whole[at.machine_of + i] == NOWHERE and target[i] != NOWHERE:
            drop(board, i, target[i])
