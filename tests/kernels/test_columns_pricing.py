"""The bound of one machine, the search in boxes and the walk, against trying every pattern."""

import numpy as np
import pytest
from tests.builders.collocations import drawn_subproblem
from tests.naive.columns import every_pattern, gain, most_added

from bayplan.decide.collocate.columns.pricing import Pricer, one_machine, pricing_problem, scratch_arrays
from bayplan.kernels.collocate.pattern_bound import bound_at, set_box, tighten_bound
from bayplan.kernels.collocate.pattern_branch import PROVEN, explore, warm_up
from bayplan.kernels.collocate.pattern_search import pattern_value, search_pattern

SEEDS = range(150)


def asked(seed: int):
    """A small subproblem, one of its machines, and a cost per container."""
    subproblem = drawn_subproblem(seed, workloads=4, machines=2, most=3, edges=5)
    rng = np.random.default_rng(seed)
    return subproblem, int(rng.integers(0, 2)), rng.uniform(0.0, 0.15, len(subproblem.demand)) * (rng.random() < 0.8)


@pytest.mark.parametrize("seed", SEEDS)
def test_boxes_find_the_best_pattern_and_prove_it(seed):
    subproblem, m, cost = asked(seed)
    best = most_added(subproblem, m, cost)
    priced = Pricer(subproblem=subproblem, machine=one_machine(subproblem, m)).priced(
        cost, target=0.0, boxes=10**6, stop=lambda: False
    )
    assert priced.upper == pytest.approx(max(0.0, best), abs=1e-12)
    assert max([0.0, *priced.value]) == pytest.approx(max(0.0, best), abs=1e-12)
    for pattern, value in zip(priced.pattern, priced.value, strict=True):
        assert any((pattern == other).all() for other in every_pattern(subproblem, m))
        assert gain(subproblem, m, pattern) - gain(subproblem, m, 0 * pattern) - pattern @ cost == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bound_holds_wherever_the_search_is_cut_off(seed):
    subproblem, m, cost = asked(seed)
    pricer = Pricer(subproblem=subproblem, machine=one_machine(subproblem, m))
    for boxes in (0, 1):
        assert pricer.priced(cost, target=0.0, boxes=boxes, stop=lambda: False).upper >= most_added(subproblem, m, cost) - 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_any_prices_bound_every_pattern_of_a_box(seed):
    subproblem, m, cost = asked(seed)
    question, service, _ = pricing_problem(subproblem, one_machine(subproblem, m), cost)
    part, _, prices = scratch_arrays(question)
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 2, len(service)) % (question.max_count + 1)
    high = rng.integers(low, question.max_count + 1)
    prices.nu[:] = rng.uniform(0.0, 0.3, len(prices.nu))
    for h in np.flatnonzero(np.arange(len(question.twin)) < question.twin):
        prices.alpha[h] = rng.uniform(0.0, question.weight[h])
        prices.alpha[question.twin[h]] = question.weight[h] - prices.alpha[h]
    set_box(question, part, low, high)
    bound = bound_at(question, part, prices.alpha, prices.nu, low, high)
    inside = [p[service] for p in every_pattern(subproblem, m) if (low <= p[service]).all() and (p[service] <= high).all()]
    assert all(pattern_value(question, pattern) <= bound + 1e-12 for pattern in inside)


def test_a_target_that_nothing_beats_is_proven_at_once():
    subproblem, m, cost = asked(3)
    question, service, _ = pricing_problem(subproblem, one_machine(subproblem, m), cost)
    part, stack, now = scratch_arrays(question)
    stack.high[0] = question.max_count
    found = np.zeros(len(service), dtype=np.int64)
    assert explore(question, part, stack, now, 10.0, 5, 10, found) == PROVEN


@pytest.mark.parametrize("seed", SEEDS)
def test_a_walk_ends_with_a_pattern_that_fits_and_is_worth_what_it_says(seed):
    subproblem, m, cost = asked(seed)
    pricer = Pricer(subproblem=subproblem, machine=one_machine(subproblem, m))
    chance = np.array([seed + 1], dtype=np.uint64)
    pattern, value = pricer.walked(cost, np.zeros(len(cost), dtype=np.int64), 0.5, chance)
    assert any((pattern == other).all() for other in every_pattern(subproblem, m))
    assert gain(subproblem, m, pattern) - gain(subproblem, m, 0 * pattern) - pattern @ cost == pytest.approx(value, abs=1e-9)
    assert value + 1e-9 >= 0.0
    assert value <= most_added(subproblem, m, cost) + 1e-9


def test_a_warm_up_compiles_what_a_price_needs():
    warm_up()
    before = [len(kernel.signatures) for kernel in (explore, search_pattern, tighten_bound)]
    subproblem, m, cost = asked(3)
    pricer = Pricer(subproblem=subproblem, machine=one_machine(subproblem, m))
    pricer.priced(cost, target=0.0, boxes=5, stop=lambda: False)
    pricer.walked(cost, np.zeros(len(cost), dtype=np.int64), 0.5, np.array([7], dtype=np.uint64))
    assert [len(kernel.signatures) for kernel in (explore, search_pattern, tighten_bound)] == before
