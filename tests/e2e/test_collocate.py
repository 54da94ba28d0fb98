"""`collocate` as a user meets it."""

import copy
import inspect
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from bayplan.cli import collocate
from bayplan.cli.main import main
from bayplan.decide.collocate import COLLOCATORS
from bayplan.formats import read, read_placement

DETAILS = {"gained", "moved_share", "unplaced"}
RASA = Path(__file__).parents[2] / "examples" / "rasa.json"
QUICK = ["--method", "k8s-plus", "--seconds", "5"]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Two machines; a pair of services that talk stands apart, a third one is alone."""
    return native(tmp_path, {})


def native(folder: Path, changes: dict) -> Path:
    both = ["m", "n"]
    workloads = [
        {"name": "web", "request": {"cpu": 2}, "containers": 2, "on": ["m", "m"]},
        {"name": "cart", "request": {"cpu": 2}, "containers": 2, "on": ["n", "n"]},
        {"name": "db", "request": {"cpu": 1}, "containers": 2, "on": both},
    ]
    document = {
        "bayplan": 1,
        "resources": {"cpu": {}},
        "machines": [{"name": name, "capacity": {"cpu": 6}} for name in both],
        "workloads": workloads,
        "traffic": [["web", "cart", 9.0], ["cart", "db", 1.0]],
    }
    file = folder / "shop.json"
    file.write_text(json.dumps({**document, **changes}), encoding="utf-8")
    return file


def rasa(folder: Path, *place: str | int, value: object) -> Path:
    """The example cluster with one value changed."""
    document = copy.deepcopy(json.loads(RASA.read_text(encoding="utf-8")))
    part = document
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    file = folder / "rasa.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def answer_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    capsys.readouterr()
    assert main(["collocate", *arguments, "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_help_says_what_every_method_does():
    lines = inspect.getdoc(collocate.collocate).splitlines()
    told = {line[2:].split(":")[0] for line in lines if line.startswith("- ")}
    assert told == set(COLLOCATORS)


def test_services_that_talk_come_together(shop, tmp_path, capsys):
    out = tmp_path / "new.json"
    answer = answer_of(capsys, str(shop), "--method", "best", "--seconds", "2", "--out", str(out))
    before = read(shop)
    after = read_placement(out, before.cluster)
    assert answer["details"].keys() == DETAILS
    assert answer["before"]["affinity"] == pytest.approx(0.05)
    assert answer["score"]["affinity"] == pytest.approx(1.0) == 0.05 + answer["details"]["gained"]
    assert answer["moved"] == len(after.moved_from(before.placement)) == 2
    assert answer["details"]["moved_share"] == pytest.approx(2 / 6)
    assert main(["check", str(shop), "--placement", str(out), "--quiet"]) == 0


def test_people_read_what_is_gained_for_which_moves(shop, capsys):
    assert main(["collocate", str(shop), *QUICK, "--quiet"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "of 6 containers move" in said and "affinity 0.05 -> " in said


def test_a_bound_and_its_gap_are_said_if_asked(shop, capsys):
    answer = answer_of(capsys, str(shop), "--method", "best", "--seconds", "4", "--bound")
    assert answer["bound"] >= answer["score"]["affinity"] - 1e-9
    assert answer["gap"] == pytest.approx(answer["bound"] / answer["score"]["affinity"] - 1, abs=1e-9)


def test_nothing_moves_below_the_least_gain_and_the_reason_is_said(shop, capsys):
    answer = answer_of(capsys, str(shop), *QUICK, "--min-gain", "99%")
    assert (answer["moved"], answer["details"]["gained"]) == (0, 0.0)
    assert any("less than 0.99" in note for note in answer["notes"]) and answer["left_out"] == []


def test_stateful_workloads_stay_pinned_and_moves_are_capped(shop, tmp_path, capsys):
    out = tmp_path / "new.json"
    arguments = ["--method", "best", "--seconds", "2", "--freeze", "web", "--max-moves", "1", "--out", str(out)]
    answer = answer_of(capsys, str(shop), *arguments)
    after = read_placement(out, read(shop).cluster)
    assert answer["moved"] <= 1
    assert after.machine_of[:2].tolist() == [0, 0]


def test_priorities_change_what_is_worth_most(shop, capsys):
    answer = answer_of(capsys, str(shop), "--method", "original", "--priority", "db=81")
    assert answer["before"]["affinity"] == pytest.approx(81 * 0.5 / 90)


def test_the_report_has_before_and_after_and_the_heaviest_pairs(shop, tmp_path):
    page = tmp_path / "page.html"
    assert main(["collocate", str(shop), *QUICK, "--report", str(page), "--quiet"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "bayplan collocate" in text and "Affinity: which traffic stays on one machine" in text and "web – cart" in text


def test_a_rasa_cluster_gets_a_rasa_solution(tmp_path, capsys):
    out = tmp_path / "new.json"
    answer = answer_of(capsys, str(RASA), *QUICK, "--out", str(out))
    assert set(json.loads(out.read_text(encoding="utf-8"))) == {"10.0.0.1", "10.0.0.2", "10.0.0.3"}
    assert answer["placed"] + answer["details"]["unplaced"] == len(read(RASA).placement.unplaced)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--method", "magic"], "no method 'magic'; expected one of"),
        (["--partition", "halves"], "partition 'halves': expected one of multi-stage"),
        (["--select", "dice"], "select 'dice': expected one of gcn"),
        (["--engine", "steam"], "engine 'steam': expected one of"),
        (["--trivial", "gone"], "trivial 'gone': expected one of refit, pinned"),
        (["--priority", "web"], "--priority 'web': expected NAME=X"),
        (["--priority", "nobody=2"], "no workload is called 'nobody'"),
        (["--priority", "web=-2"], "'-2' is not a number of 0 or more"),
        (["--min-gain", "3"], "--min-gain '3': expected a share"),
        (["--masters", "0"], "--masters"),
        (["--masters", "many"], "--masters"),
        (["--move-price", "-1"], "--move-price"),
        (["--move-price", "nan"], "--move-price"),
        (["--move-price", "inf"], "move price inf: expected a number of 0 or more"),
        (["--max-moves", "few"], "at most 'few' moves"),
        (["--freeze", "nobody"], "nothing to freeze is called 'nobody'"),
        (["--method", "rasa", "--weight", "balance=1"], "method 'rasa' looks at gained affinity alone"),
        (["--weight", "fun=1"], "no term 'fun'; expected one of"),
        (["--out", "-"], "--out '-': stdout is for the answer"),
    ],
)
def test_a_wrong_wish_is_a_usage_fault_that_names_it(options, said, shop, capsys):
    assert main(["collocate", str(shop), *options]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("method", COLLOCATORS)
def test_without_traffic_nothing_moves_and_people_are_told(method, tmp_path, capsys):
    file = native(tmp_path, {"traffic": []})
    assert main(["collocate", str(file), "--method", method, "--seconds", "2", "--engine", "here", "--json"]) == 0
    said = capsys.readouterr()
    answer = json.loads(said.out)
    assert (answer["moved"], answer["score"]["affinity"], answer["details"]["unplaced"]) == (0, 0.0, 0)
    assert "there is no affinity to gain" in said.err


@pytest.mark.parametrize("method", COLLOCATORS)
def test_one_service_alone_stays_where_it_is(method, tmp_path, capsys):
    alone = [{"name": "web", "request": {"cpu": 2}, "containers": 2, "on": ["m", "m"]}]
    file = native(tmp_path, {"workloads": alone, "traffic": []})
    answer = answer_of(capsys, str(file), "--method", method, "--seconds", "2", "--engine", "here")
    assert (answer["moved"], answer["details"]["unplaced"]) == (0, 0)


@pytest.mark.parametrize("method", COLLOCATORS)
def test_of_a_service_larger_than_the_cluster_the_rest_is_left_out_with_the_reason(method, tmp_path, capsys):
    huge = {"name": "huge", "request": {"cpu": 5}, "containers": 9, "on": [None] * 9}
    pair = {"name": "web", "request": {"cpu": 1}, "containers": 2, "on": ["m", "n"]}
    file = native(tmp_path, {"workloads": [huge, pair], "traffic": [["web", "huge", 1.0]]})
    answer = answer_of(capsys, str(file), "--method", method, "--seconds", "2", "--engine", "here")
    assert answer["details"]["unplaced"] >= 7 and answer["placed"] + answer["details"]["unplaced"] == 9
    reason = next(left["reason"] for left in answer["left_out"] if left["name"] == "huge")
    assert method == "original" or "short of cpu" in reason


@pytest.mark.parametrize("method", COLLOCATORS)
def test_a_service_whose_only_machines_are_too_small_is_left_out(method, tmp_path, capsys):
    machines = [{"name": "m", "capacity": {"cpu": 6}}, {"name": "n", "capacity": {"cpu": 1}}]
    waiting = {"name": "web", "request": {"cpu": 2}, "containers": 1, "on": [None]}
    runs = {"name": "cart", "request": {"cpu": 1}, "containers": 1, "on": ["m"]}
    changes = {
        "machines": machines,
        "machine_sets": {"small": ["n"]},
        "workloads": [waiting, runs],
        "traffic": [["web", "cart", 1.0]],
        "rules": [{"rule": "capacity"}, {"rule": "allow", "workloads": ["web"], "machines": "small"}],
    }
    answer = answer_of(capsys, str(native(tmp_path, changes)), "--method", method, "--seconds", "2", "--engine", "here")
    assert answer["details"]["unplaced"] == 1
    assert "not allowed" in next(left["reason"] for left in answer["left_out"] if left["name"] == "web")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"traffic": [["web", "web", 1.0]]}, "E1117"),
        ({"traffic": [["web", "cart", 0]]}, "E1110"),
        ({"traffic": [["web", "cart", -1]]}, "E1102"),
        ({"traffic": [["web", "cart", float("nan")]]}, "E1103"),
        ({"machine_sets": {"none": []}, "rules": [{"rule": "allow", "workloads": ["web"], "machines": "none"}]}, "E1307"),
    ],
)
def test_bad_traffic_and_empty_lists_are_numbered_faults(changes, said, tmp_path, capsys):
    assert main(["collocate", str(native(tmp_path, changes)), *QUICK]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("TrafficList", 0, "Service2"), "cart", "E1605"),
        (("TrafficList", 0, "Traffic"), -1, "E1102"),
        (("TrafficList", 0, "Traffic"), float("nan"), "E1103"),
        (("ServiceList", 0, "CompatibleMachines"), [], "E1111"),
    ],
)
def test_bad_traffic_and_empty_lists_of_a_rasa_cluster_are_numbered_faults(place, value, said, tmp_path, capsys):
    assert main(["collocate", str(rasa(tmp_path, *place, value=value)), *QUICK]) == 1
    assert said in capsys.readouterr().err


def test_the_same_pair_twice_is_added_up_and_said(tmp_path, capsys):
    file = native(tmp_path, {"traffic": [["web", "cart", 4.0], ["cart", "web", 5.0], ["cart", "db", 1.0]]})
    assert main(["collocate", str(file), "--method", "original", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["before"]["affinity"] == pytest.approx(0.05)
    assert "parallel ones were added up" in said.err


def test_a_pair_without_traffic_in_a_rasa_cluster_is_left_out_and_said(tmp_path, capsys):
    file = rasa(tmp_path, "TrafficList", 1, "Traffic", value=0)
    assert main(["collocate", str(file), "--method", "original", "--json"]) == 0
    assert "1 pairs without traffic left out" in capsys.readouterr().err


def test_an_interrupt_keeps_the_best_so_far_and_says_so(shop, tmp_path, capsys, monkeypatch):
    def interrupted(problem, options, **how):
        os.kill(os.getpid(), signal.SIGINT)
        return COLLOCATORS["original"](problem, options, **how)

    monkeypatch.setattr("bayplan.decide.collocate.COLLOCATORS", {"slow": interrupted})
    out = tmp_path / "best.json"
    assert main(["collocate", str(shop), "--method", "slow", "--out", str(out)]) == 0
    assert "interrupted: this is the best so far" in capsys.readouterr().err
    assert np.array_equal(read_placement(out, read(shop).cluster).machine_of, read(shop).placement.machine_of)
