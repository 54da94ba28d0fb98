"""The machines divided among the crucial sets ([RASA] §IV-B5)."""

import numpy as np

from bayplan.errors import ModelError
from bayplan.model import BoolArray, FloatArray, IntArray, floats, ints

UNOWNED = -1  # owner of a machine that no set may use
FITTINGS = 200  # rounds of proportional fitting
ALMOST_NONE = 1e-12  # the request of a set that requests nothing: it gets machines that no other set may use


def divide_machines(
    demand: FloatArray, usable: BoolArray, kind: IntArray, here: IntArray, size: FloatArray | None = None
) -> IntArray:
    """(machine,) the set that owns it, `UNOWNED` where no set may use it.

    demand (set, resource): what a set requests, as shares of the cluster: `wanted`; its largest share counts.
    usable (set, machine); kind (machine,): number of the machine's type; here (set, machine): containers of the set that
    run there now; size (machine,): what a machine is worth, all the same if not given.

    The machines of each type are divided in proportion to the demand of those sets that may use them (the paper). Beyond it:

    - Sets that may use few machines get more of those, so that every set has its proportion of all machines if it can.
    - Rounding is by largest remainder, and what one type rounds off the next makes up for: where nearly every
      machine is a type of its own, the largest set would get them all otherwise.
    - Within a type a set gets the machines where its containers run already: fewer moves.

    A set whose proportion is well below one machine may get none.
    """
    n_s, n_m = usable.shape
    if (len(demand), len(kind), here.shape) != (n_s, n_m, (n_s, n_m)):
        raise ModelError("demand, usable, kind and here have different numbers of sets or machines")
    owner = np.full(n_m, UNOWNED, dtype=np.int64)
    worth = _worth(n_m, size)
    groups = _groups(usable, kind, worth)
    if n_s == 0 or not groups:
        return ints(owner)
    may = np.array([usable[:, group[0]] for group in groups])
    value = np.array([worth[group[0]] for group in groups])
    number = np.array([len(group) for group in groups])
    quota = _fitted(demand.max(axis=1, initial=0.0), may, number * value)
    carry = np.zeros(n_s)  # value that is due to each set and not given yet
    for g, group in enumerate(groups):
        due = quota[g] * number[g] + carry / value[g]
        count = _rounded(due, may[g], len(group))
        carry = (due - count) * value[g]
        owner[group] = _assigned(here[:, group], count)
    return ints(owner)


def _worth(machines: int, size: FloatArray | None) -> FloatArray:
    """(machine,) above 0, so that even a machine that is full already gets an owner."""
    given = np.ones(machines) if size is None else size
    most = given.max(initial=0.0)
    return floats(np.maximum(given, ALMOST_NONE * most) if most > 0 else np.ones(machines))


def _groups(usable: BoolArray, kind: IntArray, worth: FloatArray) -> list[IntArray]:
    """Machines that are alike in type, worth, and the sets that may use them; the largest groups first."""
    keys = np.column_stack([kind, np.unique(worth, return_inverse=True)[1], usable.T])
    used = np.flatnonzero(usable.any(axis=0))
    _, group = np.unique(keys[used], axis=0, return_inverse=True)
    groups = [ints(used[group == g]) for g in range(group.max(initial=-1) + 1)]
    return sorted(groups, key=len, reverse=True)


def _fitted(demand: FloatArray, may: BoolArray, supply: FloatArray) -> FloatArray:
    """(group, set) share of each group: rows add up to 1, and sets come as near to their proportion as they may.

    Iterative proportional fitting. Where every set may use every machine it ends at once, at the paper's proportion.
    """
    share = demand / demand.sum() if demand.sum() > 0 else np.ones(len(demand))
    share = np.maximum(share, ALMOST_NONE)
    goal = share / share.sum() * supply.sum()
    quota = may * share
    quota = quota / quota.sum(axis=1, keepdims=True)
    for _ in range(FITTINGS):
        got = supply @ quota
        factor = np.where(got > 0, goal / np.where(got > 0, got, 1.0), 1.0)
        if np.allclose(factor[got > 0], 1.0, rtol=1e-9):
            break
        quota = quota * factor
        quota = quota / quota.sum(axis=1, keepdims=True)
    return floats(quota)


def _rounded(due: FloatArray, may: BoolArray, machines: int) -> IntArray:
    """(set,) integer numbers of machines, one after the other to the set that misses most; of equals, to the first."""
    count, left = np.zeros(len(due), dtype=np.int64), np.where(may, due, -np.inf)
    for _ in range(machines):
        s = int(np.argmax(left))
        count[s] += 1
        left[s] -= 1.0
    return count


def _assigned(here: IntArray, count: IntArray) -> IntArray:
    """(machine,) its set: machines for which the choice matters most come first; each to the set that runs most there."""
    left, owner = count.copy(), np.empty(here.shape[1], dtype=np.int64)
    ranked = np.sort(here, axis=0)
    regret = ranked[-1] - ranked[-2] if len(here) > 1 else ranked[-1]
    for m in np.argsort(-regret, kind="stable"):
        s = int(np.argmax(np.where(left > 0, here[:, m], -1)))
        owner[m] = s
        left[s] -= 1
    return owner
