"""What other beliefs about usage make of a cluster, by hand."""

import math

import numpy as np
import pytest
from tests.builders.tiny_clusters import on, tiny

from bayplan.errors import UsageError
from bayplan.score import (
    deviate,
    effective,
    machine_ucac,
    uncertainty_notes,
    violation_rate_of_samples,
    violation_rates_of_samples,
    with_usage,
)
from bayplan.score.empirical import pooled_std, sizes
from bayplan.score.uncertainty import _proxy


def pair(**parts):
    """Three web and one batch container of mean 10 and 30, deviations 2 and 9, limits 40 and 60; two resources."""
    parts = {"mean": [[10, 1], [30, 1]], "std": [[2, 0], [9, 0]], "limit": [[40, 9], [60, 9]], **parts}
    return tiny([[100, 9]], [[10, 1], [30, 1]], [3, 1], **parts)


def test_gaussian_is_the_cluster_itself():
    cluster = pair()
    assert effective(cluster, 0, 0.99, "gaussian") is cluster


@pytest.mark.parametrize("alpha", [0.9, 0.999])
def test_hoeffding_makes_the_formula_its_own_bound(alpha):
    cluster = effective(pair(), 0, alpha, "hoeffding")
    t = math.sqrt(math.log(1 / (1 - alpha)) / 2 * (3 * 40**2 + 60**2))
    assert machine_ucac(cluster, on(0, 0, 0, 0), 0, alpha=alpha) == pytest.approx([60 + t])
    assert np.array_equal(cluster.workloads.usage_std[:, 1], [0, 0])  # the other resource
    assert np.array_equal(cluster.workloads.usage_mean, pair().workloads.usage_mean)


def test_hoeffding_by_the_mean_is_never_larger_and_equal_in_the_middle():
    wide, sharp = (effective(pair(), 0, 0.99, model).workloads.usage_std[:, 0] for model in ("hoeffding", "hoeffding-mean"))
    assert sharp[0] < wide[0]  # mean 10 of 40
    assert sharp[1] == pytest.approx(wide[1])  # mean 30 of 60


@pytest.mark.parametrize("p", [1e-9, 0.01, 0.3, 0.4999999, 0.5, 0.5000001, 0.7, 0.99])
def test_the_proxy_bounds_the_moments_of_the_widest_variable_of_its_mean(p):
    """E exp(s(X - p)) is largest for X = 0 or 1, being convex; s up to 60 covers every bound used here."""
    s = np.linspace(0.001, 60, 20_000)
    moment = -s * p + np.log1p(p * np.expm1(s))
    proxy = float(_proxy(np.array([p]))[0])
    assert (moment <= s**2 * proxy / 2 * (1 + 1e-9) + 1e-12).all()
    assert proxy <= 0.25


def test_a_mean_above_the_limit_does_not_matter_where_nothing_runs():
    cluster = tiny([[100]], [[10], [30]], [3, 0], mean=[[10], [30]], std=[[2], [9]], limit=[[40], [20]])
    std = effective(cluster, 0, 0.99, "hoeffding-mean").workloads.usage_std[:, 0]
    assert std[0] > 0
    assert std[1] == 0  # it uses its limit at most


def test_usage_that_cannot_vary_is_certain():
    cluster = pair(mean=[[0, 1], [60, 1]])
    assert effective(cluster, 0, 0.999, "hoeffding-mean").workloads.usage_std[:, 0].tolist() == [0, 0]
    nothing = tiny([[10]], [[0]], [1], mean=[[0]], std=[[0]], limit=[[0]])
    assert effective(nothing, 0, 0.999, "hoeffding").workloads.usage_std.tolist() == [[0]]


def test_a_workload_that_varies_without_a_limit_is_named():
    cluster = tiny([[9]], [[1]] * 9, [1] * 8 + [0], std=[[1.0]] * 9)
    with pytest.raises(UsageError, match=r"no limit of r0: workloads 'w0', 'w1', 'w2', 'w3', 'w4', ... \(8 in all\); expected"):
        effective(cluster, 0, 0.99, "hoeffding")


def test_usage_that_has_neither_limit_nor_deviation_is_certain():
    assert effective(tiny([[9]], [[1]], [1]), 0, 0.99, "hoeffding").workloads.usage_std.tolist() == [[0]]


def test_a_mean_above_the_limit_is_refused():
    with pytest.raises(UsageError, match="mean usage of r0 above the limit: workload 'w0'"):
        effective(pair(mean=[[41, 1], [30, 1]]), 0, 0.99, "hoeffding-mean")


@pytest.mark.parametrize("alpha", [0.5, 1.0, 0.0, math.nan, (0.9, 1.2)])
def test_a_confidence_out_of_range_is_refused(alpha):
    with pytest.raises(UsageError, match=r"expected above 0\.5 and below 1"):
        effective(pair(), 0, alpha, "hoeffding")


