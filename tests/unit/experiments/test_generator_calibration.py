"""The measured numbers of docs/verbs/generate.md come from generators.csv, and that is what the generators give."""

import re
from dataclasses import replace
from functools import partial

import pytest
from experiments.calibration import generator_tables, generators
from experiments.calibration.arrivals import of_container_clusters, of_google2011
from experiments.calibration.snapshots import of_boutique, of_freecontainer, of_ucac
from experiments.results import ROOT, rows

from bayplan.generate import GENERATORS
from bayplan.generate.freecontainer import freecontainer_dca

PAGE = ROOT / "docs" / "verbs" / generators.PAGE
MEASURED = rows(ROOT / "experiments" / "calibration" / generators.CSV)
NEW = {
    "boutique": partial(of_boutique, 0),
    "freecontainer-dca": partial(of_freecontainer, freecontainer_dca, 0),
    "ucac": partial(of_ucac, 0),
    "container-clusters": partial(of_container_clusters, 0),
}


def of_csv(generator, seed):
    mine = [row for row in MEASURED if (row["generator"], row["seed"]) == (generator, seed)]
    return {row["quantity"]: float(row["value"]) for row in mine if row["quantity"] != generators.SECONDS}


def test_the_tables_in_the_docs_are_those_of_the_csv_file():
    page = PAGE.read_text(encoding="utf-8")
    assert generator_tables.written(page, MEASURED) == page


def test_every_cell_was_measured_once():
    expected = {(name, "0" if cell == generators.SECONDS else cell) for name, cell, _ in generators.cells(generators.FULL)}
    assert {(row["generator"], row["seed"]) for row in MEASURED} == expected
    keys = [(row["generator"], row["seed"], row["quantity"]) for row in MEASURED]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("generator", NEW)
def test_the_csv_file_is_what_the_generator_gives_now(generator):
    assert of_csv(generator, "0") == pytest.approx(NEW[generator](), rel=1e-4)


@pytest.mark.data
def test_the_csv_file_is_what_the_trace_gives(data_folder):
    pytest.importorskip("pyarrow")
    assert of_csv("google2011", "") == pytest.approx(of_google2011(data_folder / "traces" / "google2011"), rel=1e-4)


def test_no_rule_is_broken_where_the_docs_count_none():
    kept = [row for row in MEASURED if "rules broken" in row["quantity"] and "broken=1" not in row["quantity"]]
    assert len(kept) == 10 * (1 + 2 * 2 + 3)  # boutique, both data centres before and after, three loads
    assert {row["value"] for row in kept} == {"0"}


def test_a_quick_run_measures_every_shape_and_a_second_one_nothing(tmp_path, monkeypatch):
    before = PAGE.read_bytes()
    generators.main(["--quick", "--out", str(tmp_path)])
    csv, page = tmp_path / generators.CSV, (tmp_path / generators.PAGE).read_text(encoding="utf-8")
    first = csv.read_text()
    assert {row["generator"] for row in rows(csv)} == {
        name for name in GENERATORS if not name.startswith("rasa-") and name not in generator_tables.NOT_MEASURED
    }
    assert re.search(r"\| gained affinity \| 0\.\d+ \|", page)
    monkeypatch.setattr(generators, "machine", lambda: pytest.fail("measured again"))
    generators.main(["--quick", "--out", str(tmp_path)])
    assert csv.read_text() == first
    assert PAGE.read_bytes() == before


def test_a_stopped_run_goes_on_where_it_stopped(tmp_path):
    for timed in (("ucac",), ("ucac", "boutique")):
        generators.measure(tmp_path / "r.csv", replace(generators.QUICK, seeds=range(0), timed=timed))
    assert [row["generator"] for row in rows(tmp_path / "r.csv")] == ["ucac", "boutique"]


def test_a_span_is_one_value_where_all_agree():
    assert generator_tables.span([3.0, 3.0]) == "3"
    assert generator_tables.span([0.25, 0.75]) == "0.5 (0.25 .. 0.75)"
    assert generator_tables.span([0.00002, 1234.4]) == "617.2 (0.000020 .. 1,234)"
    assert generator_tables.span([]) == "-"
