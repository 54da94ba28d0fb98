"""`bayplan run`, `apply` and what people say to a running loop, as a user types it."""

import json

import pytest

from bayplan.cli.main import main
from bayplan.operate.store import Store

QUICK = ["--seconds", "0.3", "-q"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a shop, a plan for it, and the record of a loop that proposed one."""
    here = tmp_path_factory.mktemp("operate")
    shop = str(here / "shop.json")
    assert main(["generate", "boutique", "--out", shop, "-q"]) == 0
    assert main(["plan", shop, "--out", str(here / "plan.json"), "--seconds", "1", "-q"]) == 0
    proposed = [
        "run",
        "--simulate",
        shop,
        "--turns",
        "1",
        "--mode",
        "approve",
        "--churn",
        "quiet",
        "--store",
        str(here / "shop.db"),
    ]
    assert main([*proposed, "--report", str(here / "week.html"), *QUICK]) == 0
    return here


def test_a_simulated_loop_tells_its_story_and_the_referee_saw_no_violation(folder, capsys):
    page = folder / "day.html"
    command = ["run", "--simulate", str(folder / "shop.json"), "--days", "0.1", "--churn", "busy", "--report", str(page), *QUICK]
    assert main(command) == 0
    assert "no rule, alive share or limit of disruption was violated" in " ".join(capsys.readouterr().out.split())
    assert "<html" in page.read_text()


def test_the_answer_of_a_loop_is_one_object(folder, capsys):
    command = ["run", "--simulate", str(folder / "shop.json"), "--turns", "1", "--churn", "quiet", "--json", *QUICK]
    assert main(command) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["safe"] is True
    assert answer["referee"]["violations"] == []


def test_a_proposed_plan_is_shown_approved_paused_resumed_and_told(folder, capsys):
    store = ["--store", str(folder / "shop.db")]
    assert main(["status", *store]) == 0
    assert "waits; next: bayplan approve" in capsys.readouterr().out
    assert main(["approve", "latest", *store, "--by", "ann"]) == 0
    assert main(["pause", *store, "--by", "bob", "--why", "release night"]) == 0
    assert main(["status", *store, "--json"]) == 0
    out = capsys.readouterr().out
    assert "bob" in out
    assert main(["resume", *store, "--trust"]) == 0
    assert main(["history", *store]) == 0
    assert main(["history", *store, "--last", "1h", "--json"]) == 0
    with Store.open(folder / "shop.db") as record:
        assert [plan.status for plan in record.plans()] == ["approved"]
        assert record.plans()[0].approved_by == "ann"
        assert record.paused() is None
        assert record.last_event("trust") is not None
        assert record.lease() is None  # the loop has ended


def test_a_plan_is_only_applied_if_told(folder, capsys):
    command = ["apply", str(folder / "plan.json"), "--simulate", str(folder / "shop.json")]
    assert main(command) == 0
    assert "Nothing was changed" in capsys.readouterr().out
    assert main([*command, "--yes", "--settle", "1m"]) == 0
    assert "is done" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["run"], "--simulate"),
        (["run", "--simulate", "boutique", "--every", "soon"], "--every"),
        (["run", "--simulate", "boutique", "--mode", "maybe"], "mode"),
        (["run", "--simulate", "boutique", "--churn", "wild"], "churn"),
        (["run", "--simulate", "boutique", "--window", "someday"], "window 'someday'"),
        (["run", "--sandbox", "/nowhere/c.sock"], "c.sock"),
        (["status", "--store", "nothing.db"], "no record 'nothing.db'"),
        (["apply", "nothing", "--simulate", "boutique"], "no plan 'nothing'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_meant_is_refused_with_its_name(command, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(command) != 0
    assert words in capsys.readouterr().err


def test_an_unknown_plan_is_neither_approved_nor_taken_back(folder, capsys):
    for verb in ("approve", "rollback"):
        assert main([verb, "99-none", "--store", str(folder / "shop.db")]) == 2
        assert "no plan '99-none'" in capsys.readouterr().err
