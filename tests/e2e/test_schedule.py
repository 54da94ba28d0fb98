"""`bayplan schedule` as a user meets it: every option, every edge, bad input, capacity planning, the way back through `check`."""

import json
import signal
from pathlib import Path

import pytest

from bayplan.api.requests import sweep_points
from bayplan.check import check_schedule
from bayplan.cli.main import main
from bayplan.decide.schedule import SCHEDULERS
from bayplan.formats import read_served
from bayplan.formats.files import read_timed
from bayplan.model import Fleet

EXAMPLES = Path(__file__).parents[2] / "examples"
CSV = """name,start,end,value,priority,cpu,memory
a,0,10,1,gold,0.6,0.1
b,0,10,1,tin,0.6,0.1
c,10,20,1,tin,0.6,0.6
d,5,15,3,gold,0.3,0.3
e,0,20,1,tin,0.1,0.7
"""


@pytest.fixture
def day(tmp_path: Path) -> Path:
    """A dozen requests that do not all fit on one machine."""
    file = tmp_path / "day.csv"
    file.write_text(CSV)
    return file


def ask(capsys, *arguments: object, code: int = 0) -> dict:
    assert main(["schedule", *map(str, arguments), "--json", "--quiet"]) == code, capsys.readouterr().err
    said = capsys.readouterr()
    return json.loads(said.out) if said.out else {"error": said.err}


def refused(capsys, *arguments: object, code: int = 2) -> str:
    assert main(["schedule", *map(str, arguments), "--quiet"]) == code
    said = capsys.readouterr()
    assert said.out == "" and "Traceback" not in said.err
    return said.err


