"""Nobody loses its machine: who fits nowhere any more takes its old place back, and newcomers there make way.

Those who stand at home are never sent away, and what stood together at the start broke no rule more than the start does. So
this ends with a machine for everyone who had one, at worst with the start itself.
"""

import numpy as np

from bayplan.kernels.collocate.yard import Yard, book, fits, go_home, pick
from bayplan.model import UNPLACED, IntArray


def recall(yard: Yard, service: IntArray, home: IntArray, machine_of: IntArray) -> None:
    """Give a machine to every container (of the lifted ones) that had one: its home, another, its home by force.

    `service`, `home` and `machine_of` are (container,), UNPLACED where there is none; `yard` and `machine_of` change.
    """
    go_home(yard, service, home, machine_of)
    size = (yard.request * yard.unit.max(axis=0, initial=0.0)).sum(axis=1)[service]
    missing = np.flatnonzero((machine_of == UNPLACED) & (home != UNPLACED))
    waiting = missing[np.argsort(size[missing], kind="stable")].tolist()  # the largest come first
    while waiting:
        c = waiting.pop()
        m = pick(yard, service[c], 1.0)
        if m == UNPLACED and home[c] != UNPLACED:
            m = home[c]
            waiting += _make_way(yard, service, home, machine_of, c, size)
        if m != UNPLACED:
            book(yard, service[c], m, 1)
            machine_of[c] = m


def _make_way(yard: Yard, service: IntArray, home: IntArray, machine_of: IntArray, c: int, size: IntArray) -> list[int]:
    """Newcomers that leave the home of a container, the largest first, until it fits there or none is left."""
    m = int(home[c])
    newcomers = np.flatnonzero((machine_of == m) & (home != m))
    gone: list[int] = []
    for other in newcomers[np.argsort(-size[newcomers], kind="stable")].tolist():
        if fits(yard, service[c], m):
            break
        book(yard, service[other], m, -1)
        machine_of[other] = UNPLACED
        gone.append(other)
    return gone
