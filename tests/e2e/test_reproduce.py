"""`bayplan reproduce` as a user meets it."""

import pytest
from experiments.freecontainer import run
from experiments.results import rows

from bayplan.cli import reproduce
from bayplan.cli.main import main


def test_a_first_look_measures_every_table_and_judges_every_claim(tmp_path, capsys):
    assert main(["reproduce", "freecontainer", "--quick", "--out", str(tmp_path)]) == 0
    assert str(tmp_path / "tables.md") in capsys.readouterr().out.splitlines()
    assert {row["table"] for row in rows(tmp_path / run.COSTS)} == {"table4", "table5", "table6", "table8", "ablation"}
    assert {row["rules_violated"] for row in rows(tmp_path / run.COSTS)} == {"0"}
    text = (tmp_path / "tables.md").read_text(encoding="utf-8")
    for table in ("IV", "V", "VI", "VII", "VIII"):
        assert f"**Table {table}, DC_A**" in text
        assert f"| Table {table}, DC_A:" in text
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {
        "freecontainer-figure-4.svg",
        "freecontainer-figure-5.svg",
    }


def test_a_first_look_at_admission_judges_every_figure(tmp_path):
    assert main(["reproduce", "online-clusters", "--quick", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert {row["broken"] for row in rows(tmp_path / "online.csv")} == {"0"}
    assert {row["proven"] for row in rows(tmp_path / "oneshot.csv")} == {"yes"}
    assert "A_online with `greedy` is better than `swmoa`" in text
    assert {f"online-clusters-{n}.svg" for n in ("2-free", "3-priced", "5", "6-v-section-vi", "10", "11")} <= {
        path.name for path in (tmp_path / "pictures").iterdir()
    }


def test_a_first_look_at_cradle_judges_every_claim(tmp_path):
    assert main(["reproduce", "cradle", "--quick", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert {row["broken"] for row in rows(tmp_path / "cells.csv")} == {"0", ""}
    assert "best effort adds 2 to 5 % to those accepted" in text
    assert (tmp_path / "pictures" / "cradle-generated-served.svg").is_file()


def test_an_unknown_paper_is_a_usage_fault_that_lists_the_others(capsys):
    assert main(["reproduce", "rasa-2"]) == 2
    assert "no paper 'rasa-2'; expected one of freecontainer, gmrp" in capsys.readouterr().err


def test_without_a_clone_it_says_what_is_needed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reproduce, "ROOT", tmp_path)
    assert main(["reproduce", "gmrp"]) == 2
    assert "clone the repository" in capsys.readouterr().err


def test_missing_data_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BAYPLAN_DATA", str(tmp_path))
    assert main(["reproduce", "gmrp", "--out", str(tmp_path / "out")]) == 1
    assert "set BAYPLAN_DATA to the folder that has gmrp" in capsys.readouterr().err


@pytest.mark.parametrize("paper", reproduce.PAPERS)
def test_every_paper_has_its_experiments(paper):
    assert (reproduce.ROOT / "experiments" / paper.replace("-", "_") / "run.py").is_file()