# ---- answers -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SCHEDULERS)
def test_every_method_answers_and_the_referee_agrees(method, day, tmp_path, capsys):
    out = tmp_path / "served.json"
    answer = ask(capsys, day, "--machines", 1, "--method", method, "--seconds", 1 if method == "local" else 5, "--out", out)
    assert (answer["method"], answer["details"]["requests"], answer["details"]["machines"]) == (method, 5, 1)
    assert answer["score"]["value"] <= answer["bound"]
    requests = read_timed(day).requests
    schedule = read_served(out, requests)
    assert len(schedule.served) == answer["details"]["served"] == answer["placed"]
    assert check_schedule(requests, schedule, Fleet.alike(1, requests.capacity)) == ()
    assert requests.value[schedule.served].sum() == answer["score"]["value"]
    assert main(["check", str(day), "--served", str(out), "--machines", "1", "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert judged["valid"] and judged["score"]["value"] == answer["score"]["value"]


def test_the_object_has_every_key(day, capsys):
    answer = ask(capsys, day, "--machines", 1, "--seed", 3, "--threads", 1)
    assert answer["seed"] == 3
    keys = {"method", "status", "score", "bound", "gap", "seconds", "seed", "placed", "moved", "left_out"}
    assert keys <= answer.keys()
    assert {"load_factor", "utilisation", "classes", "kinds", "narrow", "wide", "resources"} <= answer["details"].keys()
    assert {"verb", "seconds", "solve_seconds", "files"} <= answer.keys()
    assert {row["name"]: row["requests"] for row in answer["details"]["classes"]} == {"gold": 2, "tin": 3}
    # (0.7/2*10 + 0.7/2*10 + 1.2/2*10 + 0.6/2*10 + 0.8/2*20) / (1 * 20), [Cradle] (5)
    assert answer["details"]["load_factor"] == pytest.approx((3.5 + 3.5 + 6 + 3 + 8) / 20)


def test_the_screen_says_what_matters(day, capsys):
    assert main(["schedule", str(day), "--machines", "1"]) == 0
    said = capsys.readouterr()
    for words in ("value", "served", "proven bound", "load factor", "utilisation", "By class", "gold", "Not served"):
        assert words in said.out
    assert "note: a machine has 1 of each resource" in said.err


def test_a_fleet_is_served_kind_by_kind(tmp_path, capsys):
    answer = ask(capsys, EXAMPLES / "requests.json", "--fleet", EXAMPLES / "fleet.json", "--out", tmp_path / "s.json")
    assert [row["name"] for row in answer["details"]["kinds"]] == ["small", "large"]
    assert answer["details"]["served"] == 3
    check = ["check", str(EXAMPLES / "requests.json"), "--served", str(tmp_path / "s.json"), "--fleet"]
    assert main([*check, str(EXAMPLES / "fleet.json")]) == 0
    assert main(["schedule", str(EXAMPLES / "requests.json"), "--fleet", str(EXAMPLES / "fleet.json"), "--quiet"]) == 0
    assert "By kind of machine" in capsys.readouterr().out


def test_the_fleet_of_the_file_is_used_if_nothing_else_is_said(tmp_path, capsys):
    document = json.loads((EXAMPLES / "requests.json").read_text())
    document["fleet"] = json.loads((EXAMPLES / "fleet.json").read_text())["fleet"]
    file = tmp_path / "r.json"
    file.write_text(json.dumps(document))
    assert ask(capsys, file)["details"]["machines"] == 3
    assert ask(capsys, file, "--machines", 2)["details"]["machines"] == 2
    assert main(["convert", str(file), "--out", str(tmp_path / "again.json"), "--quiet"]) == 0
    assert read_timed(tmp_path / "again.json").fleet.size == 3


def test_profits_change_who_is_served(day, capsys):
    gold = ask(capsys, day, "--machines", 1, "--profit", "gold=10", "--profit", "tin=1")
    assert {row["name"]: row["served"] for row in gold["details"]["classes"]}["gold"] == 2
    tin = ask(capsys, day, "--machines", 1, "--profit", "gold=0")
    assert {row["name"]: row["value"] for row in tin["details"]["classes"]}["gold"] == 0


def test_weights_are_one_or_the_area(day, capsys):
    assert ask(capsys, day, "--machines", 1, "--weights", "one")["details"]["requested_value"] == 5
    assert ask(capsys, day, "--machines", 1, "--weights", "area")["details"]["requested_value"] == pytest.approx(24)


def test_a_larger_machine_serves_all(day, capsys):
    assert ask(capsys, day, "--machines", 1, "--capacity", "cpu=4", "--capacity", "memory=2")["details"]["served"] == 5


def test_a_horizon_cuts_off_and_leaves_out(day, capsys):
    answer = ask(capsys, day, "--machines", 1, "--horizon", 10)
    assert (answer["details"]["requests"], answer["details"]["span"]) == (4, 10)


def test_without_a_bound_there_is_no_gap(day, capsys):
    answer = ask(capsys, day, "--machines", 1, "--no-bound")
    assert answer["bound"] is None and answer["gap"] is None


def test_online_learns_from_a_forecast(day, capsys):
    answer = ask(capsys, day, "--machines", 1, "--method", "online", "--forecast", day, "--seconds", 5)
    assert answer["details"]["served"] >= 1


def test_a_page_is_written(day, tmp_path, capsys):
    ask(capsys, day, "--machines", 1, "--report", tmp_path / "p.html", "--profit", "gold=2")
    page = (tmp_path / "p.html").read_text()
    for words in ("load over time", "Which classes are served?", "--profit gold=2", "Not served, and why"):
        assert words in page


def test_an_interrupted_search_gives_its_best_so_far(day, tmp_path, capsys, monkeypatch):
    def interrupted(*arguments, **more):
        signal.raise_signal(signal.SIGINT)
        return SCHEDULERS["local"](*arguments, **more)

    monkeypatch.setattr("bayplan.decide.schedule.SCHEDULERS", {**SCHEDULERS, "local": interrupted})
    out = tmp_path / "served.json"
    assert main(["schedule", str(day), "-k", "1", "-m", "local", "--json", "--quiet", "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["interrupted"] and "best so far" in said.err
    assert json.loads(out.read_text())["served"]


# ---- edges ---------------------------------------------------------------------------------------------------------------------


def table(tmp_path: Path, *rows: str, head: str = "name,start,end,value,cpu") -> Path:
    file = tmp_path / "edge.csv"
    file.write_text("\n".join([head, *rows]) + "\n")
    return file


EDGES = {  # rows, machines, how many are served, value
    "touching intervals do not meet": (["a,0,5,1,1", "b,5,9,1,1"], 1, 2, 2),
    "equal intervals and ties": (["a,0,5,1,0.6", "b,0,5,1,0.6", "c,0,5,1,0.6"], 2, 2, 2),
    "zero demand": (["a,0,5,1,0", "b,0,5,1,0", "c,0,5,1,0.2"], 1, 3, 3),
    "as many machines as requests": (["a,0,5,1,1", "b,0,5,1,1"], 2, 2, 2),
    "more machines than requests": (["a,0,5,1,1", "b,0,5,1,1"], 9, 2, 2),
    "no machines": (["a,0,5,1,1", "b,0,5,1,1"], 0, 0, 0),
    "unsorted": (["b,5,9,1,1", "c,2,5,1,1", "a,0,2,1,1"], 1, 3, 3),
    "nothing is asked": ([], 3, 0, 0),
}


@pytest.mark.parametrize("method", ["cradle+", "cradle", "bin-packing", "spread", "online", "local"])
@pytest.mark.parametrize("edge", EDGES)
def test_an_edge_case_is_right(edge, method, tmp_path, capsys):
    rows, machines, served, value = EDGES[edge]
    answer = ask(
        capsys, table(tmp_path, *rows), "--machines", machines, "--method", method, "--seconds", 0.4 if method == "local" else 5
    )
    assert (answer["details"]["served"], answer["score"]["value"]) == (served, value)


def test_a_demand_above_every_machine_is_refused_with_its_reason(tmp_path, capsys):
    answer = ask(capsys, table(tmp_path, "huge,0,5,9,1.5", "b,0,5,1,1"), "--machines", 3)
    assert answer["left_out"][0] == {"name": "huge", "reason": "larger than every machine in cpu"}
    assert (answer["details"]["served"], answer["details"]["too_large"]) == (1, 1)


def test_a_value_of_zero_is_no_fault_and_a_negative_one_is(tmp_path, capsys):
    assert ask(capsys, table(tmp_path, "a,0,5,0,1", "b,0,5,1,1"), "--machines", 1)["score"]["value"] == 1
    assert "E1102 line '2': value is negative" in refused(capsys, table(tmp_path, "a,0,5,-1,1"), "--machines", 1, code=1)


def test_an_open_end_lasts_until_the_horizon(tmp_path, capsys):
    file = table(tmp_path, "a,0,,1,1", "b,3,8,1,1", "c,1,3,1,1")
    assert main(["schedule", str(file), "--machines", "2"]) == 0
    assert "note: 1 request has not ended: taken to run until the horizon, 8" in capsys.readouterr().err
    assert ask(capsys, file, "--machines", 1)["details"]["served"] == 2


# ---- bad input -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "does not say how many machines there are; expected --machines K or --fleet FILE"),
        (["--machines", "2", "--fleet", str(EXAMPLES / "fleet.json")], "exclude each other"),
        (["--machines", "2000000"], "expected 0 to 1,000,000"),
        (["--machines", "1", "--method", "magic"], "no method 'magic'; expected one of cradle+"),
        (["--machines", "1", "--profit", "silver=2"], "no class 'silver'; expected one of gold, tin"),
        (["--machines", "1", "--profit", "gold"], "expected CLASS=VALUE"),
        (["--machines", "1", "--profit", "gold=many"], "expected a number of 0 or more"),
        (["--machines", "1", "--profit", "gold=-1"], "expected a number of 0 or more"),
        (["--machines", "1", "--profit", "gold=1e300"], "at most 1e+12"),
        (["--machines", "1", "--profit", "gold=1", "--profit", "gold=2"], "each name once"),
        (["--machines", "1", "--weights", "gold"], "no weights 'gold'; expected one of given, one, area"),
        (["--machines", "1", "--capacity", "gpu=2"], "no resource 'gpu'; expected one of cpu, memory"),
        (["--machines", "1", "--capacity", "cpu=many"], "expected an amount such as"),
        (["--machines", "1", "--capacity", "cpu=-1"], "is negative"),
        (["--machines", "1", "--horizon", "nan"], "--horizon nan: expected a time"),
        (["--machines", "1", "--forecast", "x.csv"], "--forecast is for the method online"),
        (["--machines", "1", "--resume", "x.json"], "expected --sweep or --serve too"),
        (["--sweep", "5"], "expected FEW:MANY or FEW:MANY:STEP"),
        (["--sweep", "9:5"], "expected FEW:MANY"),
        (["--sweep", "1:5:0"], "expected FEW:MANY"),
        (["--sweep", "1:5", "--machines", "3"], "expected neither --machines nor --fleet"),
        (["--serve", "1.5"], "expected a share above 0 and at most 1"),
        (["--machines", "1", "--out", "-"], "expected a file"),
    ],
)
def test_wrong_options_are_refused_with_what_was_expected(arguments, words, day, capsys):
    assert words in refused(capsys, day, *arguments)


def test_profits_need_classes(capsys):
    assert "the requests have no classes" in refused(capsys, EXAMPLES / "requests.json", "--machines", 1, "--profit", "a=1")


def test_a_forecast_of_other_resources_is_refused(day, tmp_path, capsys):
    other = table(tmp_path, "a,0,1,1,1")
    said = refused(capsys, day, "--machines", 1, "--method", "online", "--forecast", other)
    assert "is of cpu; expected the resources of the input, cpu, memory" in said


def test_an_answer_never_goes_over_its_input(day, capsys):
    assert "would overwrite the input" in refused(capsys, day, "--machines", 1, "--out", day)
    assert day.read_text() == CSV


def test_a_cluster_is_called_by_its_name(capsys):
    said = refused(capsys, EXAMPLES / "shop.yaml", "--machines", 1, code=1)
    assert "E1011" in said and "(a cluster); expected timed requests" in said


def test_a_broken_fleet_is_named(day, tmp_path, capsys):
    (tmp_path / "f.json").write_text('{"fleet": [{"kind": "x", "machines": -1, "capacity": {"cpu": 1}}]}')
    assert "E1102" in refused(capsys, day, "--fleet", tmp_path / "f.json", code=1)


# ---- check and show ------------------------------------------------------------------------------------------------------------


def test_check_names_what_an_answer_breaks(day, tmp_path, capsys):
    answer = tmp_path / "served.json"
    answer.write_text('{"served": {"a": "m0", "b": "m0", "c": "m7"}}')
    assert main(["check", str(day), "--served", str(answer), "--machines", "2", "--quiet"]) == 3
    said = capsys.readouterr().out
    assert "machine 0: " in said and "request 'c' is served on machine 7; there are 2" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--machines", "2"], "--machines goes with --served FILE"),
        (["--served", "s.json", "--placement", "p.json"], "--served and --placement exclude each other"),
    ],
)
def test_options_of_check_that_do_not_go_together_are_refused(options, words, day, capsys):
    assert main(["check", str(day), *options]) == 2
    assert words in capsys.readouterr().err


