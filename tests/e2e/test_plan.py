"""`bayplan plan` as a user types it: files, exit codes, refusals, Ctrl-C."""

import json
import os
import signal
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import bayplan as bp
from bayplan.cli.main import main

QUICK = ["--seconds", "2", "--threads", "1", "-q"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the shop and a plan for it."""
    here = tmp_path_factory.mktemp("plan")
    assert main(["generate", "boutique", "--out", str(here / "shop.json"), "-q"]) == 0
    files = ["--out", "plan.json", "--rollback-out", "back.json", "--placement-out", "after.json", "--report", "plan.html"]
    paths = [str(here / word) if not word.startswith("-") else word for word in files]
    assert main(["plan", str(here / "shop.json"), *paths, *QUICK]) == 0
    return here


def test_the_files_of_a_plan_belong_together(folder, capsys):
    shop = str(folder / "shop.json")
    assert main(["simulate", shop, "--plan", str(folder / "plan.json"), "-q"]) == 0
    assert main(["simulate", shop, "--start", str(folder / "after.json"), "--plan", str(folder / "back.json"), "-q"]) == 0
    assert main(["check", shop, "--placement", str(folder / "after.json"), "-q"]) == 0
    assert main(["explain", shop, "frontend-0", "--plan", str(folder / "plan.json"), "-q"]) == 0
    assert "the plan " in capsys.readouterr().out
    page = (folder / "plan.html").read_text()
    assert "bayplan plan" in page  # how it was made


def test_a_plan_for_another_state_is_refused_by_every_command_and_what_changed_is_named(folder, capsys):
    shop, after, plan = (str(folder / name) for name in ("shop.json", "after.json", "plan.json"))
    commands = (
        ["simulate", shop, "--start", after, "--plan", plan],
        ["explain", shop, "frontend-0", "--start", after, "--plan", plan],
        ["migrate", shop, "--start", after, "--rollback", plan],
    )
    for command in commands:
        assert main([*command, "-q"]) == 1
        told = capsys.readouterr().err
        assert "E1521 plan: machine '" in told
        assert "runs other containers now" in told


def test_json_has_the_same_words_as_the_terminal(folder, capsys):
    shop, options = str(folder / "shop.json"), ["--max-moves", "0", *QUICK]
    assert main(["plan", shop, *options, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    schema = json.loads((Path(__file__).parents[2] / "docs" / "schema" / "answer.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(answer)
    assert answer["verb"] == "plan"
    assert answer["moved"] == 0
    assert answer["details"]["goal"]["name"] == "steady"
    assert main(["plan", shop, *options]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(" ".join(sentence.split()) in shown for sentence in answer["details"]["sentences"])


def test_below_the_least_gain_nothing_is_written_and_the_exit_code_is_3(folder, tmp_path, capsys):
    out = tmp_path / "plan.json"
    command = ["plan", str(folder / "shop.json"), "--start", str(folder / "after.json"), "--min-gain", "90%", "--out", str(out)]
    assert main([*command, *QUICK]) == 3
    assert "Not worth it" in capsys.readouterr().out
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--goal", "stedy"], "did you mean 'steady'"),
        (["--goal", "nowhere.toml"], "E1001"),
        (["--weight", "blance=1"], "did you mean 'balance'"),
        (["--drain", "a99"], "no such machine"),
        (["--scale", "cart=many"], "expected WORKLOAD=N"),
        (["--fail-zone", "wets"], "did you mean 'west'"),
        (["--add-machines", "x:a1"], "add_machines"),
        (["--max-moves", "some"], "expected a whole number of containers"),
        (["--min-gain", "200%"], "expected a share of 0 to 1"),
        (["--max-per", "rak=1"], "did you mean 'rack'"),
        (["--assume", "network=1"], "did you mean 'network_ms'"),
        (["--assume", "network_ms"], "expected NAME=VALUE, such as network_ms=1"),
        (["--assume", "queue=fifo"], "expected one of ps, curve"),
    ],
)
def test_what_makes_no_sense_is_named_before_the_work(folder, capsys, options, message):
    assert main(["plan", str(folder / "shop.json"), *options, *QUICK]) in (1, 2)
    assert message in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_refused_before_the_work(folder, capsys):
    for option in ("--out", "--report", "--rollback-out", "--placement-out"):
        assert main(["plan", str(folder / "shop.json"), option, str(folder / "no" / "file"), *QUICK]) == 1
        assert "cannot write" in capsys.readouterr().err
        assert main(["plan", str(folder / "shop.json"), option, str(folder / "shop.json"), *QUICK]) == 2
        assert "would overwrite the input" in capsys.readouterr().err


def test_a_full_disk_leaves_no_half_file(folder, capsys):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    assert main(["plan", str(folder / "shop.json"), "--out", "/dev/full", *QUICK]) == 1
    assert "No space left" in capsys.readouterr().err


@pytest.mark.parametrize("tick", [1, 2, 5, 20])
def test_ctrl_c_at_any_moment_keeps_the_best_so_far(folder, tick):
    shop, ticks = bp.read(folder / "shop.json"), []

    def interrupt(_):
        ticks.append(1)
        if len(ticks) == tick:
            os.kill(os.getpid(), signal.SIGINT)

    answer = bp.plan(shop, seconds=4, threads=1, progress=interrupt)
    assert answer.interrupted == (len(ticks) >= tick)
    assert answer.migration.complete
    assert answer.figures.after.overload <= answer.figures.before.overload
    assert not bp.check(answer.after, before=shop.placement).violations
