"""Choosing timed requests: the local ratio passes, profiles over time."""

import numpy as np

from bayplan.kernels.schedule.bound import Bidders, Prices, smooth_surplus, surplus
from bayplan.kernels.schedule.exchange import PASSES, Draft, Pool, exchanges
from bayplan.kernels.schedule.first_fit import Windows, fill_up, fill_windows
from bayplan.kernels.schedule.local_ratio import Class, push, unwind
from bayplan.kernels.schedule.online import Bids, Learnt, serve_by_price
from bayplan.kernels.schedule.profile import Profile, fits, put, put_all, take
from bayplan.kernels.schedule.rooms import tree_of
from bayplan.kernels.schedule.stream import Stream, serve_in_turn


def warm_up() -> None:
    """Compile what a decision needs, with the types it uses."""
    _warm_up_cradle()
    _warm_up_best_effort()
    _warm_up_bound()
    _warm_up_stream()
    _warm_up_exchanges()


def _warm_up_cradle() -> None:
    zero, one, demand = np.zeros(1), np.ones(1), np.ones((1, 1), dtype=np.int64)
    index = np.zeros(1, dtype=np.int64)
    of = Class(start=zero, end=one, weight=one, share=one, below=one, demand=demand, ended=index, latest=index)
    most, residual = np.zeros((2, 1), dtype=np.int64), np.zeros(1)
    tree_of(np.ones(1, dtype=np.int64), 1, most)
    push(of, np.zeros(2), np.zeros(2), residual)
    unwind(of, residual, most, np.zeros(1, dtype=np.int64))


def _one_machine() -> Profile:
    """A machine that is empty, and one request."""
    base, index = np.ones((1, 1, 1), dtype=np.int64), np.zeros(1, dtype=np.int64)
    return Profile(
        width=2,
        first=index,
        last=index + 1,
        demand=np.ones((1, 1), dtype=np.int64),
        base=base,
        least=base.copy(),
        head=np.full((1, 1), -1, dtype=np.int32),
        follow=np.full(2, -1, dtype=np.int32),
    )


def _warm_up_best_effort() -> None:
    profile, index = _one_machine(), np.zeros(1, dtype=np.int64)
    fits(profile, 0, 0)
    put(profile, 0, 0)
    take(profile, 0, 0)
    put_all(profile, index, index - 1)
    windows = Windows(resources=1, log2=np.zeros(2, dtype=np.int64), most=np.zeros((2, 1, 1), dtype=np.int64))
    fill_windows(windows, profile)
    fill_up(windows, profile, index, index - 1)


def _warm_up_bound() -> None:
    one, cell = np.ones((1, 1, 1)), np.zeros((2, 1), dtype=np.int32)
    bidders = Bidders(value=np.ones(1), share=one, allowed=np.ones((1, 1), dtype=np.bool_), cell=cell, offset=np.zeros((2, 1)))
    prices = Prices(each=one, paid=one)
    surplus(bidders, prices)
    smooth_surplus(bidders, prices, 0.1, one.copy(), one.copy())


def _warm_up_stream() -> None:
    index, nobody, most = np.zeros(1, dtype=np.int64), np.full(1, -1, dtype=np.int64), np.ones((2, 1), dtype=np.int64)
    stream = Stream(start=np.zeros(1), end=np.ones(1), demand=np.ones((1, 1), dtype=np.int64), by_start=index, by_end=index)
    serve_in_turn(stream, most, 1, True, nobody)
    one, column = np.ones(1), np.ones((1, 1))
    bids = Bids(value=one, lasts=one, share=column, given=np.zeros(0), weight=column, total=one)
    price, used, tried, kept, free, done = np.zeros((6, 1))
    learnt = Learnt(price, used, tried, kept, free, multiple=one, load=0 * column, done=done, member=index.copy())
    serve_by_price(stream, bids, most, 0, learnt, nobody)


def _warm_up_exchanges() -> None:
    profile, index = _one_machine(), np.zeros(1, dtype=np.int64)
    pool = Pool(request=index, first=index, strain=np.zeros(1), worth=np.ones(1))
    draft = Draft(machine=index.copy(), out=index.copy(), was=index.copy(), into=index.copy(), limit=np.zeros(PASSES))
    exchanges(profile, pool, np.ones(1, dtype=np.uint64), 1, 0.0, 1, draft, index - 1)
