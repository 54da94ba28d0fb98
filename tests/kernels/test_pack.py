"""Fast filling and exact pricing against slow obvious loops."""

import numpy as np
import pytest
from tests.naive import pack as naive

from bayplan.decide.pack import exact_pricing
from bayplan.decide.pack.exact_pricing import price_patterns
from bayplan.decide.pack.kernel_arrays import copy_bins
from bayplan.decide.pack.pricing import PricingProblem
from bayplan.decide.pack.quick_pricing import patterns_by_exchange, patterns_on_tangents
from bayplan.kernels.pack.fill import Bins, Sizes, fill_in_order, max_containers

SEEDS = range(40)


def drawn(seed: int, workloads: int = 4, bins: int = 3) -> tuple[Sizes, Bins]:
    """A few workloads and machines; some run something, some workloads are strict, some are certain."""
    rng = np.random.default_rng(seed)
    chances, resources = int(rng.integers(1, 3)), int(rng.integers(0, 2))
    mean = rng.uniform(0.05, 0.5, (chances, workloads)) * (rng.random((chances, workloads)) > 0.05)
    variance = np.square(mean * rng.uniform(0.0, 0.8, mean.shape)) * (rng.random(mean.shape) > 0.2)
    levels = np.sort(rng.uniform(1.0, 3.5, 2))
    d = (
        np.repeat(rng.choice(levels, workloads)[None, :], chances, axis=0)
        if rng.random() < 0.5
        else np.full(mean.shape, levels[0])
    )
    sizes = Sizes(mean=mean, variance=variance, d=d, request=rng.integers(0, 4, (resources, workloads)))
    busy = rng.random(bins) < 0.5
    some = Bins(
        capacity=np.ones((bins, chances)),
        free_mean=np.where(busy[:, None], rng.uniform(0.2, 0.9, (bins, chances)), 1.0),
        variance=np.where(busy[:, None], rng.uniform(0.0, 0.05, (bins, chances)), 0.0),
        d=np.where(busy[:, None], rng.choice(levels, (bins, 1)), 0.0) * np.ones((1, chances)),
        free=rng.integers(3, 12, (bins, resources)),
        max_count=rng.integers(0, 6, (bins, workloads)),
    )
    return sizes, some


