"""The kernels of a live admission, warmed up."""

import numpy as np

from bayplan.kernels.admit.decide import Desk, View, decide_greedily, price_members, view, weigh
from bayplan.kernels.admit.first_found import first_found
from bayplan.kernels.admit.ledger import BLOCK, Ledger, book, clear, price_all
from bayplan.kernels.admit.use import homes, sound, value_ratio


def warm_up_live() -> None:
    """Compile them for the types of an `Admission`: what a request brings is read-only, all else is not."""
    demand, traffic = np.ones((1, 1), dtype=np.int64), np.zeros((1, 1))
    demand.flags.writeable = traffic.flags.writeable = False
    ledger, seen, desk = _ledger(), _view(), _desk()
    most = np.ones((1, 1), dtype=np.int64)
    sound(demand, traffic, most)
    homes(demand[0], seen.room)
    value_ratio(1.0, demand, traffic, most[0], 1.0, desk.zone)
    price_all(ledger, 1.0)
    decide_greedily(ledger, 0, 0, False, demand, traffic, seen, desk)
    view(ledger, 0, 0, False, seen)
    price_members(seen, demand, desk.cost)
    first_found(demand, seen.room, traffic, desk.pair, seen.link, seen.bandwidth, 1, desk.zone)
    weigh(ledger, demand, traffic, seen, desk)
    book(ledger, 0, 0, 1.0, desk.resource[:1].copy(), desk.amount[:1].copy())
    clear(ledger, 0, 0)


def _ledger() -> Ledger:
    """One zone, one resource, one block."""
    load, price, limit = np.zeros((BLOCK, 2), dtype=np.int64), np.zeros((BLOCK, 2)), np.array([9, 0])
    return Ledger(load, price, load[:1].copy(), price[:1].copy(), limit)


def _view() -> View:
    whole, real = np.ones((1, 1), dtype=np.int64), np.zeros((1, 1))
    return View(whole, real, np.ones(2), np.zeros(2), np.zeros(2, np.int64), whole.copy(), np.zeros((1, 1, 1)), real.copy())


def _desk() -> Desk:
    whole = np.zeros((1, 1), dtype=np.int64)
    return Desk(np.zeros((1, 1)), whole, whole[0].copy(), np.zeros(2, np.int64), np.zeros(2, np.int64))
