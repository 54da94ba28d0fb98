"""`bayplan reproduce` as a user meets it."""

import json
from time import monotonic

import pytest
from experiments.cradle.cells import FACTS, KEY, LOCAL_SEARCH
from experiments.freecontainer import run
from experiments.results import rows
from experiments.verdicts import Verdict

from bayplan.cli import reproduce
from bayplan.cli.main import main

LONGEST = 120.0  # seconds of a first look


@pytest.fixture
def first_look(tmp_path, capsys):
    """Runs a first look into tmp_path; gives its JSON object. Every one keeps its time and judges its claims."""

    def looked(paper):
        start = monotonic()
        assert main(["reproduce", paper, "--quick", "--json", "--out", str(tmp_path)]) == 0
        assert monotonic() - start < LONGEST
        answer = json.loads(capsys.readouterr().out)
        assert (answer["paper"], answer["quick"]) == (paper, True)
        assert answer["page"] in answer["files"]
        assert {verdict["verdict"] for verdict in answer["verdicts"]} <= {str(word) for word in Verdict}
        assert all(set(verdict) == {"claim", "paper", "ours", "verdict"} for verdict in answer["verdicts"])
        return answer

    return looked


def claims_of(answer):
    return {verdict["claim"] for verdict in answer["verdicts"]}


@pytest.mark.long
def test_a_first_look_measures_every_table_and_judges_every_claim(tmp_path, first_look):
    claims = claims_of(first_look("freecontainer"))
    assert {row["table"] for row in rows(tmp_path / run.COSTS)} == {*run.TABLES} - {"real"}
    assert {row["rules_violated"] for row in rows(tmp_path / run.COSTS)} == {"0"}
    text = (tmp_path / "tables.md").read_text(encoding="utf-8")
    for table in ("IV", "V", "VI", "VII", "VIII"):
        assert f"**Table {table}, DC_A**" in text
        assert f"| Table {table}, DC_A:" in text
        assert any(claim.startswith(f"Table {table}, DC_A:") for claim in claims)
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {
        "freecontainer-figure-4.svg",
        "freecontainer-figure-5.svg",
    }


@pytest.mark.long
def test_a_first_look_at_admission_judges_every_figure(tmp_path, first_look):
    claims = claims_of(first_look("online-clusters"))
    text = (tmp_path / "tables.md").read_text(encoding="utf-8")
    for inside in ("free", "limited"):
        assert {row["broken"] for row in rows(tmp_path / f"online-{inside}.csv")} == {"0"}
    for inside in ("free", "priced"):
        assert {row["proven"] for row in rows(tmp_path / f"oneshot-{inside}.csv")} == {"yes"}
    assert "A_online with `greedy` is better than `swmoa`" in text
    assert (
        "Figures 6 to 8: A_online with `greedy` is better than `swmoa` (streams of section VI, traffic inside of a zone is free)"
        in claims
    )
    assert {f"online-clusters-{n}.svg" for n in ("2-free", "3-priced", "5", "6-v-section-vi-free", "10", "11")} <= {
        path.name for path in (tmp_path / "pictures").iterdir()
    }


def test_a_first_look_at_cradle_prints_its_verdicts_and_where_the_page_is(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    start = monotonic()
    assert main(["reproduce", "cradle", "--quick", "--out", str(tmp_path)]) == 0
    assert monotonic() - start < LONGEST
    text = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert {row["broken"] for row in rows(tmp_path / "cells.csv")} == {"0", ""}
    assert "best effort adds 2 to 5 % to those accepted" in text
    assert (tmp_path / "pictures" / "cradle-generated-served.svg").is_file()
    printed = capsys.readouterr().out
    head, line = (next(line for line in printed.splitlines() if word in line) for word in ("the paper", "best effort adds"))
    assert head.split() == ["claim", "the", "paper", "ours", "verdict"]
    assert "2 to 5 % (both ends ±20 %)" in line and line.rstrip().endswith(tuple(Verdict))
    assert str(tmp_path / "tables.md") in printed.replace("\n", "")
    assert "Tiny instances" in printed


@pytest.mark.long
@pytest.mark.parametrize(("paper", "claim"), [("rasa", "Figure 9"), ("ucac", "Table 3"), ("gmrp", "")])
def test_a_first_look_at_the_others_judges_what_it_measured(paper, claim, first_look):
    answer = first_look(paper)
    assert (
        any(one.startswith(claim) for one in claims_of(answer)) or paper == "gmrp"
    )  # its example is no instance of the challenge


@pytest.mark.long
def test_a_first_look_on_a_pool_has_the_rows_of_one_in_this_process_in_their_order(tmp_path):
    words = ["reproduce", "cradle", "--quick", "--json"]
    assert main([*words, "--out", str(tmp_path / "here")]) == 0
    assert main([*words, "--engine", "pool", "--threads", "2", "--out", str(tmp_path / "pool")]) == 0
    here, pool = ([*rows(tmp_path / folder / "cells.csv")] for folder in ("here", "pool"))
    same = (*KEY, *FACTS, "served", "value", "used", "width", "broken")
    assert [row["method"] for row in here] == [row["method"] for row in pool]
    for one, other in zip(here, pool, strict=True):
        if one["method"] != LOCAL_SEARCH:  # it has a budget of seconds
            assert [one[name] for name in same] == [other[name] for name in same]


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--engine", "poool"], "engine 'poool': expected one of"),
        (["--until", "noon"], "--until noon: expected a time"),
    ],
)
def test_options_that_make_no_sense_are_usage_faults(words, fault, capsys):
    assert main(["reproduce", "cradle", "--quick", *words]) == 2
    assert fault in capsys.readouterr().err


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