def pricing(sizes: Sizes, bins: Bins, value: np.ndarray, *, minimise_ucac: bool) -> PricingProblem:
    base = np.zeros(len(bins.free_mean))
    return PricingProblem(sizes=sizes, bins=bins, value=value, base=base, minimise_ucac=minimise_ucac, threshold=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_most_that_fit_are_as_many_as_one_at_a_time(seed):
    sizes, bins = drawn(seed)
    for i in range(len(bins.free_mean)):
        for k in range(sizes.mean.shape[1]):
            assert max_containers(sizes, bins, i, k, 5) == naive.most_of(sizes, bins, i, k, 5)


@pytest.mark.parametrize("seed", SEEDS)
def test_machines_are_filled_until_nothing_fits(seed):
    sizes, bins = drawn(seed)
    left, count = np.full(sizes.mean.shape[1], 7), np.zeros(bins.max_count.shape, dtype=np.int64)
    full = copy_bins(bins)
    fill_in_order(sizes, full, np.arange(len(bins.free_mean)), np.arange(len(left)), left, count)
    assert (count.sum(axis=0) + left == 7).all()
    for i in range(len(count)):
        begun = naive.fits(sizes, bins, i, [0] * len(left))
        assert naive.fits(sizes, bins, i, count[i].tolist()) or not begun or not count[i].any()
        for k in np.flatnonzero(left).tolist():
            more = count[i].copy()
            more[k] += 1
            assert not naive.fits(sizes, bins, i, more.tolist())


@pytest.mark.long
@pytest.mark.parametrize("minimise_ucac", [True, False], ids=["uncertainty", "machines"])
@pytest.mark.parametrize("seed", SEEDS)
def test_pricing_finds_the_best_pattern_of_all(seed, minimise_ucac):
    sizes, bins = drawn(seed)
    value = np.random.default_rng([seed, 1]).uniform(0.0, 0.6, sizes.mean.shape[1])
    priced = price_patterns(pricing(sizes, bins, value, minimise_ucac=minimise_ucac))
    assert priced.proven
    for i in range(len(bins.free_mean)):
        worth, _ = naive.best_pattern(sizes, bins, i, value.tolist(), minimise_ucac)
        mine = priced.gain[priced.bin == i].max(initial=0.0)
        assert mine == pytest.approx(max(worth, 0.0), abs=1e-8)


def test_patterns_that_pricing_gives_fit_and_are_worth_what_it_says():
    checked = 0
    for seed in SEEDS:
        sizes, bins = drawn(seed)
        value = np.random.default_rng([seed, 2]).uniform(0.0, 0.6, sizes.mean.shape[1])
        priced = price_patterns(pricing(sizes, bins, value, minimise_ucac=False))
        for i, pattern, gain in zip(priced.bin.tolist(), priced.pattern.tolist(), priced.gain.tolist(), strict=True):
            assert naive.fits(sizes, bins, i, pattern)
            assert gain == pytest.approx(float(np.dot(value, pattern)))
            checked += 1
    assert checked > 50


@pytest.mark.parametrize("seed", SEEDS[:10])
def test_a_search_that_is_continued_finds_what_one_without_a_break_finds(seed, monkeypatch):
    sizes, bins = drawn(seed, workloads=6)
    value = np.random.default_rng([seed, 3]).uniform(0.0, 0.6, sizes.mean.shape[1])
    whole = price_patterns(pricing(sizes, bins, value, minimise_ucac=True))
    monkeypatch.setattr(exact_pricing, "PATIENCE", 3)
    in_parts = price_patterns(pricing(sizes, bins, value, minimise_ucac=True))
    assert (in_parts.bin == whole.bin).all()
    assert (in_parts.pattern == whole.pattern).all()


def test_pricing_ends_as_soon_as_the_time_is_over():
    sizes, bins = drawn(1, workloads=6)
    looks = iter(range(1000))
    priced = price_patterns(pricing(sizes, bins, np.full(6, 0.5), minimise_ucac=False), over=lambda: next(looks) >= 5)
    assert not priced.proven
    assert next(looks) < 5 + 2 * exact_pricing.INTERVALS  # one look for each interval that is left, and nothing else


def test_pricing_without_a_clock_ends_after_as_many_looks_as_it_has(monkeypatch):
    monkeypatch.setattr(exact_pricing, "PATIENCE", 1)
    sizes, bins = drawn(1, workloads=6)
    problem = pricing(sizes, bins, np.full(6, 0.5), minimise_ucac=False)
    assert not price_patterns(problem, looks=1).proven
    assert price_patterns(problem).proven


@pytest.mark.parametrize("minimise_ucac", [True, False], ids=["uncertainty", "machines"])
@pytest.mark.parametrize("seed", SEEDS)
def test_quick_patterns_fit_and_are_worth_what_they_say(seed, minimise_ucac):
    sizes, bins = drawn(seed)
    sizes = sizes._replace(d=np.full(sizes.d.shape, float(sizes.d.max())))
    bins = bins._replace(d=np.where(bins.d > 0, sizes.d.max(), 0.0))
    value = np.random.default_rng([seed, 4]).uniform(0.0, 0.6, sizes.mean.shape[1])
    problem = pricing(sizes, bins, value, minimise_ucac=minimise_ucac)
    found = patterns_on_tangents(problem)
    better = patterns_by_exchange(problem, found.bin, found.pattern, deep=True)
    for priced in (found, better):
        for i, pattern, gain in zip(priced.bin.tolist(), priced.pattern.tolist(), priced.gain.tolist(), strict=True):
            assert naive.fits(sizes, bins, i, pattern)
            assert gain == pytest.approx(naive.worth(sizes, bins, i, pattern, value.tolist(), minimise_ucac), abs=1e-9)
    best = [naive.best_pattern(sizes, bins, i, value.tolist(), minimise_ucac)[0] for i in range(len(bins.free_mean))]
    for i in set(better.bin.tolist()):
        assert found.gain[found.bin == i].max() <= better.gain[better.bin == i].max() + 1e-9 <= best[i] + 2e-9
