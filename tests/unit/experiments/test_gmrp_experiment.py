"""GMRP: what the command line writes is checked from the files, and the table says which is ahead."""

import pytest
from experiments.gmrp import cells, run, tables
from experiments.gmrp.figures import KNOWN
from experiments.results import ROOT, put, rows

KNOWN_RUN = {"method": "search", "seconds": "60", "threads": "1", "bound": "3290754000", "gap": "0.1", "wall": "60", "cpu": "60"}


def fake(instance, cost, seed=0, **other):
    fixed = {"instance": instance, "cost": str(cost), "seed": str(seed), "commit": "abc", "machine": "a machine"}
    return {**KNOWN_RUN, **fixed, **other}


def line_of(measured, name):
    return "\n".join(line for line in tables.known_table(measured) if line.startswith(f"| {name} |"))


def test_the_median_of_the_seeds_is_compared_with_the_peer():
    costs = [3_400_000_000, 3_500_000_000, 3_410_000_000]
    line = line_of([fake("b_1", cost, seed) for seed, cost in enumerate(costs)], "b_1")
    assert "| 3,410,000,000 (of 3) | yes, -1.92 % | - | - |" in line
    assert "| 3,290,754,940 | 3,290,754,000 |" in line


def test_a_lost_comparison_is_reported():
    long = fake("b_1", 3_400_000_000, seconds="300", threads="2")
    assert "| 3,400,000,000 (of 1) | **no**, +1.39 % |" in line_of([long], "b_1")


def test_nls_is_a_fair_baseline_only_within_ten_percent():
    near, far = (fake("a2_3", cost, method="nls") for cost in (1_300_000_000, 1_400_000_000))
    assert any("? yes: median 1,300,000,000" in line for line in tables.lines_of([near]))
    assert any("? **no**: median 1,400,000,000" in line for line in tables.lines_of([far]))


def test_a_quick_run_is_checked_and_not_repeated(tmp_path, monkeypatch):
    run.main(["--quick", "--out", str(tmp_path)])
    (row,) = rows(tmp_path / run.CSV)
    assert row["instance"] == cells.TINY
    assert int(row["cost"]) >= float(row["bound"])
    assert "| tiny | search | 0.5 | 1 | 1 |" in (tmp_path / "gmrp.md").read_text(encoding="utf-8")
    monkeypatch.setattr(cells, "solve", lambda *_: pytest.fail("measured again"))
    run.main(["--quick", "--out", str(tmp_path)])


def test_a_solution_that_violates_a_rule_ends_the_experiment(tmp_path):
    model, assignment = cells.files(cells.TINY)
    processes = len(assignment.read_text().split())
    solution = tmp_path / "all-on-one.txt"
    solution.write_text(" ".join("0" * processes))
    with pytest.raises(SystemExit, match="more"):
        cells.verified(model, assignment, solution)


def test_the_table_in_the_docs_is_that_of_the_csv_file():
    text = (ROOT / "docs" / "verbs" / "gmrp.md").read_text(encoding="utf-8")
    assert put(text, tables.MARKER, tables.lines_of(rows(run.HERE / run.CSV))) == text


@pytest.mark.data
@pytest.mark.parametrize("instance", KNOWN)
def test_the_initial_costs_are_those_of_the_table(data_folder, instance):
    model, assignment = cells.files(instance)
    assert cells.verified(model, assignment, assignment) == KNOWN[instance].initial
