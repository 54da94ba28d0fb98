"""`pack` as a user meets it."""

import inspect
import json
import os
import shlex
import shutil
import signal
from pathlib import Path

import pytest

import bayplan.api.pack as api_pack
from bayplan.cli import pack as command
from bayplan.cli.main import main
from bayplan.decide.pack import PACKERS
from bayplan.decide.pack.pattern_generation import PatternMaster
from bayplan.formats import read, read_placement
from bayplan.model import Confidence
from bayplan.score.confidence import ucac, violation_probability
from bayplan.score.packing import FEWEST_DRAWS

EXAMPLES = Path(__file__).parents[2] / "examples"
DAY = """
bayplan: 1
name: day
resources: {cpu: {scale: 1000, unit: cores}, memory: {unit: bytes}}
machines:
  - {name: m-0, capacity: {cpu: 8, memory: 32Gi}}
  - {name: m-1, capacity: {cpu: 8, memory: 32Gi}}
  - {name: m-2, capacity: {cpu: 4, memory: 32Gi}}
workloads:
  - {name: web, request: {memory: 1Gi}, usage: {cpu: {mean: 1, std: 300m}}, limit: {cpu: 2}, containers: 6,
     on: [m-0, m-0, ~, ~, ~, ~]}
  - {name: db, request: {memory: 4Gi}, usage: {cpu: {mean: 2, std: 500m}}, limit: {cpu: 4}, containers: 2}
rules:
  - {rule: capacity, resources: [memory]}
"""
BIG = "  - {name: huge, request: {memory: 1Gi}, usage: {cpu: {mean: 7, std: 3}}, limit: {cpu: 20}, containers: 2}\n"
IDLE = "  - {name: idle, request: {memory: 1Gi}, usage: {cpu: {mean: 0, std: 0}}, limit: {cpu: 1}, containers: 2}\n"
WILD = "  - {name: wild, request: {memory: 1Gi}, usage: {cpu: {mean: 100m, std: 1}}, limit: {cpu: 9}, containers: 1}\n"
CONFIDENT = "  - {rule: confidence, resource: cpu, alpha: 0.95}\n"


def written(tmp_path: Path, more: str = "", rules: str = "") -> Path:
    """The cluster of a day, with more workloads and more rules."""
    file = tmp_path / "day.yaml"
    file.write_text(DAY.replace("rules:\n", f"{more}rules:\n") + rules, encoding="utf-8")
    return file


@pytest.fixture
def day(tmp_path: Path) -> Path:
    return written(tmp_path)


