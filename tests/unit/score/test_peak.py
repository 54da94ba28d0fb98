"""Usage at the peak: the busiest window of a series, of each workload or of all together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.errors import ModelError, UsageError
from bayplan.score import UsageSeries, peak_usage

STEP = 300.0


def day_of(*levels, replicas=1, spread=0.0):
    """One level per hour, in steps of five minutes; replicas lie around it."""
    time = np.repeat(np.arange(len(levels) * 12) * STEP, replicas)
    around = np.tile(np.linspace(-spread, spread, replicas) if replicas > 1 else [0.0], len(levels) * 12)
    return UsageSeries.of(time, np.repeat(levels, 12 * replicas) + around)


def test_each_service_has_its_own_busiest_hour():
    peak = peak_usage({0: day_of(1, 5, 2), 3: day_of(4, 1, 1)})
    assert (peak[0].start, peak[0].mean, peak[0].deviation, len(peak[0].samples)) == (3600, 5, 0, 12)
    assert (peak[3].start, peak[3].mean) == (0, 4)


def test_the_cluster_has_one_busiest_hour_by_what_all_containers_use():
    series = {0: day_of(1, 5, 2), 1: day_of(4, 1, 1)}
    assert {w: usage.mean for w, usage in peak_usage(series, of="cluster", replicas=np.array([1, 1])).items()} == {0: 5, 1: 1}
    assert {w: usage.mean for w, usage in peak_usage(series, of="cluster", replicas=np.array([1, 9])).items()} == {0: 1, 1: 4}


def test_the_deviation_is_over_time_and_over_replicas():
    peak = peak_usage({0: day_of(1, 6, replicas=3, spread=2)})[0]
    assert len(peak.samples) == 36
    assert peak.mean == pytest.approx(6)
    assert peak.deviation == pytest.approx(np.std(np.tile([4, 6, 8], 12), ddof=1))


def test_a_moment_with_more_replicas_does_not_count_more():
    time, value = [0, 0, 0, 0, 1, 2, 3], [1, 1, 1, 1, 9, 2, 8]
    assert peak_usage({0: UsageSeries.of(time, value)}, window=2)[0].start == 1  # 9 and 2; with equal weights of samples: 2 and 8


def test_a_window_longer_than_the_series_takes_all_of_it():
    peak = peak_usage({0: UsageSeries.of([5, 0], [2.0, 4.0])})[0]
    assert (peak.start, sorted(peak.samples.tolist())) == (0, [2, 4])


def test_a_window_at_the_end_is_whole():
    """The last step alone is the highest, but no hour begins there."""
    series = UsageSeries.of(np.arange(24) * STEP, [*[1.0] * 23, 100.0])
    peak = peak_usage({0: series})[0]
    assert (peak.start, len(peak.samples)) == (12 * STEP, 12)


def test_a_workload_without_samples_at_the_peak_of_the_cluster_has_its_own():
    short = UsageSeries.of([0.0], [1.0])
    peak = peak_usage({0: day_of(1, 50), 1: short}, of="cluster", replicas=np.array([1, 1]))
    assert (peak[0].start, peak[1].start, peak[1].mean) == (3600, 0, 1)


@settings(max_examples=30, deadline=None)
@given(samples=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 100)), min_size=1, max_size=40), window=st.integers(1, 20))
def test_the_window_is_the_best_by_trying_all(samples, window):
    series = UsageSeries.of([t for t, _ in samples], [float(v) for _, v in samples])
    times = np.unique(series.time)
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    starts = [t for t in times if t + window <= times[-1] + step * (1 + 1e-9)] or [times[0]]

    def level(start):
        inside = [t for t in times if start <= t < start + window]
        return np.mean([series.value[series.time == t].mean() for t in inside])

    peak = peak_usage({0: series}, window=window)[0]
    assert level(peak.start) == pytest.approx(max(map(level, starts)))
    assert peak.mean == pytest.approx(peak.samples.mean())


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="expected more than 0"):
        peak_usage({0: day_of(1)}, window=0)
    with pytest.raises(UsageError, match="service"):
        peak_usage({0: day_of(1)}, of="machine")
    with pytest.raises(ModelError, match="not ascending"):
        UsageSeries(time=np.array([1.0, 0.0]), value=np.array([1.0, 1.0]))
    with pytest.raises(ModelError, match="expected as many, at least one"):
        UsageSeries(time=np.zeros(0), value=np.zeros(0))