def test_show_says_what_is_asked_for_and_when(day, capsys):
    assert main(["show", str(day), "--json", "--quiet"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["load"] == pytest.approx(24 / 20)
    assert (said["narrow"], said["wide"]) == (1, {"cpu": 3, "memory": 2})
    assert said["resources"][0]["peak"] == pytest.approx(1.6)
    assert said["busiest"][0]["from"] == 5
    assert main(["show", str(day), "--quiet"]) == 0
    assert "Busiest times" in capsys.readouterr().out
    assert main(["show", str(EXAMPLES / "admission.json"), "--quiet"]) == 0
    assert "times all zones" in capsys.readouterr().out
    assert main(["show", str(day), "--report", "x.html"]) == 2


# ---- capacity planning ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def many(tmp_path: Path) -> Path:
    file = tmp_path / "many.json"
    assert main(["generate", "requests", "--n", "300", "--machines", "6", "--load", "3", "--out", str(file), "--quiet"]) == 0
    return file


def test_a_sweep_says_share_value_bound_and_worth(many, tmp_path, capsys):
    out, page = tmp_path / "sweep.json", tmp_path / "sweep.html"
    found = ask(capsys, many, "--sweep", "1:9:4", "--seconds", 20, "--out", out, "--report", page)
    points = found["details"]["sweep"]
    assert [point["machines"] for point in points] == [1, 5, 9]
    assert all(point["value"] <= point["bound"] for point in points)
    assert points[0]["one_more_adds"] == pytest.approx((points[1]["value"] - points[0]["value"]) / 4)
    assert points[-1]["one_more_adds"] is None
    assert "What one machine more is worth" in page.read_text()
    again = ask(capsys, many, "--sweep", "1:9:4", "--resume", out, "--seconds", 0)
    assert [point["seconds"] for point in again["details"]["sweep"]] == [point["seconds"] for point in points]
    other = refused(capsys, many, "--sweep", "1:9", "--resume", out, "-m", "spread")
    assert "is a sweep of something else (method differ)" in other
    assert "is no sweep" in refused(capsys, many, "--sweep", "1:9", "--resume", many)


def test_the_fewest_machines_serve_the_share_and_one_less_does_not(many, capsys):
    found = ask(capsys, many, "--serve", 0.8, "--seconds", 20, "--no-bound")["details"]["fewest"]
    machines = found["machines"]
    assert found["served"] >= 0.8 > found["one_less"]
    assert ask(capsys, many, "--machines", machines, "--no-bound")["score"]["served"] >= 0.8
    assert ask(capsys, many, "--machines", machines - 1, "--no-bound")["score"]["served"] < 0.8


def test_no_schedule_needs_fewer_machines_than_what_is_proven(many, capsys):
    found = ask(capsys, many, "--sweep", "1:20:5", "--serve", 0.9, "--seconds", 30)["details"]["fewest"]
    assert 1 <= found["at_least"] <= found["machines"]


def test_a_share_that_cannot_be_served_is_a_no(tmp_path, capsys):
    file = table(tmp_path, "huge,0,5,9,1.5", "b,0,5,1,1")
    found = ask(capsys, file, "--serve", 0.9, "--seconds", 5, code=3)
    assert found["details"]["fewest"]["machines"] is None and found["details"]["fewest"]["served"] == 0.5
    assert main(["schedule", str(file), "--serve", "0.9", "--quiet"]) == 3
    assert "not reached" in capsys.readouterr().out


def test_an_interrupted_sweep_keeps_its_points(many, tmp_path, capsys, monkeypatch):
    solve_one, tried = sweep_points.sweep_point, []

    def interrupted(inputs, machines, **more):
        tried.append(machines)
        if len(tried) == 2:
            signal.raise_signal(signal.SIGINT)
        return solve_one(inputs, machines, **more)

    monkeypatch.setattr(sweep_points, "sweep_point", interrupted)
    out = tmp_path / "sweep.json"
    assert main(["schedule", str(many), "--sweep", "1:9:2", "--no-bound", "--json", "--quiet", "--out", str(out)]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["interrupted"] and [point["machines"] for point in found["details"]["sweep"]] == [1, 9]
    assert found["details"]["not_tried"] == 3 and "cut short" in said.err
    assert len(json.loads(out.read_text())["sweep"]) == 2