def answer_of(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> dict:
    capsys.readouterr()
    assert main([*map(str, arguments), "--json", "--quiet"]) == code
    return json.loads(capsys.readouterr().out)


def test_the_help_says_what_every_method_does():
    lines = inspect.getdoc(command.pack).splitlines()
    assert {line[2:].split(":")[0] for line in lines if line.startswith("- ")} == set(PACKERS)


@pytest.mark.parametrize("method", PACKERS)
def test_every_method_packs_what_is_unplaced_and_moves_nothing(method, day, tmp_path, capsys):
    out = tmp_path / "packed.json"
    answer = answer_of(capsys, "pack", day, "--confidence", "0.99", "--method", method, "--out", out)
    before = read(day)
    after = read_placement(out, before.cluster)
    details = answer["details"]
    assert answer["score"].keys() == answer["before"].keys() == {"ucac", "machines"}
    assert (answer["placed"], answer["moved"], answer["left_out"], answer["still_violated"]) == (6, 0, [], [])
    assert details["unplaced"] == 0
    assert len(after.unplaced) == 0 and len(after.moved_from(before.placement)) == 0
    assert answer["score"]["ucac"] * 1000 == pytest.approx(ucac(before.cluster, after, 0, alpha=0.99))
    predicted = violation_probability(before.cluster, after, 0)
    assert details["violation"]["predicted"]["largest"] == pytest.approx(predicted.max()) and predicted.max() <= 0.01 + 1e-9
    assert details["violation"]["simulated"]["mean"] == pytest.approx(details["violation"]["predicted"]["mean"], abs=0.003)
    assert details["capacity"]["reserved"] == 20 and details["capacity"]["mean"] == 10


def test_a_bound_is_below_and_the_gap_is_to_it(day, capsys):
    answer = answer_of(capsys, "pack", day, "--confidence", "0.99")
    assert answer["bound"] <= answer["score"]["ucac"]
    assert answer["gap"] == pytest.approx(1 - answer["bound"] / answer["score"]["ucac"])


def test_more_confidence_takes_more_and_limits_take_most(day, capsys):
    limits, *levels = answer_of(capsys, "pack", day, "--confidence", "0.95", "--method", "bf-ucac")["details"]["levels"]
    assert [level["confidence"] for level in levels] == [0.95, 0.99, 0.999, 0.9999]
    taken = [level["ucac"] for level in levels]
    assert taken == sorted(taken) and limits["ucac"] > taken[-1]
    assert all(level["saved"] == limits["machines"] - level["machines"] for level in levels)


def test_what_limits_would_take_is_counted_with_machines_that_are_not_there(tmp_path, capsys):
    file = tmp_path / "tight.yaml"
    file.write_text(DAY.replace("  - {name: m-2, capacity: {cpu: 4, memory: 32Gi}}\n", ""), encoding="utf-8")
    limits, *levels = answer_of(capsys, "pack", file, "--confidence", "0.99")["details"]["levels"]
    assert (limits["machines"], limits["left_out"]) == (3, 0)  # of two
    assert [level["saved"] for level in levels] == [1, 1, 1]


def test_the_option_replaces_the_confidence_of_the_input(tmp_path, capsys):
    file = written(tmp_path, rules=CONFIDENT)
    own, other = (answer_of(capsys, "pack", file, *more)["details"]["capacity"] for more in ([], ["--confidence", "0.9999"]))
    assert (own["confidence"], other["confidence"]) == (0.95, 0.9999)
    assert own["ucac"] < other["ucac"]


def test_a_service_may_ask_for_more_confidence(day, tmp_path, capsys):
    out = tmp_path / "packed.json"
    plain = answer_of(capsys, "pack", day, "--confidence", "0.9", "--method", "bi-level")
    strict = answer_of(capsys, "pack", day, "--confidence", "0.9", "--confidence-of", "db=0.99999", "--out", out)
    assert strict["score"]["ucac"] > plain["score"]["ucac"]
    snapshot = read(day)
    after = read_placement(out, snapshot.cluster)
    databases = {int(after.machine_of[c]) for c, name in enumerate(snapshot.cluster.containers.name) if name.startswith("db")}
    odds = violation_probability(snapshot.cluster, after, 0)
    assert all(odds[m] <= 1e-5 * (1 + 1e-6) for m in databases)


def test_another_resource_may_count(tmp_path, capsys):
    file = written(tmp_path, rules=CONFIDENT)
    answer = answer_of(capsys, "pack", file, "--resource", "memory")
    assert answer["details"]["capacity"]["resource"] == "memory"
    assert answer["score"]["ucac"] == pytest.approx((6 + 8) * 2**30)  # usage of memory is the request, exactly


@pytest.mark.parametrize("model", ["hoeffding", "hoeffding-mean"])
def test_bounded_usage_needs_more_than_gaussian(model, day, capsys):
    options = ["pack", day, "--confidence", "0.9", "--method", "bi-level"]
    assert answer_of(capsys, *options, "--uncertainty", model)["score"]["ucac"] > answer_of(capsys, *options)["score"]["ucac"]


@pytest.mark.parametrize("model", ["gaussian", "empirical"])
def test_usage_may_come_from_samples(model, day, tmp_path, capsys):
    samples = tmp_path / "samples.json"
    samples.write_text(json.dumps({"samples": {"web": [0.5] * 50 + [1.5] * 50, "db": [1] * 100}}), encoding="utf-8")
    options = ["--confidence", "0.9", "--method", "bi-level", "--samples", samples, "--uncertainty", model]
    answer = answer_of(capsys, "pack", day, *options)
    assert answer["details"]["capacity"]["mean"] == pytest.approx(6 * 1 + 2 * 1)
    assert answer["details"]["violation"]["simulated"]["mean"] <= 0.1


def test_what_fits_nowhere_is_left_out_with_its_reason(tmp_path, capsys):
    file = written(tmp_path, more=BIG)
    answer = answer_of(capsys, "pack", file, "--confidence", "0.99")
    assert (answer["placed"], answer["details"]["unplaced"]) == (6, 2)
    (reason,) = answer["left_out"]
    assert reason["name"] == "huge" and "2 of 2 left out: 0/3 machines fit" in reason["reason"]
    assert main(["pack", str(file), "--confidence", "0.99", "--quiet"]) == 0
    assert "too small in cpu" in " ".join(capsys.readouterr().out.split())


def test_fewer_deviations_than_the_confidence_has_are_said_to_violate_it(day, capsys):
    options = ["pack", day, "--confidence", "0.9999", "--method", "bf-nsigma", "--n-sigma", "0"]
    answer = answer_of(capsys, *options)
    assert answer["left_out"] == [] and "violated on" in answer["still_violated"][0]
    assert main([*map(str, options), "--quiet"]) == 0
    assert "the confidence is violated on" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "said"),
    [(IDLE, "idle: usage of cpu is 0"), (WILD, "wild: usage of cpu deviates by more than its mean")],
)
def test_odd_usage_is_noted(more, said, tmp_path, capsys):
    assert main(["pack", str(written(tmp_path, more=more)), "--confidence", "0.9", "--method", "bi-level"]) == 0
    assert said in capsys.readouterr().err


