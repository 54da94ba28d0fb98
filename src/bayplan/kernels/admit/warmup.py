"""Examples of calls of the kernels of admission, with the types that decisions use."""

import numpy as np

from bayplan.kernels.admit.bookings import BLOCK, Bookings, add_booking, clear_blocks, price_all
from bayplan.kernels.admit.branch import BranchTree, branch
from bayplan.kernels.admit.cost_tables import CostTables, MemberCosts, prepare_costs, tabulate
from bayplan.kernels.admit.decide import RequestScratch, SlotView, decide_greedily, fill_view, measure_use, price_members
from bayplan.kernels.admit.first_feasible import first_feasible
from bayplan.kernels.admit.greedy import greedy
from bayplan.kernels.admit.least_cut import least_cut
from bayplan.kernels.admit.local_search import StartLists, ZoneState, local_search
from bayplan.kernels.admit.rehearse import Shadows, rehearse
from bayplan.kernels.admit.repair import repair
from bayplan.kernels.admit.resource_use import value_ratio, well_formed, zones_that_fit
from bayplan.kernels.admit.screen import ScaledCosts, estimate_traffic, screen
from bayplan.kernels.admit.zone_problem import ZoneProblem


def warm_up() -> None:
    """Call everything that a decision calls."""
    _warm_up_one_shots()
    _warm_up_live()
    _warm_up_least_cut()


def _warm_up_one_shots() -> None:
    """What places one request: one member, one zone."""
    problem, ints = _tiny_problem(), np.zeros((1, 1), dtype=np.int64)
    zone, one, floats = ints[0].copy(), np.zeros(1), np.zeros((1, 1))
    greedy(*problem, zone)
    costs = MemberCosts(floats.copy(), np.zeros((1, 1, 1)), np.zeros((1, 1), dtype=np.bool_), one)
    prepare_costs(problem, costs)
    state, starts = (
        ZoneState(zone.copy(), ints.copy(), floats.copy(), floats.copy(), np.zeros((3, 1))),
        StartLists(zone.copy(), zone.copy(), np.zeros(2), ints.copy()),
    )
    local_search(problem, costs, state, starts, 2, zone)
    tables = CostTables(costs.single, np.zeros((1, 1, 1, 1)), costs.talks, one)
    tabulate(problem, costs, tables.pair)
    lists = ints.copy(), floats.copy(), np.zeros((2, 1), dtype=np.int64), np.zeros((3, 1))
    path = zone.copy(), zone.copy(), ints.copy(), np.zeros(2), np.zeros((2, 1, 1)), np.zeros((2, 1, 1, 1))
    branch(problem, tables, BranchTree(*path, *lists), 1, np.array([np.inf, 0.0]), zone)
    sample = np.zeros(1, dtype=np.int64)
    sample.flags.writeable = False
    scaled = ScaledCosts(
        floats, np.zeros((1, 1, 1, 1)), problem.demand, problem.available, sample, np.ones(1), np.zeros((2, 1, 1))
    )
    screen(scaled, ints, np.zeros((2, 1, 1)), ints.copy(), ints.copy(), zone)
    estimate_traffic(scaled, ints[0], floats.copy())
    zone[0] = 0
    repair(problem, costs, state, zone)


def _tiny_problem() -> ZoneProblem:
    """One member, one zone; arrays read-only, as those of a request are."""
    one, ints = np.ones((1, 1)), np.ones((1, 1), dtype=np.int64)
    none, nowhere = np.zeros((1, 1)), np.zeros((1, 1), dtype=np.int64)
    problem = ZoneProblem(one, ints, ints.copy(), none, np.zeros((1, 1, 1)), nowhere, one.copy())
    for array in problem:
        array.flags.writeable = False
    return problem


def _warm_up_live() -> None:
    """Compile what a live admission calls: the arrays of a request are read-only, all others are not."""
    demand, traffic = np.ones((1, 1), dtype=np.int64), np.zeros((1, 1))
    demand.flags.writeable = traffic.flags.writeable = False
    bookings, view, scratch = _bookings(), _view(), _scratch()
    most = np.ones((1, 1), dtype=np.int64)
    well_formed(demand, traffic, most)
    zones_that_fit(demand[0], view.free)
    value_ratio(1.0, demand, traffic, most[0], 1.0, scratch.zone)
    price_all(bookings, 1.0)
    decide_greedily(bookings, 0, 0, False, demand, traffic, view, scratch)
    rows = (
        bookings.load[None].copy(),
        bookings.price[None].copy(),
        bookings.block_load[None].copy(),
        bookings.block_price[None].copy(),
    )
    shadows = Shadows(*rows, bookings.limit, np.ones(1), np.ones(1), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.bool_))
    lists = scratch.resource[None].copy(), scratch.amount[None].copy(), scratch.zone.copy()
    rehearse(shadows, 0, 0, 1.0, demand, traffic, view, scratch, *lists)
    fill_view(bookings, 0, 0, False, view)
    price_members(view, demand, scratch.cost)
    first_feasible(demand, view.free, traffic, scratch.pair, view.link, view.bandwidth, 1, scratch.zone)
    measure_use(bookings, demand, traffic, view, scratch)
    add_booking(bookings, 0, 0, 1.0, scratch.resource[:1].copy(), scratch.amount[:1].copy())
    clear_blocks(bookings, 0, 0)


def _bookings() -> Bookings:
    """One zone, one resource, one block."""
    load, price, limit = np.zeros((BLOCK, 2), dtype=np.int64), np.zeros((BLOCK, 2)), np.array([9, 0])
    return Bookings(load, price, load[:1].copy(), price[:1].copy(), limit)


def _view() -> SlotView:
    whole, real = np.ones((1, 1), dtype=np.int64), np.zeros((1, 1))
    return SlotView(whole, real, np.ones(2), np.zeros(2), np.zeros(2, np.int64), whole.copy(), np.zeros((1, 1, 1)), real.copy())


def _scratch() -> RequestScratch:
    whole = np.zeros((1, 1), dtype=np.int64)
    return RequestScratch(np.zeros((1, 1)), whole, whole[0].copy(), np.zeros(2, np.int64), np.zeros(2, np.int64))


def _warm_up_least_cut() -> None:
    """Compile `least_cut`: one member, one group."""
    one, work = np.ones((1, 1), dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
    least_cut(one, one[0], np.zeros((1, 1)), 1, 10, work, work[0].copy(), np.zeros(2))
