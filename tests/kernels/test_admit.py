"""The kernels of a live admission against their slow twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import admit as naive

from bayplan.decide.admit.booking_calendar import BookingCalendar
from bayplan.decide.admit.options import AdmitOptions
from bayplan.decide.admit.request_placer import RequestPlacer
from bayplan.generate import GENERATORS
from bayplan.kernels.admit.bookings import BLOCK, Bookings, add_booking, clear_blocks, price_all, sum_slots
from bayplan.kernels.admit.decide import decide_greedily
from bayplan.kernels.admit.first_feasible import FOUND, NOTHING_FITS, OUT_OF_NODES, first_feasible
from bayplan.kernels.admit.resource_use import (
    NO_LINK,
    first_over,
    largest_cut,
    list_use,
    most_expensive,
    value_ratio,
    well_formed,
    zones_that_fit,
)

some = settings(max_examples=30, deadline=None)
ROWS, M, BASE = 4 * BLOCK, 5, 37.0
LOG = float(np.log(BASE))
LIMIT = np.array([10, 7, 2**50, 0, 3])


def ledger():
    load, price = np.zeros((ROWS, M), dtype=np.int64), np.zeros((ROWS, M))
    return Bookings(load, price, load[: ROWS // BLOCK].copy(), price[: ROWS // BLOCK].copy(), LIMIT)


@st.composite
def bookings(draw):
    """Slots from some origin on, as many as there are rows; amounts small enough to stay within each limit."""
    origin = BLOCK * draw(st.integers(-5, 5))
    found = []
    for _ in range(draw(st.integers(0, 6))):
        first = draw(st.integers(origin, origin + ROWS - 1))
        last = draw(st.integers(first, origin + ROWS - 1))
        amount = np.array([draw(st.integers(0, 1)), 1, draw(st.integers(0, 2**47)), 0, 0])
        found.append((first, last, np.arange(M), amount))
    return origin, found


def booked(found):
    fast, slow = ledger(), naive.Book(LIMIT.tolist(), BASE)
    for first, last, resource, amount in found:
        add_booking(fast, first, last, LOG, resource, amount)
        slow.book(first, last, resource.tolist(), amount.tolist())
    return fast, slow


@some
@given(case=bookings(), data=st.data())
def test_prices_and_peaks_of_an_interval_are_those_of_its_slots(case, data):
    origin, found = case
    fast, slow = booked(found)
    first = data.draw(st.integers(origin, origin + ROWS - 1))
    last = data.draw(st.integers(first - 1, origin + ROWS - 1))
    price, peak = np.ones(M), np.ones(M, dtype=np.int64)
    begin, step = data.draw(st.sampled_from([(0, 1), (1, 1), (1, 2), (M, 1)]))
    sum_slots(fast, first, last, begin, M, step, price, peak)
    prices, peaks = slow.look(first, last)
    assert price[begin::step] == pytest.approx(prices[begin::step], rel=1e-12, abs=1e-14)
    assert peak[begin::step].tolist() == peaks[begin::step]
    others = np.setdiff1d(np.arange(M), np.arange(begin, M, step))
    assert (price[others] == 1).all() and (peak[others] == 1).all()


@some
@given(case=bookings(), random=st.randoms(use_true_random=False))
def test_what_is_booked_and_given_back_leaves_exactly_nothing(case, random):
    _, found = case
    fast, _ = booked(found)
    random.shuffle(found)
    for first, last, resource, amount in found:
        add_booking(fast, first, last, LOG, resource, -amount)
    assert not any(array.any() for array in fast[:4])


@some
@given(case=bookings())
def test_all_prices_anew_are_those_of_booking(case):
    fast, _ = booked(case[1])
    before = [array.copy() for array in fast]
    price_all(fast, LOG)
    assert all((array == old).all() for array, old in zip(fast, before, strict=True))


def test_clearing_blocks_leaves_the_others():
    fast, _ = booked([(0, ROWS - 1, np.array([1]), np.array([2]))])
    clear_blocks(fast, 1, 2)
    assert fast.load[:, 1].tolist() == [2] * BLOCK + [0] * 2 * BLOCK + [2] * BLOCK
    assert (fast.block_load[:, 1] > 0).tolist() == (fast.block_price[:, 1] > 0).tolist() == [True, False, False, True]


@st.composite
def groups(draw):
    """Demand, traffic, zones and the scale of links between 3 zones, one of which is missing."""
    v = draw(st.integers(1, 5))
    row = st.lists(st.integers(0, 4), min_size=2, max_size=2)
    demand = np.array(draw(st.lists(row, min_size=v, max_size=v)))
    flows = st.lists(st.sampled_from([0.0, 0.25, 1.0, 2.5]), min_size=v, max_size=v)
    traffic = np.array(draw(st.lists(flows, min_size=v, max_size=v))) * (1 - np.eye(v))
    zone = np.array(draw(st.lists(st.integers(0, 2), min_size=v, max_size=v)))
    return demand, traffic, zone, np.array([[0, 4, 2.0], [8, 0, 0], [1, 1, 0]])


@some
@given(group=groups())
def test_a_placement_takes_what_its_members_ask_for(group):
    demand, traffic, zone, scale = group
    resource, amount = np.zeros(40, dtype=np.int64), np.zeros(40, dtype=np.int64)
    taken = list_use(zone, demand, traffic, scale, resource, amount)
    found = dict(zip(resource[:taken].tolist(), amount[:taken].tolist(), strict=True))
    assert len(found) == taken
    assert {m: None if a == NO_LINK else a for m, a in found.items()} == naive.use(zone, demand, traffic, scale)


@some
@given(group=groups(), room=st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=3, max_size=3))
def test_the_first_placement_is_the_first_of_all_that_fit(group, room):
    demand, traffic, _, scale = group
    room, out = np.array(room), np.zeros(len(demand), dtype=np.int64)
    pair, link = np.zeros(traffic.shape, dtype=np.int64), np.zeros((1, 3, 3))
    state = first_feasible(demand, room, traffic, pair, link, scale, 10**6, out)
    expected = naive.first_found(demand, room, traffic, scale)
    assert state == (NOTHING_FITS if expected is None else FOUND)
    assert expected is None or out.tolist() == list(expected)


def test_a_search_that_runs_out_of_nodes_says_so():
    demand, room = np.array([[2], [2]]), np.array([[3], [3]])
    nothing, out = np.zeros((2, 2)), np.zeros(2, dtype=np.int64)
    arguments = nothing.astype(np.int64), nothing[None].copy(), nothing
    assert first_feasible(demand, room, nothing, *arguments, 1, out) == OUT_OF_NODES
    assert out.tolist() == [-1, -1]
    assert first_feasible(demand, room, nothing, *arguments, 2, out) == FOUND


@some
@given(group=groups(), value=st.floats(0, 100), known=st.sampled_from([0.0, 1.0, 5.0]))
def test_the_value_ratio_is_value_by_the_largest_use(group, value, known):
    demand, traffic, _, _ = group
    most = np.array([5, 7])
    largest = naive.largest_use(demand, traffic, most)
    expected = max(known, value / largest) if largest else known
    found = value_ratio(value, demand, traffic, most, known, np.zeros(len(demand), dtype=np.int64))
    assert found == pytest.approx(expected, rel=1e-12)


def test_of_many_members_only_single_ones_are_cut_off():
    traffic = np.ones((13, 13)) - np.eye(13)
    demand, most, side = np.zeros((13, 1), dtype=np.int64), np.array([5]), np.zeros(13, dtype=np.int64)
    assert value_ratio(12.0, demand, traffic, most, 0.0, side) == 1.0  # 12 leave one; the largest cut is 42
    assert largest_cut(traffic, side) == 42.0


def test_too_much_and_most_are_named_by_their_first_place():
    resource, amount = np.array([2, 0, 1]), np.array([3, 4, 4])
    assert first_over(resource, amount, np.array([4, 4, 3]), np.array([0, 0, 0])) == -1
    assert first_over(resource, amount, np.array([4, 4, 3]), np.array([1, 1, 0])) == 1
    assert most_expensive(resource, amount, np.ones(3), np.array([3.0, 3.0, 4.0])) == 0
    assert most_expensive(resource, amount, np.array([1.0, 1.0, 2.0]), np.array([3.0, 3.0, 4.0])) == 1
    assert most_expensive(resource[:0], amount[:0], np.ones(3), np.ones(3)) == -1


@pytest.mark.parametrize(
    ("demand", "traffic", "expected"),
    [
        ([[1], [2]], [[0, 1.0], [0, 0]], True),
        ([[1], [3]], [[0, 1.0], [0, 0]], False),
        ([[1], [-1]], [[0, 1.0], [0, 0]], False),
        ([[1], [2]], [[0, -1.0], [0, 0]], False),
        ([[1], [2]], [[0, np.nan], [0, 0]], False),
        ([[1], [2]], [[0, np.inf], [0, 0]], False),
        ([[1], [2]], [[1.0, 0], [0, 0]], False),
    ],
    ids=["good", "too large", "negative", "negative traffic", "no number", "infinite", "to itself"],
)
def test_what_is_sound(demand, traffic, expected):
    assert well_formed(np.array(demand), np.array(traffic), np.array([[2], [1]])) is expected
    assert zones_that_fit(np.array(demand)[0], np.array([[2], [1]])) == 2


@pytest.mark.parametrize("literal", [False, True])
def test_the_cost_is_what_the_placement_takes_at_the_prices_of_its_slots(literal):
    stream = GENERATORS["container-clusters"].make(zones=5, resources=2, count=30, slots=20, seed=4)
    calendar = BookingCalendar(stream.zones)
    calendar.price_with(BASE)
    placer, slow = RequestPlacer(calendar, AdmitOptions(one_shot="greedy", literal=literal), "primal-dual", 0), None
    slow = naive.Book(calendar.limit.tolist(), BASE)
    for request in stream.requests[:12]:
        scratch, first, last = placer.scratch(len(request.members)), int(request.start), int(request.end) - 1
        calendar.reach(last)
        arguments = request.demand, request.traffic, calendar.view, scratch
        cost, taken, over, _ = decide_greedily(calendar.ledger, first, last, literal, *arguments)
        price, peak = slow.look(first, last)
        use = naive.use(scratch.zone.tolist(), request.demand, request.traffic, calendar.view.scale)
        assert dict(zip(scratch.resource[:taken].tolist(), scratch.amount[:taken].tolist(), strict=True)) == use
        assert cost == pytest.approx(sum(a / calendar.view.unit[m] * price[m] for m, a in use.items()), rel=1e-9)
        assert (over >= 0) == any(a > calendar.limit[m] - peak[m] for m, a in use.items())
        if over < 0:
            calendar.book(first, last, scratch.resource[:taken].copy(), scratch.amount[:taken].copy())
            slow.book(first, last, list(use), list(use.values()))
