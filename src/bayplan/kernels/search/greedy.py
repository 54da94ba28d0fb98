"""Greedy: from the most to the least utilised machine, the biggest item first."""

from bayplan.kernels.jit import kernel
from bayplan.kernels.search.incumbent import ensure_space, record_move, update_best
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.sweep import list_movable, may_move, take_biggest, utilisation_of


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
