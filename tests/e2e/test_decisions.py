"""`place` and `rebalance` as a user meets them."""

import inspect
import json
import os
import signal
from pathlib import Path

import pytest
from tests.naive.gmrp import gmrp_cost

from bayplan.cli import place, rebalance
from bayplan.cli.console import clock
from bayplan.cli.main import main
from bayplan.decide.place import PLACERS
from bayplan.decide.rebalance import REBALANCERS
from bayplan.formats import read, read_placement

KEYS = {"method", "status", "score", "bound", "gap", "seconds", "seed", "placed", "moved", "left_out"}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.json"
    assert main(["generate", "boutique", "--out", str(file), "--quiet"]) == 0
    return file


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Two machines, three processes, the first machine crowded; its assignment stands beside it under another name."""
    machines = ["0 0 10 6 0 1", "0 0 10 6 1 0"]
    services = ["1 0", "1 0", "1 0"]
    processes = ["0 4 1", "1 3 1", "2 2 1"]
    text = ["1", "0 10", "2", *machines, "3", *services, "3", *processes, "0", "1 1 1"]
    file = tmp_path / "crowded.txt"
    file.write_text("\n".join(text), encoding="utf-8")
    (tmp_path / "first.txt").write_text("0 0 0", encoding="utf-8")
    return file


def answer_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    capsys.readouterr()
    assert main([*arguments, "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("command", "methods"), [(place.place, PLACERS), (rebalance.rebalance, REBALANCERS)])
def test_the_help_says_what_every_method_does(command, methods):
    lines = inspect.getdoc(command).splitlines()
    told = {name.strip() for line in lines if line.startswith("- ") for name in line[2:].split(":")[0].split(",")}
    assert told == set(methods)


def test_place_gives_every_container_a_machine_and_moves_none(shop, tmp_path, capsys):
    out = tmp_path / "placement.json"
    answer = answer_of(capsys, "place", str(shop), "--method", "ca-wfd", "--out", str(out))
    before = read(shop)
    after = read_placement(out, before.cluster)
    assert answer.keys() >= KEYS
    assert (answer["placed"], answer["moved"], answer["left_out"]) == (len(before.placement.unplaced), 0, [])
    assert len(after.unplaced) == 0 and len(after.moved_from(before.placement)) == 0
    assert main(["check", str(shop), "--placement", str(out), "--quiet"]) == 0


def test_place_tells_people_what_is_left_out_and_why(tmp_path, capsys):
    file = tmp_path / "full.yaml"
    file.write_text(
        "bayplan: 1\nresources: {cpu: {}}\nmachines: [{name: m, capacity: {cpu: 3}}]\n"
        "workloads: [{name: web, request: {cpu: 2}, containers: 2, on: [m, null]}]\n",
        encoding="utf-8",
    )
    assert main(["place", str(file), "--method", "enf"]) == 0
    assert "0/1 machines fit (1 short of cpu)" in " ".join(capsys.readouterr().out.split())


def test_place_reports_before_and_after(shop, tmp_path):
    page = tmp_path / "page.html"
    assert main(["place", str(shop), "--method", "ha", "--report", str(page), "--quiet"]) == 0
    assert "bayplan place" in page.read_text(encoding="utf-8")


def test_rebalance_lowers_the_objective_within_the_churn_budget(shop, tmp_path, capsys):
    out = tmp_path / "new.json"
    before = answer_of(capsys, "show", str(shop))["score"]["total"]
    arguments = ["--method", "greedy", "--seconds", "2", "--max-moves", "3", "--freeze", "frontend*", "--out", str(out)]
    answer = answer_of(capsys, "rebalance", str(shop), *arguments)
    after = read_placement(out, read(shop).cluster)
    moved = after.moved_from(read(shop).placement)
    assert answer.keys() >= KEYS
    assert answer["score"]["total"] <= before
    assert len(moved) == answer["moved"] <= 3
    assert not any(read(shop).cluster.containers.name[c].startswith("frontend") for c in moved)


def test_rebalance_solves_a_gmrp_model_whose_assignment_has_another_name(model, tmp_path, capsys):
    first, out = tmp_path / "first.txt", tmp_path / "new.txt"
    arguments = ["--start", str(first), "--objective", "gmrp", "--seconds", "2", "--out", str(out)]
    answer = answer_of(capsys, "rebalance", str(model), *arguments)
    assert answer["score"]["gmrp"] == gmrp_cost(model, first, out) < gmrp_cost(model, first)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["place", "--method", "magic"], "no method 'magic'; expected one of best, ca-wfd"),
        (["rebalance", "--method", "magic"], "no method 'magic'; expected one of"),
        (["rebalance", "--weight", "fun=1"], "no term 'fun'; expected one of"),
        (["rebalance", "--freeze", "nobody-*"], "nothing to freeze is called 'nobody-*'"),
        (["rebalance", "--max-moves", "few"], "at most 'few' moves"),
        (["rebalance", "--delta", "2"], "delta is 2.0; expected a share"),
        (["rebalance", "--safety-over-mean", "0"], "safety_over_mean is 0.0; expected a finite factor above 0"),
        (["place", "--out", "-"], "--out '-': stdout is for the answer"),
    ],
)
def test_a_wrong_wish_is_a_usage_fault_that_names_it(arguments, said, shop, capsys):
    command, *options = arguments
    assert main([command, str(shop), *options]) == 2
    assert said in capsys.readouterr().err


def test_an_interrupt_keeps_the_best_so_far_and_says_so(shop, tmp_path, capsys, monkeypatch):
    """A method that is interrupted half-way: the answer is written all the same."""

    def interrupted(problem, options, **how):
        os.kill(os.getpid(), signal.SIGINT)
        return PLACERS["ca-wfd"](problem, options, **how)

    monkeypatch.setattr("bayplan.decide.place.PLACERS", {"slow": interrupted})
    out = tmp_path / "best.json"
    assert main(["place", str(shop), "--method", "slow", "--out", str(out)]) == 0
    assert "interrupted: this is the best so far" in capsys.readouterr().err
    assert len(read_placement(out, read(shop).cluster).unplaced) == 0


def test_seconds_start_with_the_process():
    assert 0 < clock.process_seconds() < 3600
