import numpy as np
import pytest

from bayplan.errors import UsageError
from bayplan.generate.requests import SCALE, WINDOW, requests


def load_factor(timed, machines):
    """[Cradle] (5), literally."""
    total = 0.0
    for (a, b), s, f in zip((timed.demand / SCALE).tolist(), timed.start.tolist(), timed.end.tolist(), strict=True):
        total += (a + b) / 2 * (f - s)
    return total / (machines * (timed.end.max() - timed.start.min()))


@pytest.mark.parametrize("load", [0.01, 0.5, 2.0, 5.0])
def test_reaches_the_load_factor(load):
    assert load_factor(requests(machines=20, load=load, seed=1), 20) == pytest.approx(load, rel=1e-3)


@pytest.mark.parametrize(
    ("n", "machines", "load"),
    [
        (1, 1, 0.5),
        (7, 2, 0.3),
        (1000, 10, 2.0),
        (1000, 10, 12.0),  # requests are larger than those of the trace
        (20_000, 20, 3.0),  # 1,000 requests per machine
        (20_000, 20, 12.0),
        (50_000, 1, 0.2),  # tiny requests
    ],
)
def test_the_number_asked_for_is_kept_and_still_reaches_the_load(n, machines, load):
    timed = requests(machines=machines, load=load, n=n, seed=3)
    assert len(timed.name) == n
    assert load_factor(timed, machines) == pytest.approx(load, rel=1e-3)


def test_too_few_requests_for_a_load_are_refused():
    with pytest.raises(UsageError, match=r"n is 10, too few for this load.*expected a larger n"):
        requests(machines=100, load=12.0, n=10)


def test_too_many_requests_for_a_load_are_refused():
    with pytest.raises(UsageError, match=r"n is 100000, too many for this load.*expected a smaller n"):
        requests(machines=1, load=0.01, n=100_000)


def test_resembles_the_trace():
    timed = requests()
    cpu, memory = (timed.demand / SCALE).T
    assert np.median(cpu) == pytest.approx(0.03064, rel=0.05)
    assert np.median(memory) == pytest.approx(0.02545, rel=0.05)
    assert np.corrcoef(np.log(cpu), np.log(memory))[0, 1] == pytest.approx(0.593, abs=0.03)
    inside = timed.end < WINDOW
    assert np.median((timed.end - timed.start)[inside]) == pytest.approx(375, rel=0.1)
    assert 0 < ((cpu > 0.5) | (memory > 0.5)).mean() < 0.02  # mostly narrow, some wide


def test_all_end_by_the_horizon_and_start_in_order():
    timed = requests(machines=5, horizon=1000.0)
    assert timed.end.max() <= 1000.0
    assert (np.diff(timed.start) >= 0).all()
    assert timed.start.min() >= 0


def test_values_follow_the_weights():
    one, area, random = (requests(machines=2, weights=weights) for weights in ("one", "area", "random"))
    assert (one.value == 1).all()
    assert np.allclose(area.value, (area.demand / SCALE).mean(axis=1) * (area.end - area.start))
    assert random.value.min() >= 1
    assert random.value.max() > 50


def test_bad_settings_are_all_named():
    with pytest.raises(UsageError, match=r"machines is 0.*load is -1\.0.*weights is 'gold'; expected one of one, area, random"):
        requests(machines=0, load=-1.0, weights="gold")


@pytest.mark.data
def test_the_constants_are_the_traces(data_folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(data_folder / "traces/google2011/tasks_part0.parquet")
    cpu, memory = table["cpu"].to_numpy(), table["mem"].to_numpy()
    assert (round(float(np.median(cpu)), 5), round(float(np.median(memory)), 5)) == (0.03064, 0.02545)
    both = (cpu > 0) & (memory > 0)
    assert np.log(cpu[both]).std() == pytest.approx(1.072, abs=1e-3)
    assert np.log(memory[both]).std() == pytest.approx(1.098, abs=1e-3)