def test_where_nothing_is_unplaced_the_answer_is_about_what_runs(tmp_path, capsys):
    file = tmp_path / "still.yaml"
    file.write_text(
        DAY.replace(", ~, ~, ~, ~", "").replace("containers: 6", "containers: 2").replace("containers: 2}", "containers: 0}"),
        encoding="utf-8",
    )
    assert main(["pack", str(file), "--confidence", "0.9"]) == 0
    assert "nothing to pack: all 2 containers have a machine" in capsys.readouterr().err
    assert answer_of(capsys, "pack", file, "--confidence", "0.9")["details"]["levels"] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no confidence is stated; expected a confidence, such as 0.999"),
        (["--confidence", "0.5"], "confidence: 0.5 is no confidence; expected above 0.5 and below 1"),
        (["--confidence", "1"], "confidence: 1 is no confidence"),
        (["--confidence", "99.9"], "confidence: 99.9 is no confidence; expected above 0.5 and below 1, such as 0.999"),
        (["--confidence", "nan"], "confidence: nan is no confidence"),
        (["--confidence", "0.9", "--confidence-of", "web=2"], "confidence of 'web': 2 is no confidence"),
        (["--confidence", "0.9", "--confidence-of", "web"], "--confidence-of 'web': expected NAME=ALPHA"),
        (["--confidence", "0.9", "--confidence-of", "web=high"], "'high' is not a number"),
        (["--confidence", "0.9", "--confidence-of", "unknown=0.99"], "is called 'unknown'"),
        (["--confidence", "0.9", "--resource", "gpu"], "no resource 'gpu' in cluster 'day'; expected cpu or memory"),
        (["--confidence", "0.9", "--uncertainty", "fuzzy"], "no uncertainty 'fuzzy'; expected one of gaussian"),
        (["--confidence", "0.9", "--uncertainty", "empirical"], "'empirical' needs measured usage; expected samples"),
        (["--confidence", "0.9", "--method", "magic"], "no method 'magic'; expected one of"),
        (["--confidence", "0.9", "--n-sigma", "-1"], "n_sigma is -1.0; expected a number of 0 or more"),
        (["--confidence", "0.9", "--out", "-"], "--out '-': stdout is for the answer"),
        (["--confidence", "0.9", "--machines-needed", "--out", "x.json"], "packs nothing: expected no --out"),
        (["--confidence", "0.9", "--machines-needed", "--targets", "x.yaml"], "packs nothing: expected no --targets"),
        (["--confidence", "0.9", "--peak", "service"], "--peak is of measured usage: expected --samples, too"),
    ],
)
def test_a_wrong_option_is_a_usage_fault_that_names_it(options, said, day, capsys):
    assert main(["pack", str(day), *options]) == 2
    assert said in capsys.readouterr().err