def test_an_unknown_model_is_refused():
    with pytest.raises(UsageError, match="'normal' is not known; expected one of gaussian, hoeffding, hoeffding-mean, empirical"):
        effective(pair(), 0, 0.99, "normal")


def test_samples_give_mean_and_deviation_where_there_are_some():
    cluster = with_usage(pair(), 0, {0: np.array([8.0, 12.0])})
    assert cluster.workloads.usage_mean[:, 0].tolist() == [10, 30]
    assert cluster.workloads.usage_std[:, 0] == pytest.approx([math.sqrt(8), 9])
    assert with_usage(pair(), 0, {1: np.array([7.0])}).workloads.usage_std[:, 0].tolist() == [2, 0]


def test_the_empirical_deviation_holds_for_one_container_and_for_as_many_as_fit():
    value = np.array([0.0] * 97 + [100.0] * 3)  # a burst, three times in a hundred
    s = pooled_std(value, 0.99, 4, np.random.default_rng(0))
    assert 3 + deviate(0.99) * s >= 100 - 1e-9  # one container: P(burst) = 3 % is more than 1 %
    assert 12 + deviate(0.99) * s * 2 >= 100 - 1e-9  # four: P(two bursts) = 0.5 % is less
    assert s >= value.std()


def test_the_empirical_deviation_of_normal_samples_is_nearly_their_own():
    value = np.random.default_rng(1).normal(50, 5, 20_000)
    assert pooled_std(value, 0.99, 16, np.random.default_rng(2)) == pytest.approx(5, rel=0.06)


def test_a_workload_without_samples_stays_gaussian_and_is_named():
    samples = {0: np.array([9.0, 11.0, 10.0])}
    cluster = effective(pair(), 0, 0.99, "empirical", samples)
    assert cluster.workloads.usage_std[1, 0] == 9
    notes = uncertainty_notes(pair(), 0, 0.99, "empirical", samples)
    assert notes == (
        "no samples of r0: workload 'w1'; taken as Gaussian with the stated mean and deviation",
        "fewer than 100 samples of r0: workload 'w0'; a tail of 0.01 is beyond them",
    )
    assert uncertainty_notes(pair(), 0, 0.99, "gaussian", samples) == ()


def test_samples_that_are_all_alike_are_certain():
    cluster = effective(pair(), 0, 0.999, "empirical", {0: np.full(9, 5.0), 1: np.full(1, 6.0)})
    assert cluster.workloads.usage_std[:, 0].tolist() == [0, 0]
    assert cluster.workloads.usage_mean[:, 0].tolist() == [5, 6]


def test_the_same_seed_gives_the_same_and_several_confidences_the_largest():
    value = np.random.default_rng(3).exponential(10, 500)
    std = [
        effective(pair(), 0, alpha, "empirical", {0: value}, seed).workloads.usage_std[0, 0]
        for alpha, seed in ((0.99, 1), (0.99, 1), (0.99, 2), (0.999, 1), ((0.99, 0.999), 1))
    ]
    assert std[0] == std[1] == pytest.approx(std[2], rel=0.05)
    assert std[4] == max(std[0], std[3])
    low, high, both = (effective(pair(), 0, a, "hoeffding").workloads.usage_std[0, 0] for a in (0.9, 0.999, (0.999, 0.9)))
    assert both == low > high  # Hoeffding's tail is thinner than it looks at 0.9: the lower confidence is the safe one


def test_sizes_double_up_to_what_fits():
    assert sizes(0) == sizes(1) == [1]
    assert sizes(11) == [1, 2, 4, 8, 11]
    assert sizes(1000) == [1, 2, 4, 8, 16, 32, 64]


def test_violations_are_drawn_from_the_samples():
    cluster = tiny([[3], [3], [3]], [[1]], [3])
    burst = {0: np.array([1.0, 1.0, 1.0, 3.0])}
    rates = violation_rates_of_samples(cluster, on(0, 0, 1), 0, burst, draws=20_000, seed=4)
    assert rates[0] == pytest.approx(1 - 0.75**2, abs=0.012)  # either bursts; four standard errors
    assert rates[1:].tolist() == [0, 0]
    assert violation_rate_of_samples(cluster, on(0, 0, 1), 0, burst, 20_000, 4) == pytest.approx(rates[:2].mean())
    assert violation_rate_of_samples(cluster, on(-1, -1, -1), 0, burst) == 0


def test_a_workload_without_samples_is_drawn_from_the_normal_distribution_within_its_limit():
    cluster = tiny([[21], [20]], [[10]], [4], mean=[[10]], std=[[1]], limit=[[12]])
    rates = violation_rates_of_samples(cluster, on(0, 0, 1, 1), 0, {}, draws=20_000)
    assert rates == pytest.approx([0.24, 0.5], abs=0.02)
    low = tiny([[24]], [[10]], [2], mean=[[10]], std=[[50]], limit=[[12]])
    assert violation_rates_of_samples(low, on(0, 0), 0, {}).tolist() == [0]
