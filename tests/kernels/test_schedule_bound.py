"""The fast bound of given prices against its definition, and its slope against small differences."""

import numpy as np
import pytest
from tests.builders.timed_problems import problem_of
from tests.naive import schedule_exact as naive

from bayplan.decide.schedule.price_descent import _smooth
from bayplan.decide.schedule.priced_requests import PricedRequests, priced_requests
from bayplan.decide.schedule.prices import LIFT, CellPrices, proven
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.kernels.schedule.bound import surplus
from bayplan.model import Fleet, ints

SEEDS = range(30)


def drawn(seed: int, kinds: int = 2) -> tuple[ScheduleProblem, PricedRequests, CellPrices]:
    """Requests, and prices on a few cells."""
    rng = np.random.default_rng(seed)
    start = rng.integers(0, 20, 15)
    lines = np.column_stack([start, start + rng.integers(1, 9, 15), rng.uniform(0, 5, 15), rng.integers(0, 14, (15, 2))])
    fleet = Fleet(kind=("a", "b")[:kinds], machines=ints([2, 1][:kinds]), capacity=ints([[12, 12], [9, 20]][:kinds]))
    problem = problem_of([tuple(line) for line in lines.tolist()], fleet=fleet)
    priced = priced_requests(problem)
    n_t = len(priced.critical.time)
    edge = np.unique([0, n_t, *rng.integers(0, n_t + 1, 3)])
    return problem, priced, CellPrices(edge=edge, price=rng.exponential(0.5, (kinds, len(edge) - 1, 2)))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bound_of_prices_is_its_definition(seed):
    problem, priced, prices = drawn(seed)
    price = np.repeat(prices.price, np.diff(prices.edge), axis=1)
    slow = naive.bound_of(problem, priced.critical.time.tolist(), price)
    assert proven(priced, prices) == pytest.approx(slow * (1 + LIFT), rel=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_slope_of_the_smooth_bound_is_its_difference(seed):
    _, priced, prices = drawn(seed)
    candidates, step = priced.for_kernel(prices.edge), 1e-6
    _, slope = _smooth(candidates, priced.machines, prices, 0.5, 1.0)
    for cell in range(prices.price.size):
        near = []
        for sign in (-step, step):
            moved = prices.price.copy()
            moved.flat[cell] += sign
            near.append(_smooth(candidates, priced.machines, CellPrices(edge=prices.edge, price=moved), 0.5, 1.0)[0])
        assert (near[1] - near[0]) / (2 * step) == pytest.approx(slope[cell], abs=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_almost_no_softness_is_no_softness(seed):
    _, priced, prices = drawn(seed)
    width = np.diff(prices.edge)[None, :, None]
    capacity = float((priced.machines[:, None, None] * width * prices.price).sum())
    sharp = capacity + surplus(priced.for_kernel(prices.edge), prices.for_kernel)
    soft = _smooth(priced.for_kernel(prices.edge), priced.machines, prices, 1e-9, 1.0)[0] * priced.value.sum()
    assert soft == pytest.approx(sharp, rel=1e-7)


def test_sums_of_rounded_prices_are_exact():
    _, _, prices = drawn(3)
    exact = prices.rounded
    each = np.repeat(exact.price, np.diff(exact.edge), axis=1)
    assert [float(sum(map(float, each[0, :t, 0]))) for t in exact.edge.tolist()] == exact.for_kernel.running_sum[0, :, 0].tolist()
    assert (exact.price <= prices.price).all()
