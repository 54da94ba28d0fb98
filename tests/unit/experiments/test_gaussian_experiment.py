"""Is usage Gaussian? The control holds, what has a long tail does not, and the tables are those of the CSV files."""

import numpy as np
import pytest
from experiments.gaussian import fleets, run, tables
from experiments.gaussian.measures import (
    apart,
    cluster_of,
    common,
    containers_in,
    moments_of,
    packs,
    rates,
    shape,
    size,
    together,
)
from experiments.results import ROOT, rows

from bayplan.score import deviate


def pack_of(group, n, split="days"):
    return next(packs(group, split, n, 1, np.random.default_rng(0)))


def service(days, limit=100.0):
    return fleets.Group(name="s", days=tuple(days), limit=np.array([limit]), alike=True)


def fleet(days):
    return fleets.Group(name="all", days=tuple(days), limit=np.full(days[0].shape[1], 100.0), alike=False)


def test_the_halves_share_no_sample():
    days = tuple(np.arange(24.0).reshape(12, 2) + 100 * d for d in range(3))
    for split in fleets.SPLITS.values():
        learnt, judged = (np.concatenate([day.ravel() for day in half]) for half in split(days))
        assert not set(learnt) & set(judged)
        assert len(learnt) + len(judged) == 72


def test_the_busiest_steps_are_those_of_the_highest_mean():
    day = np.tile(np.arange(288.0)[:, None], (1, 3))
    day[5] = 1000
    day[5, 0] = np.nan
    assert fleets.busiest(day)[:, 1].tolist() == [1000, *range(277, 288)]


def test_a_grid_has_means_where_something_was_measured():
    grid = fleets.gridded(np.array([0, 0, 2]), np.array([7, 7, 9]), np.array([1.0, 3.0, 5.0]))
    assert np.array_equal(grid, [[2, np.nan], [np.nan, np.nan], [np.nan, 5]], equal_nan=True)


def test_the_shape_of_normal_draws_is_normal_and_that_of_exponential_ones_is_not():
    rng = np.random.default_rng(0)
    normal, exponential = shape(rng.normal(5, 2, 50_000)), shape(rng.exponential(5, 50_000))
    assert float(normal["ks"]) < 0.01 < 0.1 < float(exponential["ks"])
    assert float(normal["z999"]) == pytest.approx(deviate(0.999), abs=0.15)
    assert float(exponential["skew"]) == pytest.approx(2, abs=0.15)
    assert shape(np.ones(9))["skew"] == "0"


def test_the_gaussian_size_is_exceeded_as_promised_exactly_if_usage_is_gaussian():
    normal, lognormal = (np.mean([_gaussian_rate(group) for group in read()]) for read in (fleets.normal, fleets.lognormal))
    assert normal == pytest.approx(0.01, abs=0.004)
    assert lognormal > 0.015


def _gaussian_rate(group):
    row = next(row for row in rates(pack_of(group, 5), 0.99, 20_000, 1) if row["model"] == "gaussian")
    return float(row["own"])


def test_replicas_that_move_together_break_the_promise_only_together():
    rng = np.random.default_rng(2)
    days = [rng.normal(10, 2, (12, 1)) + rng.normal(0, 0.1, (12, 20)) for _ in range(40)]
    group = service(days)
    assert common(group) > 0.95
    row = next(row for row in rates(pack_of(group, 10), 0.99, 20_000, 3) if row["model"] == "gaussian")
    assert float(row["apart"]) < 0.03
    assert float(row["together"]) > 0.1
    assert abs(common(service([rng.normal(10, 2, (12, 20)) for _ in range(40)]))) < 0.02


def test_a_machine_of_virtual_machines_runs_different_ones():
    group = fleet([np.tile(2.0 ** np.arange(6), (12, 1))] * 2)
    pack = pack_of(group, 3)
    assert len(set(pack.columns)) == 3
    total = sum(2.0**k for k in pack.columns)
    assert set(together(pack, 10, np.random.default_rng(0))) == {total}
    assert set(apart(pack.test, 1, 10, np.random.default_rng(0))) == {total}
    assert size(cluster_of(pack), 0.99) == pytest.approx(total)
    assert common(group) == 0


def test_too_few_replicas_have_no_sum_together():
    pack = pack_of(service([np.ones((12, 4))] * 2), 5)
    assert together(pack, 10, np.random.default_rng(0)) is None
    assert moments_of(pack) == []
    assert len(moments_of(pack_of(service([np.ones((12, 4))] * 2), 4))) == 12


def test_as_many_fit_as_the_size_was_made_for():
    cluster = cluster_of(pack_of(fleets.normal()[1], 10))
    assert containers_in(cluster, 0.999, size(cluster, 0.999)) == pytest.approx(10)


def test_a_quick_run_says_that_the_control_holds_and_is_not_repeated(tmp_path, monkeypatch):
    run.main(["--quick", "--out", str(tmp_path)])
    page = (tmp_path / "pack-uncertainty.md").read_text(encoding="utf-8")
    (normal,) = (line for line in tables.verdict_lines(rows(tmp_path / run.EXCEEDED)) if "drawn, Gaussian" in line)
    assert normal in page
    assert normal.split("|")[2].strip().startswith("holds")
    (long_tail,) = (line for line in tables.verdict_lines(rows(tmp_path / run.EXCEEDED)) if "drawn, lognormal" in line)
    assert "**fails**" in long_tail.split("|")[2]
    assert "holds" in long_tail.split("|")[6]
    monkeypatch.setattr(run, "rates", lambda *_: pytest.fail("measured again"))
    monkeypatch.setattr(run, "shape", lambda *_: pytest.fail("measured again"))
    run.main(["--quick", "--out", str(tmp_path)])


def test_no_belief_is_judged_by_the_samples_that_it_is_made_of():
    assert all(row["own"] == "" for row in rows(run.HERE / run.EXCEEDED) if row["model"] == "empirical")


def test_the_tables_in_the_docs_are_those_of_the_csv_files():
    text = tables.DOCS.read_text(encoding="utf-8")
    measured = [rows(run.HERE / name) for name in (run.SHAPES, run.EXCEEDED, run.INSTANTS)]
    assert all(measured)
    assert tables.written(text, *measured) == text


def test_the_page_names_the_command():
    assert "python -m experiments.gaussian.run" in (ROOT / "docs" / "verbs" / "pack-uncertainty.md").read_text(encoding="utf-8")


@pytest.mark.data
@pytest.mark.parametrize(("name", "groups"), [("google2019", 1), ("google2019-short", 3), ("bitbrains", 1)])
def test_the_traces_give_busy_hours(data_folder, name, groups):
    found = fleets.DATA[name].read()
    assert len(found) == groups
    for group in found:
        assert len(group.days) > 1
        assert all(len(day) == fleets.BUSY and (np.nan_to_num(day) <= group.limit.max()).all() for day in group.days)