def test_a_cluster_without_machines_has_a_message(tmp_path, capsys):
    file = tmp_path / "none.yaml"
    start = DAY.index("machines:"), DAY.index("workloads:")
    file.write_text((DAY[: start[0]] + "machines: []\n" + DAY[start[1] :]).replace("m-0", "~"), encoding="utf-8")
    assert main(["pack", str(file), "--confidence", "0.9"]) != 0
    assert "machines" in capsys.readouterr().err


def test_a_rule_that_is_no_confidence_is_refused_by_its_resource(tmp_path, capsys):
    assert main(["pack", str(written(tmp_path, rules=CONFIDENT.replace("0.95", "0.4")))]) == 2
    assert "the confidence rule about 'cpu': 0.4 is no confidence" in capsys.readouterr().err


def test_machines_needed_are_counted_by_type_from_empty_with_a_bound(day, capsys):
    answer = answer_of(capsys, "pack", day, "--confidence", "0.99", "--machines-needed")
    machines, by_type = answer["details"]["machines"], answer["details"]["by_type"]
    assert machines == answer["score"]["machines"] == sum(entry["needed"] for entry in by_type) == 2
    assert answer["bound"] <= machines and answer["gap"] == pytest.approx(1 - answer["bound"] / machines)
    assert {(entry["name"], entry["available"]) for entry in by_type} == {("cpu 4, memory 32Gi", 1), ("cpu 8, memory 32Gi", 2)}
    assert main(["pack", str(day), "--confidence", "0.99", "--machines-needed", "--quiet"]) == 0
    assert "2 machines needed at 99 %" in capsys.readouterr().out


def test_machines_needed_says_what_fits_on_none(tmp_path, capsys):
    answer = answer_of(capsys, "pack", written(tmp_path, more=BIG), "--confidence", "0.99", "--machines-needed")
    assert [entry["name"] for entry in answer["left_out"]] == ["huge"]


def test_patterns_of_one_day_begin_the_next(day, tmp_path, capsys):
    file = tmp_path / "patterns.json"
    first = answer_of(capsys, "pack", day, "--confidence", "0.99", "--save-patterns", file)
    again = answer_of(capsys, "pack", day, "--confidence", "0.99", "--patterns", file)
    assert json.loads(file.read_text(encoding="utf-8"))["patterns"]
    assert again["score"]["ucac"] == pytest.approx(first["score"]["ucac"])
    assert main(["pack", str(day), "--confidence", "0.99", "--patterns", str(day)]) == 2
    assert "cannot read patterns" in capsys.readouterr().err


