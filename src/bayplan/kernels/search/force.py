"""Force an item onto a machine: where it could ever stand, and who must give way."""

from bayplan.kernels.search.board import CHARGE, LIMIT, LOAD
from bayplan.kernels.search.chance import below
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.party import MOST_LIFTED
from bayplan.kernels.search.standing import may_ever

TRIES = 64  # random machines


@kernel
def possible(board, i, chance):
    """A random machine where item i could ever stand but does not; -1 if a few tries find none."""
    at = board.at[0]
    for _ in range(TRIES):
        m = below(chance, at.machines)
        if m != board.whole[at.machine_of + i] and may_ever(board, i, m):
            return m
    return -1


@kernel
def shortage(board, i, m, short):
    """Is machine m too full for item i? What is lacking goes into `short`."""
    at, whole = board.at[0], board.whole
    n_r = at.resources
    machine = at.machine + m * 5 * n_r
    used = machine + (LOAD if whole[at.home + i] == m else CHARGE) * n_r
    lacking = False
    for r in range(n_r):
        q = whole[at.request + whole[at.kind_of + i] * n_r + r]
        short[r] = whole[used + r] - (whole[machine + LIMIT * n_r + r] - q) if q > 0 else 0
        lacking = lacking or short[r] > 0
    return lacking


@kernel
def list_lacking(board, party):
    """Of how many resources there is too little; which, and one over the shortage of each, go into the party's lists."""
    n = 0
    for r in range(board.at[0].resources):
        if party.short[r] > 0:
            party.lack[n] = r
            party.one_over[n] = 1.0 / party.short[r]
            n += 1
    return n


@kernel
def help_of(board, j, m, party, lacking):
    """How much of the shortage on machine m goes away with item j: shares summed over resources, negative if all of it."""
    at, whole = board.at[0], board.whole
    want = at.request + whole[at.kind_of + j] * at.resources
    stays_charged = whole[at.home + j] == m
    helped, enough = 0.0, True
    for e in range(lacking):
        r = party.lack[e]
        share_of = 0.0 if stays_charged and whole[at.joint + r] == 1 else whole[want + r] * party.one_over[e]
        if share_of < 1.0:
            enough = False
            helped += share_of
        else:
            helped += 1.0
    return -1.0 if enough else helped


@kernel
def relieve_of(board, j, m, short):
    """Take what leaves machine m with item j off the shortage."""
    at, whole = board.at[0], board.whole
    want = at.request + whole[at.kind_of + j] * at.resources
    stays_charged = whole[at.home + j] == m
    for r in range(at.resources):
        if not (stays_charged and whole[at.joint + r] == 1):
            short[r] -= whole[want + r]


@kernel
def is_chosen(party, n, j):
    """Is item j among the first n of the party?"""
    for e in range(n):
        if party.item[e] == j:
            return True
    return False


@kernel
def choose_victims(board, chance, i, m, scan, party):
    """The party that item i needs to come to machine m: itself, and items of m that together make room; 1 if none do.

    Each victim is the first one, from a random one on, that makes room alone, or else the one that helps most. If there
    is room already, one random item: a swap. Nothing is lifted.
    """
    at, whole, small = board.at[0], board.whole, board.small
    size = whole[at.on_size + m]
    if size == 0:
        return 1
    first = below(chance, size)
    if not shortage(board, i, m, party.short):
        party.item[1] = small[at.on + m * at.slots + first]
        return 2 if whole[at.movable + party.item[1]] == 1 else 1
    n = 1
    while n < MOST_LIFTED:
        lacking = list_lacking(board, party)
        best, best_help = -1, 0.0
        for e in range(min(size, scan)):
            slot = first + e
            j = small[at.on + m * at.slots + (slot if slot < size else slot - size)]
            if whole[at.movable + j] == 0 or is_chosen(party, n, j):
                continue
            helped = help_of(board, j, m, party, lacking)
            if helped < 0.0 or helped > best_help:
                best, best_help = j, helped
                if helped < 0.0:
                    break
        if best < 0:
            return 1
        party.item[n] = best
        n += 1
        if best_help < 0.0:
            return n
        relieve_of(board, best, m, party.short)
    return 1
