"""Examples of calls of the kernels of scheduling, with the types that decisions use."""

import numpy as np

from bayplan.kernels.schedule.bound import PricedRequestArrays, PriceSums, smooth_surplus, surplus
from bayplan.kernels.schedule.exchange import PASSES, ExchangePool, ExchangeScratch, exchanges
from bayplan.kernels.schedule.first_fit import WindowTree, fill_up, fill_windows
from bayplan.kernels.schedule.free_tree import build_tree
from bayplan.kernels.schedule.local_ratio import RequestClass, push, unwind
from bayplan.kernels.schedule.online import LearntPrices, RequestValues, serve_by_price
from bayplan.kernels.schedule.profile import Profile, fits, put, put_all, remove
from bayplan.kernels.schedule.stream import RequestStream, serve_round_robin


def warm_up() -> None:
    """Call everything that a decision calls."""
    _warm_up_cradle()
    _warm_up_best_effort()
    _warm_up_bound()
    _warm_up_stream()
    _warm_up_exchanges()


def _warm_up_cradle() -> None:
    zero, one, demand = np.zeros(1), np.ones(1), np.ones((1, 1), dtype=np.int64)
    index = np.zeros(1, dtype=np.int64)
    requests = RequestClass(start=zero, end=one, weight=one, share=one, divisor=one, demand=demand, ended=index, latest=index)
    most, residual = np.zeros((2, 1), dtype=np.int64), np.zeros(1)
    build_tree(np.ones(1, dtype=np.int64), 1, most)
    push(requests, np.zeros(2), np.zeros(2), residual)
    unwind(requests, residual, most, np.zeros(1, dtype=np.int64))


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
    remove(profile, 0, 0)
    put_all(profile, index, index - 1)
    windows = WindowTree(resources=1, log2=np.zeros(2, dtype=np.int64), max_free=np.zeros((2, 1, 1), dtype=np.int64))
    fill_windows(windows, profile)
    fill_up(windows, profile, index, index - 1)


def _warm_up_bound() -> None:
    one, cell = np.ones((1, 1, 1)), np.zeros((2, 1), dtype=np.int32)
    requests = PricedRequestArrays(
        value=np.ones(1), share=one, allowed=np.ones((1, 1), dtype=np.bool_), cell=cell, offset=np.zeros((2, 1))
    )
    prices = PriceSums(price=one, running_sum=one)
    surplus(requests, prices)
    smooth_surplus(requests, prices, 0.1, one.copy(), one.copy())


def _warm_up_stream() -> None:
    index, unplaced, most = np.zeros(1, dtype=np.int64), np.full(1, -1, dtype=np.int64), np.ones((2, 1), dtype=np.int64)
    stream = RequestStream(
        start=np.zeros(1), end=np.ones(1), demand=np.ones((1, 1), dtype=np.int64), by_start=index, by_end=index
    )
    serve_round_robin(stream, most, 1, True, unplaced)
    one, column = np.ones(1), np.ones((1, 1))
    bids = RequestValues(value=one, lasts=one, share=column, given=np.zeros(0), weight=column, total=one)
    price, used, tried, best, free, done = np.zeros((6, 1))
    learnt = LearntPrices(price, used, tried, best, free, multiple=one, load=0 * column, done=done, member=index.copy())
    serve_by_price(stream, bids, most, 0, learnt, unplaced)


def _warm_up_exchanges() -> None:
    profile, index = _one_machine(), np.zeros(1, dtype=np.int64)
    pool = ExchangePool(request=index, first=index, cost_ratio=np.zeros(1), score=np.ones(1))
    scratch = ExchangeScratch(
        machine=index.copy(), out=index.copy(), origin=index.copy(), into=index.copy(), limit=np.zeros(PASSES)
    )
    exchanges(profile, pool, np.ones(1, dtype=np.uint64), 1, 0.0, 1, scratch, index - 1)
