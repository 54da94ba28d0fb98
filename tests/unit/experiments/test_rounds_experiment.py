"""Rounds: variants are compared seed by seed, and the docs say what the file says."""

from experiments.results import put, rows
from experiments.rounds import run, table

from bayplan.search import cooling


def fake(variant, seed, cost):
    fixed = {"instance": "x", "steps": "1000", "ease": "12.3", "commit": "abc", "machine": "a machine"}
    return {**fixed, "variant": variant, "seed": str(seed), "cost": str(cost)}


def test_changes_are_means_over_seeds_against_one_round():
    costs = {"one": (10.0, 20.0), "several": (11.0, 20.0), "noise": (9.0, 19.0)}
    measured = [fake(name, seed, cost) for name, some in costs.items() for seed, cost in enumerate(some)]
    assert table.lines_of(measured)[2] == "| x | 1,000 | 12 | 2 | +5.00 % (0 : 1) | -7.50 % (2 : 0) |"
    assert table.lines_of(measured)[-1].endswith("On a machine (commit abc).")


def test_a_quick_run_compares_every_variant_and_leaves_the_settings_alone(tmp_path):
    before = cooling.PLENTY, cooling.NOISY
    run.main(["--quick", "--out", str(tmp_path)])
    assert [row["variant"] for row in rows(tmp_path / run.CSV)] == list(run.VARIANTS)
    assert "| boutique | 2,000 |" in (tmp_path / "rounds.md").read_text(encoding="utf-8")
    assert before == (cooling.PLENTY, cooling.NOISY)


def test_the_table_in_the_docs_is_that_of_the_csv_file():
    text = table.DOCS.read_text(encoding="utf-8")
    assert put(text, table.MARKER, table.lines_of(rows(run.HERE / run.CSV))) == text