def test_a_page_tells_a_planner_what_it_takes(day, tmp_path):
    page = tmp_path / "page.html"
    assert main(["pack", str(day), "--confidence", "0.99", "--report", str(page), "--quiet"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "bayplan pack" in text and "What over-commitment buys" in text and "used capacity at 99" in text


def test_people_read_the_answer_in_tables(day, capsys):
    assert main(["pack", str(day), "--confidence", "0.99", "--quiet"]) == 0
    text = capsys.readouterr().out
    assert all(
        said in text for said in ("UCaC", "sum of limits", "1.25 × the capacity", "What over-commitment buys", "predicted")
    )


def test_an_interrupt_keeps_the_best_so_far_and_says_so(day, tmp_path, capsys, monkeypatch):
    def interrupted(problem, options, **how):
        os.kill(os.getpid(), signal.SIGINT)
        return PACKERS["bi-level"](problem, options, **how)

    monkeypatch.setattr("bayplan.decide.pack.PACKERS", {**PACKERS, "slow": interrupted})
    out = tmp_path / "best.json"
    assert main(["pack", str(day), "--confidence", "0.9", "--method", "slow", "--out", str(out)]) == 0
    assert "interrupted: this is the best so far" in capsys.readouterr().err
    assert len(read_placement(out, read(day).cluster).unplaced) == 0


def test_what_was_packed_keeps_the_confidence_rule_of_the_referee(tmp_path):
    file, out = written(tmp_path, rules=CONFIDENT), tmp_path / "packed.json"
    assert any(isinstance(rule, Confidence) for rule in read(file).cluster.rules)
    assert main(["pack", str(file), "--out", str(out), "--quiet"]) == 0
    assert main(["check", str(file), "--placement", str(out), "--quiet"]) == 0


def printed_examples() -> list[list[str]]:
    """What `bayplan pack --help` prints."""
    lines = [line for line in inspect.getdoc(command.pack).splitlines() if line.startswith("Example: ")]
    return [shlex.split(line.split("[cyan]")[1].removesuffix("[/cyan]"))[1:] for line in lines]


@pytest.mark.parametrize("arguments", printed_examples(), ids=" ".join)
def test_every_example_of_the_help_works_beside_the_examples(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(shutil.copytree(EXAMPLES, tmp_path / "examples"))
    assert main(arguments) == 0, capsys.readouterr().err


@pytest.mark.parametrize("when", ["figures_of", "confidence_levels"])
def test_an_interrupt_while_the_answer_is_put_into_numbers_loses_no_file(when, day, tmp_path, capsys, monkeypatch):
    original = getattr(api_pack, when)

    def interrupted(*arguments, **keywords):
        os.kill(os.getpid(), signal.SIGINT)
        return original(*arguments, **keywords)

    monkeypatch.setattr(api_pack, when, interrupted)
    out = tmp_path / "best.json"
    assert main(["pack", str(day), "--confidence", "0.9", "--out", str(out)]) == 0
    assert len(read_placement(out, read(day).cluster).unplaced) == 0


@pytest.mark.parametrize("method", ["csp-ucac", "csp-mac"])
def test_an_interrupt_ends_a_long_packing_at_once_with_its_file(method, tmp_path, capsys, monkeypatch):
    fleet, out = tmp_path / "fleet.json", tmp_path / "packed.json"
    assert main(["generate", "ucac", "--services", "20", "--scale", "0.3", "--out", str(fleet), "--quiet"]) == 0
    solve, solves = PatternMaster.solve, []

    def interrupted_at_the_third(master, seconds):
        solves.append(seconds)
        if len(solves) == 3:
            signal.raise_signal(signal.SIGINT)
        return solve(master, seconds)

    monkeypatch.setattr(PatternMaster, "solve", interrupted_at_the_third)
    monkeypatch.setattr("bayplan.decide.pack.integer_master.solve", None)  # it would be an error to call it
    answer = answer_of(capsys, "pack", fleet, "--confidence", "0.999", "--seconds", "600", "--out", out, "--method", method)
    assert answer["interrupted"] and out.is_file()
    assert solves[3:] == [0.0] * len(solves[3:])  # no time is left
    assert answer["details"]["violation"]["draws"] == FEWEST_DRAWS and answer["details"]["levels"] == []


# ---- target numbers of replicas ------------------------------------------------------------------------------------------------


def test_the_numbers_of_the_next_day_are_reached_and_the_way_there_is_planned(day, tmp_path, capsys):
    targets, out = tmp_path / "targets.yaml", tmp_path / "tomorrow.json"
    targets.write_text("targets: {web: 1, db: 3}\n", encoding="utf-8")
    answer = answer_of(capsys, "pack", day, "--confidence", "0.99", "--targets", targets, "--out", out)
    change = answer["details"]["change"]
    assert [row["target"] for row in change["workloads"]] == [1, 3]
    assert len(change["deleted"]) == 5 and len(change["created"]) == 3
    assert answer["details"]["unplaced"] == 0
    assert main(["check", str(out), "--quiet"]) == 0
    plan = answer_of(capsys, "migrate", day, "--to", out, "--delete-missing")
    assert plan["score"]["steps"] == 4  # one of web is deleted that ran, three of db are created
    assert main(["pack", str(day), "--confidence", "0.99", "--targets", str(targets), "--out", str(out)]) == 0
    assert f"--to{out}--delete-missing" in "".join(capsys.readouterr().out.split())  # wherever its lines end


def test_wrong_numbers_are_faults_with_their_lines(day, tmp_path, capsys):
    targets = tmp_path / "targets.yaml"
    targets.write_text("targets:\n  wbe: 2\n  db: -1\n", encoding="utf-8")
    assert main(["pack", str(day), "--confidence", "0.99", "--targets", str(targets)]) == 1
    said = capsys.readouterr().err
    assert "E1202 line 2, target 'wbe'" in said and "E1102 line 3, target 'db'" in said


def test_usage_of_the_busiest_hour_is_packed(day, tmp_path, capsys):
    usage = tmp_path / "usage.csv"
    lines = [
        f"{name},{300 * t},{level + 0.1 * (t % 2)}"
        for name, high in (("web", 0), ("db", 12))
        for t in range(24)
        for level in [1.0 if high <= t < high + 12 else 0.5]
    ]
    usage.write_text("\n".join(["workload,time,value", *lines]), encoding="utf-8")
    means = [
        answer_of(capsys, "pack", day, "--confidence", "0.99", "--samples", usage, *more)["details"]["capacity"]["mean"]
        for more in ([], ["--peak", "cluster"], ["--peak", "service"])
    ]
    assert means == pytest.approx([8 * 0.8, 6 * 1.05 + 2 * 0.55, 8 * 1.05])


def test_the_hour_of_each_peak_is_named(day, tmp_path, capsys):
    usage = tmp_path / "usage.csv"
    lines = [f"web,2024-05-01T{hour:02}:{minute}:00Z,{1 + (hour == 9)}" for hour in (8, 9) for minute in ("00", "30")]
    usage.write_text("\n".join(["workload,time,value", *lines, "db,0,1", "db,1800,3", "db,3600,3"]), encoding="utf-8")
    assert main(["pack", str(day), "--confidence", "0.99", "--samples", str(usage), "--peak", "service"]) == 0
    notes = capsys.readouterr().err
    assert "peak of web: 2024-05-01 09:00 to 10:00 UTC, mean 2 cores, deviation 0, 2 samples" in notes
    assert "peak of db: 1,800 to 5,400 s, mean 3 cores" in notes


def test_what_is_deleted_and_where_new_containers_go_is_named(day, tmp_path, capsys):
    targets = tmp_path / "targets.yaml"
    targets.write_text("targets: {web: 1, db: 3}\n", encoding="utf-8")
    answer = answer_of(capsys, "pack", day, "--confidence", "0.99", "--targets", targets)["details"]["change"]
    assert main(["pack", str(day), "--confidence", "0.99", "--targets", str(targets)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    first, new = answer["deleted"][0], answer["created"][0]
    assert f"deleted {len(answer['deleted'])}: {first['container']}" in shown
    assert f"created {len(answer['created'])}: {new['container']} on {new['machine']}" in shown
