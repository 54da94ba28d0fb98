"""The command line as a user meets it: what it prints, where, and with which exit code."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.naive.gmrp import gmrp_cost

import bayplan
from bayplan.cli.main import COMMANDS, main
from bayplan.formats import read_requests


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.json"
    assert main(["generate", "boutique", "--out", str(file), "--quiet"]) == 0
    return file


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict]:
    capsys.readouterr()
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches_by_an_example(command, capsys):
    assert main([command, "--help"]) == 0
    assert f"Example: bayplan {command}" in " ".join(capsys.readouterr().out.split())


def test_help_loads_nothing_heavy():
    code = "import sys, bayplan.cli.main; print([m for m in ('numpy', 'scipy', 'numba', 'yaml', 'highspy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_show_gives_the_scores_as_json(shop, capsys):
    code, answer = run_json(capsys, "show", str(shop))
    assert code == 0
    assert {"utilisation", "balance", "communication", "total", "affinity", "machines"} <= answer["score"].keys()
    assert answer["valid"] is True


def test_show_names_the_fullest_machine_for_people(shop, capsys):
    _, answer = run_json(capsys, "show", str(shop))
    assert main(["show", str(shop)]) == 0
    assert answer["hot"][0]["machine"] in capsys.readouterr().out


def test_check_accepts_the_demo_cluster(shop, capsys):
    code, answer = run_json(capsys, "check", str(shop))
    assert (code, answer["valid"], answer["violations"]) == (0, True, [])


def test_check_of_a_broken_cluster_answers_no(tmp_path, capsys):
    file = tmp_path / "broken.json"
    main(["generate", "boutique", "--set", "broken=1", "--out", str(file), "--quiet"])
    code, answer = run_json(capsys, "check", str(file))
    assert code == 3
    assert answer["violations"] and all(violation["sentence"] for violation in answer["violations"])


def test_check_judges_moves_of_pinned_containers(shop, tmp_path, capsys):
    from bayplan.formats import read

    cluster = read(shop).cluster
    pinned = next(rule for rule in cluster.rules if rule.kind == "pinned").containers[0]
    document = {"placement": {cluster.containers.name[pinned]: cluster.machines.name[-1]}}
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document))
    code, answer = run_json(capsys, "check", str(shop), "--placement", str(other))
    assert code == 3
    assert {"pinned", "running"} <= {violation["rule"] for violation in answer["violations"]}


def test_explain_counts_every_machine(shop, capsys):
    code, answer = run_json(capsys, "explain", str(shop), "frontend-0")
    assert code == 0
    assert "machines fit" in answer["text"]


def test_explain_of_an_unknown_container_suggests_near_names(shop, capsys):
    assert main(["explain", str(shop), "frontend-"]) == 2
    assert "did you mean 'frontend-" in capsys.readouterr().err


def test_generate_lists_what_it_can_make(capsys):
    assert main(["generate"]) == 0
    listing = capsys.readouterr().out
    assert all(name in listing for name in ("boutique", "rasa-m2", "freecontainer-dcb", "ucac", "requests", "container-clusters"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["generate", "nothing"], "no generator 'nothing'"),
        (["generate", "boutique", "--set", "colour=red"], "colour"),
        (["generate", "boutique", "--set", "broken=maybe"], "maybe"),
        (["generate", "boutique", "--broken", "maybe"], "setting 'broken' is 'maybe'"),
        (["generate", "requests", "--machnes", "3"], "did you mean 'machines'"),
        (
            ["generate", "requests", "--machine", "7"],
            "no setting 'machine' (7); expected one of machines, load, horizon, n",
        ),
        (["generate", "requests", "--n"], "'--n' has no value"),
        (["generate", "requests", "7"], "'7' is too much"),
        (["generate", "requests", "--n", "7", "--set", "n=8"], "each name once"),
        (["generate", "--n", "7", "requests"], "expected the name of a generator before its settings"),
        (["convert", ".", "--trace", "nothing", "--out", "x.json"], "no trace 'nothing'"),
        (["frobnicate"], "frobnicate"),
        (["show"], "FILE"),
    ],
)
def test_wrong_usage_exits_with_2_and_names_the_word(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_missing_file_exits_with_1_and_its_number(tmp_path, capsys):
    assert main(["show", str(tmp_path / "nothing.json")]) == 1
    said = capsys.readouterr()
    assert "E1001" in said.err and "nothing.json" in said.err and said.out == ""


@pytest.mark.parametrize("name", ["requests", "container-clusters"])
def test_requests_are_generated_to_files_too(name, tmp_path):
    file = tmp_path / f"{name}.json"
    assert main(["generate", name, "--out", str(file), "--quiet"]) == 0
    assert json.loads(file.read_text())["bayplan"] == 1


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".yaml"])
def test_convert_keeps_the_scores(suffix, shop, tmp_path, capsys):
    file = tmp_path / f"copy{suffix}"
    assert main(["convert", str(shop), "--out", str(file), "--quiet"]) == 0
    assert run_json(capsys, "show", str(file))[1] == run_json(capsys, "show", str(shop))[1]


def test_convert_to_a_placement_gives_the_same_start(shop, tmp_path, capsys):
    file = tmp_path / "placement.json"
    assert main(["convert", str(shop), "--to", "placement", "--out", str(file), "--quiet"]) == 0
    started, own = run_json(capsys, "show", str(shop), "--start", str(file))[1], run_json(capsys, "show", str(shop))[1]
    assert started["score"].pop("moves") == 0
    assert started == own


def test_stdin_and_stdout_work_as_files(shop):
    bayplan = [sys.executable, "-m", "bayplan"]
    made = subprocess.run([*bayplan, "generate", "boutique", "--out", "-", "--quiet"], capture_output=True, check=True)
    assert made.stdout == shop.read_bytes()
    shown = subprocess.run([*bayplan, "check", "-", "--json"], input=made.stdout, capture_output=True, check=True)
    assert json.loads(shown.stdout)["valid"] is True


def test_quiet_leaves_stderr_empty(shop, capsys):
    capsys.readouterr()
    main(["show", str(shop), "--quiet"])
    assert capsys.readouterr().err == ""


def test_demo_says_where_its_report_is(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "demo"), "--seconds", "1"]) == 0
    said = capsys.readouterr().out
    plan, report = tmp_path / "demo" / "plan.html", tmp_path / "demo" / "report.html"
    assert str(plan.resolve()) in said.replace("\n", "")
    assert "<svg" in report.read_text(encoding="utf-8")
    assert said.count("Plan: ") == 3 and "Machines above safety 4 -> 0." in said and len(said.splitlines()) <= 40


def test_an_internal_fault_is_one_line_without_a_traceback(shop, capsys, monkeypatch):
    def explode(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("bayplan.api.inspect.summarise", explode)
    monkeypatch.delenv("BAYPLAN_DEBUG", raising=False)
    assert main(["show", str(shop)]) == 1
    said = capsys.readouterr().err
    assert "boom" in said and "Traceback" not in said


def test_an_interruption_is_said_in_one_line(shop, capsys, monkeypatch):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bayplan.api.inspect.summarise", stop)
    assert main(["show", str(shop)]) == 130
    assert capsys.readouterr().err.strip() == "bayplan: interrupted"


def test_the_entry_point_imports_next_to_nothing_before_it_can_catch_an_interruption():
    """Ctrl-C during an import that comes before `run` ends in a traceback."""
    code = "import sys; before = set(sys.modules); import bayplan.__main__; print(*(set(sys.modules) - before))"
    command = [sys.executable, "-S", "-c", code]  # without what the installation imports
    environment = {**os.environ, "PYTHONPATH": str(Path(bayplan.__file__).parents[1])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert {name for name in imported if name.startswith("bayplan")} == {"bayplan", "bayplan.version", "bayplan.__main__"}
    assert not imported & {"collections", "enum", "functools", "re", "threading", "typing"}


def test_nothing_is_left_behind_when_writing_fails(shop, tmp_path, capsys):
    folder = tmp_path / "file"
    folder.write_text("not a folder")
    assert main(["convert", str(shop), "--out", str(folder / "x.json"), "--quiet"]) == 1
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(("name", "words"), [("requests", "timed requests"), ("container-clusters", "zones and cluster")])
def test_a_file_without_a_cluster_is_told_so(name, words, tmp_path, capsys):
    file = tmp_path / "requests.json"
    main(["generate", name, "--out", str(file), "--quiet"])
    assert main(["check", str(file)]) == 1
    said = capsys.readouterr().err
    assert "E1011" in said and words in said


@pytest.mark.parametrize("name", ["requests", "container-clusters"])
def test_requests_convert_to_the_same_requests(name, tmp_path):
    file, copy, again = (tmp_path / part for part in ("a.json", "b.json.gz", "c.json"))
    main(["generate", name, "--out", str(file), "--quiet"])
    assert main(["convert", str(file), "--out", str(copy)]) == 0
    assert main(["convert", str(copy), "--out", str(again)]) == 0
    assert again.read_text() == file.read_text()


def test_check_with_a_report_shows_before_and_after(shop, tmp_path, capsys):
    placement, page = tmp_path / "new.json", tmp_path / "change.html"
    broken = tmp_path / "broken.json"
    main(["generate", "boutique", "--set", "broken=1", "--out", str(broken), "--quiet"])
    main(["convert", str(broken), "--to", "placement", "--out", str(placement), "--quiet"])
    assert main(["check", str(shop), "--placement", str(placement), "--report", str(page)]) == 3
    assert page.read_text(encoding="utf-8").count("<svg") >= 2


def test_an_unknown_level_to_group_by_is_named(shop, tmp_path, capsys):
    assert main(["show", str(shop), "--report", str(tmp_path / "x.html"), "--group-by", "planet"]) == 2
    assert "no level 'planet'" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_offers_json(command, capsys):
    main([command, "--help"])
    assert "--json" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["show", "check", "explain"])
@pytest.mark.parametrize("flags", [[], ["--json"]], ids=["tables", "json"])
def test_an_answer_can_go_to_a_file(command, flags, shop, tmp_path, capsys):
    arguments = [command, str(shop), *(["frontend-0"] if command == "explain" else []), *flags, "--quiet"]
    capsys.readouterr()
    assert main([*arguments, "--out", str(tmp_path / "answer")]) == 0
    assert capsys.readouterr().out == ""
    answer = (tmp_path / "answer").read_text(encoding="utf-8")
    assert answer.strip() and (json.loads(answer) if flags else True)


@pytest.mark.parametrize("arguments", [["version"], ["warmup"], ["generate"]])
def test_small_commands_give_one_json_object(arguments, capsys):
    assert isinstance(run_json(capsys, *arguments)[1], dict)


@pytest.mark.long
def test_demo_and_convert_say_what_they_wrote_as_json(shop, tmp_path, capsys):
    _, answer = run_json(capsys, "demo", "--out", str(tmp_path / "demo"), "--seconds", "1")
    assert all(Path(file).exists() for file in answer["files"])
    _, answer = run_json(capsys, "convert", str(shop), "--out", str(tmp_path / "x.yaml"))
    assert Path(answer["file"]).exists()


def test_a_gmrp_solution_costs_its_moves_too(capsys):
    folder = Path(__file__).parents[2] / "examples" / "gmrp"
    model, first, second = (folder / f"{part}_tiny.txt" for part in ("model", "assignment", "solution"))
    shown = run_json(capsys, "show", str(model), "--start", str(second))[1]
    checked = run_json(capsys, "check", str(model), "--placement", str(second))[1]
    assert shown["score"]["gmrp"] == checked["score"]["gmrp"] == gmrp_cost(model, first, second)
    assert shown["score"]["moves"] > 0


def test_check_says_every_broken_rule_on_a_line_of_its_own(tmp_path, capsys):
    file = tmp_path / "broken.json"
    main(["generate", "boutique", "--set", "broken=1", "--out", str(file), "--quiet"])
    _, answer = run_json(capsys, "check", str(file))
    main(["check", str(file)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"not valid: {answer['violated']} rule violations")
    assert lines[1:] == [violation["sentence"] for violation in answer["violations"]]


@pytest.mark.parametrize("option", ["--report", "--out"])
def test_an_answer_never_overwrites_its_input(option, shop, tmp_path, capsys):
    before, link = shop.read_bytes(), tmp_path / "link.json"
    link.symlink_to(shop)
    assert main(["show", str(shop), option, str(link)]) == 2
    assert shop.read_bytes() == before
    assert "would overwrite the input" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--report", "-"], "expected a file"),
        (["--group-by", "zone"], "expected --report FILE too"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments, words, shop, capsys):
    assert main(["show", str(shop), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_version_is_an_option_too(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("bayplan ")


@pytest.mark.parametrize(
    "settings", [["--n", "2000", "--machines", "20", "--load", "3"], ["--n=2000", "--set", "machines=20", "--set", "load=3"]]
)
def test_a_setting_of_a_generator_is_an_option_of_its_own(settings, tmp_path):
    file = tmp_path / "made.json"
    assert main(["generate", "requests", *settings, "--out", str(file), "--quiet"]) == 0
    made = read_requests(file)
    share = (made.demand / made.capacity).mean(axis=1) @ (made.end - made.start)
    assert len(made.name) == 2000
    assert share / (20 * (made.end.max() - made.start.min())) == pytest.approx(3, rel=1e-3)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [["version"], ["--help"], ["generate"]])
def test_a_full_disk_behind_stdout_is_said_in_one_line(arguments):
    command = [sys.executable, "-m", "bayplan", *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "cannot write the answer: No space left on device" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "setting",
    [
        "requests load=1e12",
        "requests n=1000000000",
        "ucac services=1000000",
        "ucac scale=1e9",
        "container-clusters zones=5000",
    ],
)
def test_settings_that_no_machine_could_hold_are_refused(setting, tmp_path, capsys):
    name, value = setting.split()
    assert main(["generate", name, "--set", value, "--out", str(tmp_path / "x.json"), "--quiet"]) == 2
    assert "expected" in capsys.readouterr().err


def test_an_interrupt_that_is_swallowed_comes_again(capsys, monkeypatch, shop):
    def swallow(*_: object) -> None:
        with contextlib.suppress(KeyboardInterrupt):  # as a destructor would
            os.kill(os.getpid(), signal.SIGINT)
            select.select([], [], [], 5)
        select.select([], [], [], 5)  # until the next interrupt, or for long

    monkeypatch.setattr("bayplan.cli.console.interrupt.AGAIN", 0.05)
    monkeypatch.setattr("bayplan.api.inspect.summarise", swallow)
    assert main(["show", str(shop)]) == 130
    assert capsys.readouterr().err.strip() == "bayplan: interrupted"


def test_a_cluster_without_a_name_is_called_after_its_file(shop, tmp_path, capsys):
    document = json.loads(shop.read_text())
    del document["name"]
    (tmp_path / "corner-shop.json").write_text(json.dumps(document))
    assert run_json(capsys, "show", str(tmp_path / "corner-shop.json"))[1]["name"] == "corner-shop"


def test_odd_characters_of_names_never_reach_the_terminal(shop, capsys, monkeypatch):
    from dataclasses import replace

    from bayplan.api import files

    def renamed(snapshot, path):
        machines = replace(snapshot.cluster.machines, name=("\x1b[31m\rred\n", *snapshot.cluster.machines.name[1:]))
        level = replace(snapshot.cluster.levels[0], group=machines.name)
        cluster = replace(snapshot.cluster, machines=machines, levels=(level, *snapshot.cluster.levels[1:]))
        return replace(snapshot, cluster=cluster, notes=("a\x07b",))

    monkeypatch.setattr(files, "named", renamed)
    for command in (["show", str(shop)], ["check", str(shop)], ["explain", str(shop), "frontend-0"]):
        main(command)
        said = capsys.readouterr()
        assert not set(said.out + said.err) & set("\x1b\r\x07"), command


def test_show_and_check_agree_about_a_start(shop, tmp_path, capsys):
    placement = tmp_path / "new.json"
    broken = tmp_path / "broken.json"
    main(["generate", "boutique", "--set", "broken=1", "--out", str(broken), "--quiet"])
    main(["convert", str(broken), "--to", "placement", "--out", str(placement), "--quiet"])
    shown = run_json(capsys, "show", str(shop), "--start", str(placement))[1]
    checked = run_json(capsys, "check", str(shop), "--start", str(placement))[1]
    assert (shown["valid"], shown["violated"]) == (checked["valid"], checked["violated"])
    assert shown["score"]["moves"] == 5


def test_a_report_says_how_it_was_made(shop, tmp_path):
    page = tmp_path / "page.html"
    main(["show", str(shop), "--start", str(shop), "--group-by", "rack", "--report", str(page), "--quiet"])
    assert f"bayplan show {shop} --start {shop} --group-by rack" in page.read_text(encoding="utf-8")


def test_the_timer_of_a_host_program_is_left_alone(capsys):
    old = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 60)
    try:
        assert main(["version"]) == 0
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def test_explain_of_a_workload_goes_machine_by_machine(shop, capsys):
    code, answer = run_json(capsys, "explain", str(shop), "frontend")
    assert code == 0 and answer["workload"] == "frontend" and answer["replicas"] > 1
    assert sum(len(group["containers"]) for group in answer["groups"]) + answer["not_shown"] == answer["replicas"]
    assert main(["explain", str(shop), "frontend"]) == 0
    page = capsys.readouterr().out
    assert "frontend-0" in page and "Machine by machine" in page


def test_explain_of_an_unknown_name_suggests_a_workload_too(shop, capsys):
    assert main(["explain", str(shop), "frontnd"]) == 2
    assert "did you mean 'frontend'?" in capsys.readouterr().err
