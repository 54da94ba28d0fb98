"""Greedy: from the hottest machine to the one with most room, the biggest item first."""

from bayplan.kernels.search.book import enter, judge, make_room
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.moving import drop, lift
from bayplan.kernels.search.sweep import list_movable, may_go, take_biggest, utilisation


@kernel
def hottest(board, heat, stuck):
    """The hottest machine that is not stuck, the first of equals; -1 if all are."""
    best = -1
    for m in range(board.at[0].machines):
        if stuck[m] == 0 and (best < 0 or heat[m] > heat[best]):
            best = m
    return best


@kernel
def coolest_for(board, i, origin, heat):
    """The least utilised machine that can take the lifted item and stays cooler than `origin` was; -1 if none can."""
    k = board.whole[board.at[0].kind_of + i]
    best = -1
    for m in range(board.at[0].machines):
        if (best < 0 or heat[m] < heat[best]) and heat[m] < heat[origin]:
            if utilisation(board, m, k, 1) < heat[origin] and may_go(board, i, origin, m):
                best = m
    return best


@kernel
def cool(board, h, heat, book, held):
    """Move one item off machine h so that it and the other machine are cooler than h was; False if none can go."""
    n = list_movable(board, h, held)
    while n > 0:
        i = take_biggest(board, h, n, held)
        n -= 1
        lift(board, i)
        m = coolest_for(board, i, h, heat) if utilisation(board, h, 0, 0) < heat[h] else -1
        drop(board, i, h if m < 0 else m)
        if m >= 0:
            heat[h], heat[m] = utilisation(board, h, 0, 0), utilisation(board, m, 0, 0)
            enter(book, i, h)
            judge(book, board)
            make_room(book, board)
            return True
    return False


@kernel
def cool_down(board, moves, heat, stuck, book, held):
    """Up to so many moves; how many were made. Fewer: no machine can be made cooler."""
    made = 0
    while made < moves:
        h = hottest(board, heat, stuck)
        if h < 0:
            if stuck[board.at[0].machines] == 0:
                break
            for m in range(len(stuck)):
                stuck[m] = 0
        elif cool(board, h, heat, book, held):
            made += 1
            stuck[board.at[0].machines] = 1  # since all were free: something moved, so all are tried once more
        else:
            stuck[h] = 1
    return made
