"""A place for what has none, by moving other containers: chains of ejections."""

from collections import deque

import numpy as np

from bayplan.decide.capacity.failover_state import FailoverState
from bayplan.kernels.search.feasible import fits
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.state import NOWHERE
from bayplan.model import IntArray, ints
from bayplan.search.array_layout import view

MACHINES = 48  # that are tried for one item, those with the least shortage first


def make_place(failed: FailoverState) -> bool:
    """Is there a place for everything that is lifted, if others move? Then it runs there, else as much as before.

    An item without a place takes that of one item that runs elsewhere, the smallest that is enough; that one looks for a place
    in turn. None is ejected twice, so chains end.
    """
    before, skewed = failed.state.machine_of[failed.items].copy(), failed.state.skewed
    ejected: set[int] = set()
    pending = deque(failed.left.tolist())
    while pending:
        i = pending.popleft()
        failed.placer.place(ints([i]), emptiest_first=False)
        if failed.state.machine_of[i] != NOWHERE:
            continue
        victim = _eject_for(failed, i, ejected)
        if victim == NOWHERE:
            break
        ejected.add(victim)
        pending.append(victim)
    if failed.state.skewed > skewed or not failed.all_placed or any(failed.state.machine_of[i] == NOWHERE for i in ejected):
        failed.lift_again()
        failed.put(before)
        return False
    failed.moved = [i for i in failed.moved if failed.state.machine_of[i] != failed.state.items.home[i]]
    return True


def _eject_for(failed: FailoverState, item: int, ejected: set[int]) -> int:
    """The item that was lifted so that `item` could be dropped in its place; NOWHERE if none can be."""
    arrays, size = failed.state.arrays, failed.placer.size
    ours = set(failed.items.tolist())
    for m in _likely_machines(failed, item).tolist():
        on = _items_on(failed, m)
        for j in on[np.argsort(size[on], kind="stable")].tolist():
            if j in ejected or failed.never_elsewhere[j] or not failed.state.items.movable[j]:
                continue
            lift(arrays, j)
            if fits(arrays, item, m):
                drop(arrays, item, m)
                if j not in ours:
                    failed.moved.append(j)
                return int(j)
            drop(arrays, j, m)
    return NOWHERE


def _likely_machines(failed: FailoverState, item: int) -> IntArray:
    """Open machines that could hold the item if emptied, those with the least shortage first."""
    kind = failed.state.items.kind_of[item]
    n_r = len(failed.cluster.resources)
    request = view(failed.state.arrays, "request", (int(kind) + 1) * n_r)[-n_r:]
    row = view(failed.state.arrays, "allow_row", int(kind) + 1)[-1]
    limit = failed.limit.astype(np.float64)
    short = np.where(request > 0, failed.load + request - limit, 0) / np.maximum(1.0, np.minimum(limit, 2.0**62))
    could = (failed.allowed[row] != 0) & (limit >= request).all(axis=1)
    machines = np.flatnonzero(could)
    return ints(machines[np.argsort(short.max(axis=1, initial=0.0)[machines], kind="stable")[:MACHINES]])


def _items_on(failed: FailoverState, machine: int) -> IntArray:
    """The items on a machine."""
    arrays = failed.state.arrays
    slots = int(arrays.at["slots"][0])
    number = int(view(arrays, "items_on_size", machine + 1)[machine])
    listed = view(arrays, "items_on", (machine + 1) * slots)[machine * slots : machine * slots + number]
    return ints(listed.astype(np.int64))
