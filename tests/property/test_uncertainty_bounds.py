"""Whatever is believed about usage: no size below the mean, and Hoeffding's is never exceeded more often than promised."""

from math import sqrt

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.tiny_clusters import on, tiny

from bayplan.score import deviate, effective, machine_ucac

ALPHAS = st.sampled_from([0.6, 0.9, 0.99, 0.999])
DRAWS = 20_000
# A rate whose true value is at most p is measured above p + 5 sqrt(p (1 - p) / DRAWS) about once in three million tries.
SLACK = 5.0


@st.composite
def bounded(draw):
    """One machine with up to 12 containers of up to 3 workloads, each of two points of [0, limit]: high with probability p."""
    n_w = draw(st.integers(1, 3))
    limit = [draw(st.integers(1, 50)) for _ in range(n_w)]
    low = [draw(st.floats(0, 1)) * size for size in limit]
    high = [a + draw(st.floats(0, 1)) * (size - a) for a, size in zip(low, limit, strict=True)]
    p = [draw(st.sampled_from([0.0, 0.01, 0.1, 0.5, 0.9, 1.0])) for _ in range(n_w)]
    count = [draw(st.integers(1, 4)) for _ in range(n_w)]
    mean = [[min((1 - q) * a + q * b, size)] for a, b, q, size in zip(low, high, p, limit, strict=True)]
    std = [[sqrt(q * (1 - q)) * (b - a)] for a, b, q in zip(low, high, p, strict=True)]
    cluster = tiny([[1000]], [[0]] * n_w, count, mean=mean, std=std, limit=[[size] for size in limit])
    return cluster, low, high, p


@given(bounded(), ALPHAS, st.sampled_from(["gaussian", "hoeffding", "hoeffding-mean", "empirical"]))
@settings(max_examples=30, deadline=None)
def test_no_size_is_below_the_mean(drawn, alpha, model):
    cluster, low, high, p = drawn
    rng = np.random.default_rng(0)
    samples = {w: np.where(rng.random(50) < p[w], high[w], low[w]) for w in range(len(p))}
    believed = effective(cluster, 0, alpha, model, samples)
    everywhere = on(*[0] * len(cluster.containers.name))
    size = machine_ucac(believed, everywhere, 0, alpha=alpha)[0]
    mean = believed.workloads.usage_mean[believed.containers.workload, 0].sum()
    assert size >= mean * (1 - 1e-12)  # the same numbers added in another order
    assert (believed.workloads.usage_std >= 0).all()


@given(bounded(), ALPHAS)
@settings(max_examples=30, deadline=None)
def test_hoeffding_is_exceeded_no_more_often_than_promised(drawn, alpha):
    cluster, low, high, p = drawn
    w = cluster.containers.workload
    rng = np.random.default_rng(1)
    is_high = rng.random((DRAWS, len(w))) < np.array(p)[w]
    total = np.where(is_high, np.array(high)[w], np.array(low)[w]).sum(axis=1)
    everywhere = on(*[0] * len(w))
    size, sharp = (
        machine_ucac(effective(cluster, 0, alpha, model), everywhere, 0, alpha=alpha)[0]
        for model in ("hoeffding", "hoeffding-mean")
    )
    promised = 1 - alpha
    assert sharp <= size * (1 + 1e-9)
    assert (total > sharp * (1 + 1e-9)).mean() <= promised + SLACK * sqrt(promised * alpha / DRAWS)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 3)), min_size=1, max_size=4), ALPHAS)
@settings(max_examples=30, deadline=None)
def test_with_support_of_no_width_every_size_is_the_sum(usages, alpha):
    """Usage that is always the limit, by the mean; and samples that are all alike."""
    mean = [[size] for size, _ in usages]
    cluster = tiny([[1000]], mean, [count for _, count in usages], limit=mean)
    everywhere = on(*[0] * len(cluster.containers.name))
    total = sum(size * count for size, count in usages)
    samples = {w: np.full(5, float(size)) for w, (size, _) in enumerate(usages)}
    for model in ("gaussian", "hoeffding-mean", "empirical"):
        assert machine_ucac(effective(cluster, 0, alpha, model, samples), everywhere, 0, alpha=alpha)[0] == total


@given(st.integers(0, 1000), st.integers(1, 30), st.sampled_from([0.9, 0.99]))
@settings(max_examples=25, deadline=None)
def test_sums_of_the_samples_exceed_the_empirical_size_no_more_often_than_promised(seed, n, alpha):
    """On sums of 1, 2, 4, ... and of as many as fit, which are those that it looks at."""
    rng = np.random.default_rng([seed, 1])
    value = rng.exponential(10, rng.integers(5, 200))
    cluster = tiny([[10_000]], [[0]], [n], mean=[[0]], std=[[0]])
    believed = effective(cluster, 0, alpha, "empirical", {0: value}, seed)
    size = machine_ucac(believed, on(*[0] * n), 0, alpha=alpha)[0]
    total = value[rng.integers(len(value), size=(DRAWS, n))].sum(axis=1)
    assert (total > size * (1 + 1e-9)).mean() <= 1 - alpha + SLACK * sqrt((1 - alpha) * alpha / DRAWS)
    assert believed.workloads.usage_std[0, 0] * deviate(alpha) >= 0
