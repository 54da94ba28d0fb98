import math

import numpy as np
import pytest
from scipy.stats import norm
from tests.builders.tiny_clusters import on, tiny

from bayplan.errors import ModelError
from bayplan.model import Objective
from bayplan.score import (
    Truncation,
    deviate,
    machine_ucac,
    monte_carlo,
    score,
    ucac,
    violation_probability,
    violation_rate,
    violation_rates,
)


def three(**parts):
    """The worked example of [UCaC] §4.1: N(2, 0.5), N(2, 1), N(3, 1.5), variances, and an empty machine."""
    std = [[math.sqrt(0.5)], [1.0], [math.sqrt(1.5)]]
    return tiny([[12], [12]], [[2], [2], [3]], [1, 1, 1], mean=[[2], [2], [3]], std=std, **parts)


def test_the_worked_example_of_the_paper():
    assert machine_ucac(three(), on(0, 0, 0), 0, d=2.576).round(2).tolist() == [11.46, 0.0]
    assert ucac(three(), on(0, 0, 0), 0, d=2.576) == pytest.approx(7 + 2.576 * math.sqrt(3))


def test_deviates_are_quantiles_of_the_normal_distribution():
    assert deviate(0.99) == pytest.approx(2.326, abs=5e-4)
    assert deviate(0.999) == pytest.approx(3.090, abs=5e-4)
    assert deviate(0.5) == 0.0


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0, math.nan])
def test_a_confidence_outside_of_0_and_1_is_refused(alpha):
    with pytest.raises(ModelError, match="not between 0 and 1"):
        deviate(alpha)


def test_usage_that_is_not_stated_is_the_request():
    cluster = tiny([[10]], [[4]], [2])
    assert ucac(cluster, on(0, 0), 0) == 8.0
    assert violation_probability(cluster, on(0, 0), 0).tolist() == [0.0]


def test_certain_usage_above_capacity_violates_always():
    cluster = tiny([[7]], [[4]], [2])
    assert violation_probability(cluster, on(0, 0), 0).tolist() == [1.0]
    assert violation_rate(cluster, on(0, 0), 0, draws=10) == 1.0


def test_a_machine_of_its_ucac_overflows_with_probability_1_minus_alpha():
    cluster = tiny([[100]], [[10]], [9], mean=[[10]], std=[[10 / 3 / deviate(0.99)]])
    assert violation_probability(cluster, on(*[0] * 9), 0) == pytest.approx(0.01)


def test_scores_state_ucac_in_written_units():
    cluster = three(scale=1000)
    assert score(cluster, on(0, 0, 0), Objective.default(cluster))["ucac"] == pytest.approx(
        (7 + deviate(0.999) * math.sqrt(3)) / 1000
    )


def test_drawn_violations_agree_with_the_gaussian_where_nothing_is_cut_off():
    cluster = tiny([[105], [110]], [[10]], [20], mean=[[10]], std=[[1]])
    placement = on(*[0] * 10, *[1] * 10)
    drawn = violation_rates(cluster, placement, 0, draws=20_000, seed=1)
    assert drawn == pytest.approx(violation_probability(cluster, placement, 0), abs=0.004)


@pytest.mark.parametrize("truncation", Truncation)
def test_no_draw_leaves_the_range_from_0_to_the_limit(truncation):
    cluster = tiny([[20]], [[5]], [4], mean=[[5]], std=[[50]], limit=[[5]])
    assert violation_rate(cluster, on(0, 0, 0, 0), 0, draws=500, truncation=truncation) == 0.0  # never above 4 x 5


def test_clipping_and_drawing_again_are_the_two_readings():
    # One container N(1.06, 0.85): P(usage > 1.06) is 1/2 if clipped, 1/2 / P(usage > 0) if drawn again.
    cluster = tiny([[106]], [[106]], [1], mean=[[106]], std=[[85]])
    clipped = violation_rate(cluster, on(0), 0, draws=40_000, truncation=Truncation.CLIP)
    again = violation_rate(cluster, on(0), 0, draws=40_000, truncation=Truncation.REJECT)
    assert clipped == pytest.approx(0.5, abs=0.01)
    assert again == pytest.approx(0.5 / 0.8938, abs=0.01)


def test_a_range_beyond_reach_does_not_hang():
    cluster = tiny([[1]], [[1]], [1], mean=[[1000]], std=[[1]], limit=[[2]])
    assert violation_rate(cluster, on(0), 0, draws=100, truncation=Truncation.REJECT) == 1.0  # just below 2, above 1


def test_the_same_seed_draws_the_same_and_chunks_do_not_matter(monkeypatch):
    cluster = tiny([[21]], [[10]], [2], mean=[[10]], std=[[2]])
    rates = [violation_rate(cluster, on(0, 0), 0, draws=1000, seed=seed) for seed in (1, 1, 2)]
    assert rates[0] == rates[1] != rates[2]
    exact = violation_probability(cluster, on(0, 0), 0)[0]  # nothing is cut off at five deviations
    monkeypatch.setattr(monte_carlo, "CHUNK", 64)
    assert violation_rate(cluster, on(0, 0), 0, draws=200_000, seed=1) == pytest.approx(exact, abs=0.005)


def test_empty_machines_do_not_water_the_violations_down():
    cluster = tiny([[7], [7], [7]], [[4]], [2])
    assert violation_rate(cluster, on(0, 0), 0, draws=10) == 1.0
    assert violation_rate(cluster, on(-1, -1), 0, draws=10) == 0.0
    assert np.array_equal(violation_rates(cluster, on(0, 0), 0, draws=10), [1.0, 0.0, 0.0])


def test_cutting_off_raises_the_mean_of_the_widest_service_as_the_docs_say():
    mean, std = 1.06, 0.85  # [UCaC] Table 5
    low, high = -mean / std, 4.0  # (0, mean + 4 std), in deviations
    inside, density = norm.cdf(high) - norm.cdf(low), norm.pdf(low) - norm.pdf(high)
    redrawn = mean + std * density / inside
    clipped = mean * inside + std * density + (mean + 4 * std) * norm.sf(high)
    assert (round(100 * (redrawn / mean - 1)), round(100 * (clipped / mean - 1))) == (16, 4)
