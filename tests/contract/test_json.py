"""The JSON of every verb and method has the published shape, and says the same as the library, the files, the text and the page.

Seconds are replaced by iterations, so that the same question has the same answer however it is asked.
"""

import html
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator

import bayplan as bp
from bayplan.api import registry
from bayplan.api.answer import Answer
from bayplan.api.control import Control
from bayplan.cli.main import main
from bayplan.model import Result, Status

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "schema" / "answer.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
TIMES = ("seconds", "solve_seconds")  # no two runs take the same
ITERATIONS = bp.Budget(iterations=200)
ANSWER_IS_NO = 3


class Question(NamedTuple):
    """One question, as it is asked on the command line and in the library."""

    arguments: tuple[str, ...]
    ask: Callable[..., Answer[Any]]
    text: Mapping[str, str]  # key -> where the terminal says it; the first group is the number
    page: Mapping[str, str]  # the same of the report


OF_PLACEMENTS = {
    "text": {"moved": r"^([\d,]+) of [\d,]+ containers? moves?\b", "placed": r"^placed +([\d,]+) *$"},
    "page": {"moved": r"\b([\d,]+) containers? moved\b", "placed": r"\b([\d,]+) placed\b"},
}
QUESTIONS = {
    "place": Question(arguments=("shop.json",), ask=lambda **given: bp.place(bp.read("shop.json"), **given), **OF_PLACEMENTS),
    "rebalance": Question(
        arguments=("shop.json",), ask=lambda **given: bp.rebalance(bp.read("shop.json"), **given), **OF_PLACEMENTS
    ),
    "collocate": Question(
        arguments=("talking.json", "--engine", "here"),
        ask=lambda **given: bp.collocate(bp.read("talking.json"), engine="here", **given),
        **OF_PLACEMENTS,
    ),
    "pack": Question(
        arguments=("web.yaml", "--confidence", "0.99"),
        ask=lambda **given: bp.pack(bp.read("web.yaml"), confidence=0.99, **given),
        text={"placed": r"^packed +([\d,]+) *$"},
        page={"placed": r"\b([\d,]+) packed now\b"},
    ),
    "admit": Question(
        arguments=("arrivals.json",),
        ask=lambda **given: bp.admit(bp.read_stream("arrivals.json"), **given),
        text={"placed": r"^accepts ([\d,]+) of"},
        page={"placed": r"\baccepted ([\d,]+) [\d.]+ % of [\d,]+ requests"},
    ),
    "schedule": Question(
        arguments=("requests.json", "--machines", "2"),
        ask=lambda **given: bp.schedule(bp.read_requests("requests.json"), machines=2, **given),
        text={"placed": r"^serves ([\d,]+) of"},
        page={"placed": r"\bserved ([\d,]+) [\d.]+ % of [\d,]+\b"},
    ),
    "migrate": Question(
        arguments=("shop.json", "--to", "target.json"),
        ask=lambda **given: bp.migrate(bp.read("shop.json"), bp.read("shop.json", "target.json").placement, **given),
        text={"moved": r"^moved +([\d,]+) *$", "placed": r"^placed +([\d,]+) *$"},
        page={"moved": r"\b([\d,]+) containers? moved\b", "placed": r"\b([\d,]+) placed\b"},
    ),
}
CASES = [(verb, method) for verb in QUESTIONS for method in bp.methods(verb)]
every_verb = pytest.mark.parametrize("verb", QUESTIONS)
every_method = pytest.mark.parametrize(("verb", "method"), CASES, ids=[f"{verb} {method}" for verb, method in CASES])


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    """What all questions are about: a web shop with new containers, its better placement, traffic, uncertain usage, requests."""
    folder = tmp_path_factory.mktemp("inputs")
    shutil.copy(ROOT / "examples" / "web.yaml", folder)
    shop = bp.generate("boutique")
    bp.write(shop, folder / "shop.json")
    placed = bp.place(shop, method="ca-wfd")
    bp.rebalance(placed.after, max_moves=5, budget=bp.Budget(iterations=20_000)).save(folder / "target.json")
    talking = bp.ClusterBuilder("talking").machines("m-{}", 4, cpu=8, memory="32Gi")
    for k in range(4):
        talking.workload(f"w{k}", replicas=3, cpu=1, memory="1Gi", on=[f"m-{k}", f"m-{(k + 1) % 4}", None])
    bp.write(talking.traffic("w0", "w2", 5.0).traffic("w1", "w3", 3.0).build(), folder / "talking.json")
    bp.write(bp.generate("container-clusters", count=40), folder / "arrivals.json")
    bp.write(bp.generate("requests", n=60, machines=2, load=2.0), folder / "requests.json")
    return folder


@pytest.fixture(autouse=True)
def folder(inputs, tmp_path, monkeypatch) -> Path:
    """A folder with the inputs, in which questions are asked; methods count iterations, not seconds."""
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(Control, "method_budget", lambda *_: ITERATIONS)
    return tmp_path


@pytest.fixture
def command(capsys):
    """Runs a command: its exit code, and what it printed."""

    def run(verb: str, *arguments: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main([verb, *QUESTIONS[verb].arguments, *arguments, "--quiet"])
        printed = capsys.readouterr()
        assert printed.err == ""
        return code, printed.out

    return run


def faults(answer: Mapping[str, Any]) -> list[str]:
    return [f"{fault.json_path}: {fault.message}" for fault in VALIDATOR.iter_errors(answer)]


def without_times(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key not in TIMES}


def counted(patterns: Mapping[str, str], shown: str) -> dict[str, int]:
    """The counts that a text says, without those that it does not mention."""
    matches = {key: re.search(pattern, shown, re.MULTILINE) for key, pattern in patterns.items()}
    return {key: int(match[1].replace(",", "")) for key, match in matches.items() if match}


def words_of(page: str) -> str:
    """The words of an HTML page, without its pictures."""
    body = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def placement_in(file: str) -> dict[str, str | None]:
    return json.loads(Path(file).read_text(encoding="utf-8"))["placement"]


def running(snapshot: str) -> dict[str, str]:
    """Container -> machine, of a snapshot."""
    read = bp.read(snapshot)
    names, machines = read.cluster.containers.name, read.cluster.machines.name
    return {names[c]: machines[read.placement.machine_of[c]] for c in read.placement.placed.tolist()}


def after_plan(start: Mapping[str, str], file: str) -> dict[str, str]:
    """Where containers run when all batches of a plan are done."""
    runs = Counter(start.items())
    for batch in json.loads(Path(file).read_text(encoding="utf-8"))["batches"]:
        for step in batch:
            runs[step["container"], step["machine"]] += 1 if step["action"] == "create" else -1
    assert set(runs.values()) <= {0, 1}
    return dict(place for place, times in runs.items() if times)


def after_placement(start: Mapping[str, str], file: str) -> dict[str, str]:
    return {container: machine for container, machine in placement_in(file).items() if machine is not None}


def test_the_schema_is_a_schema_and_the_published_one_is_ours():
    Draft202012Validator.check_schema(SCHEMA)
    source = ROOT / "src" / "bayplan" / "formats" / "document" / "schema" / "answer.json"
    assert json.loads(source.read_text(encoding="utf-8")) == SCHEMA


def test_every_verb_is_asked():
    assert QUESTIONS.keys() == registry.REGISTRIES.keys()
    assert set(SCHEMA["properties"]["verb"]["enum"]) == {*registry.REGISTRIES, "plan", "simulate"}  # these have no methods


def test_the_page_names_every_key():
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert {key for row in rows for key in re.findall(r"`(\w+)`", row)} >= SCHEMA["properties"].keys()
    assert set(SCHEMA["required"]) == SCHEMA["properties"].keys()


@every_verb
def test_there_is_something_to_count(verb):
    answer = QUESTIONS[verb].ask()
    assert answer.moved if verb in ("rebalance", "collocate", "migrate") else answer.placed


@every_method
def test_the_command_prints_what_the_library_returns(verb, method, command):
    code, printed = command(verb, "--method", method, "--json")
    answer, ours = json.loads(printed), QUESTIONS[verb].ask(method=method)
    assert code == 0
    assert printed.count("\n") == 1
    assert faults(answer) == [] and faults(ours.to_dict()) == []
    assert (answer["verb"], answer["method"]) == (verb, method)
    assert without_times(answer) == without_times(ours.to_dict())
    assert list(answer) == list(ours.to_dict()) == list(SCHEMA["properties"])
    assert answer["score"] == answer["after"]
    assert answer["seconds"] >= answer["solve_seconds"] >= 0


@every_method
def test_text_page_and_json_count_the_same(verb, method, command):
    question = QUESTIONS[verb]
    answer = json.loads(command(verb, "--method", method, "--json")[1])
    code, text = command(verb, "--method", method, "--report", "page.html")
    page = words_of(Path("page.html").read_text(encoding="utf-8"))
    assert code == 0
    assert len(answer["moves"]) == answer["moved"]
    assert counted(question.text, text) == {key: answer[key] for key in question.text}
    assert {"placed": 0, **counted(question.page, page)} == {"placed": 0, **{key: answer[key] for key in question.page}}


@every_method
def test_the_file_holds_what_is_counted(verb, method, command):
    code, printed = command(verb, "--method", method, "--json", "--out", "out.json")
    answer = json.loads(printed)
    assert code == 0
    assert list(answer["files"].values()) == ["out.json"]
    if verb in ("admit", "schedule"):
        written = json.loads(Path("out.json").read_text(encoding="utf-8"))
        (requests,) = (part for part in written.values() if isinstance(part, (dict, list)))
        assert len(requests) == answer["placed"] > 0
        assert answer["moves"] == []
        return
    before = running(QUESTIONS[verb].arguments[0])
    after = (after_plan if verb == "migrate" else after_placement)(before, "out.json")
    moves = {name: (before[name], after[name]) for name in before.keys() & after.keys() if before[name] != after[name]}
    assert {move["container"]: (move["from"], move["to"]) for move in answer["moves"]} == moves
    assert (answer["moved"], answer["placed"]) == (len(moves), len(after.keys() - before.keys()))


@every_verb
def test_an_answer_of_no_has_the_same_shape(verb, command, monkeypatch):
    refusal = Result(status=Status.INFEASIBLE, solution=None, still_violated=("no machine is large enough",))
    monkeypatch.setitem(registry._registered, (verb, "refuses"), lambda *_, **__: refusal)
    code, printed = command(verb, "--method", "refuses", "--json", "--out", "out.json", "--report", "page.html")
    answer, ours = json.loads(printed), QUESTIONS[verb].ask(method="refuses")
    assert code == ANSWER_IS_NO
    assert faults(answer) == []
    assert without_times(answer) == without_times(ours.to_dict())
    assert (answer["status"], answer["still_violated"]) == ("infeasible", ["no machine is large enough"])
    assert (answer["placed"], answer["moved"], answer["moves"], answer["files"]) == (0, 0, [], {})
    assert not Path("out.json").exists() and not Path("page.html").exists()


@every_verb
def test_an_answer_of_no_is_told_to_people_too(verb, command, monkeypatch):
    refusal = Result(status=Status.OUT_OF_BUDGET, solution=None)
    monkeypatch.setitem(registry._registered, (verb, "refuses"), lambda *_, **__: refusal)
    code, text = command(verb, "--method", "refuses")
    assert code == ANSWER_IS_NO
    assert "out-of-budget" in text


@pytest.mark.parametrize(
    ("line", "verb"),
    [
        ("pack web.yaml --confidence 0.99 --machines-needed", "pack"),
        ("schedule requests.json --sweep 1:3 --serve 0.5", "schedule"),
        ("migrate shop.json --to target.json --resume plan.json --done 1", "migrate"),
        ("migrate shop.json --rollback plan.json --done 1", "migrate"),
        ("simulate shop.json --plan plan.json", "simulate"),
    ],
)
def test_other_questions_have_the_same_shape(line, verb, capsys):
    assert main(["migrate", "shop.json", "--to", "target.json", "--out", "plan.json", "--quiet"]) == 0
    capsys.readouterr()
    assert main([*line.split(), "--json", "--quiet"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert faults(answer) == []
    assert (answer["verb"], len(answer["moves"])) == (verb, answer["moved"])


def test_a_migration_that_arrives_in_part_has_the_same_shape(capsys):
    """Two full machines that would have to exchange their containers: exit code 3, and a plan for the others."""
    full = bp.ClusterBuilder("full").machine("m", cpu=4, memory="8Gi").machine("n", cpu=4, memory="8Gi")
    full.workload("a", cpu=4, memory="1Gi", on=["m"]).workload("b", cpu=4, memory="1Gi", on=["n"])
    bp.write(full.build(), "full.json")
    Path("swapped.json").write_text(json.dumps({"placement": {"a-0": "n", "b-0": "m"}}), encoding="utf-8")
    capsys.readouterr()
    assert main(["migrate", "full.json", "--to", "swapped.json", "--json", "--quiet"]) == ANSWER_IS_NO
    answer = json.loads(capsys.readouterr().out)
    assert faults(answer) == []
    assert {reason["name"] for reason in answer["left_out"]} == {"a-0", "b-0"}
    assert (answer["moved"], answer["moves"], answer["details"]["complete"]) == (0, [], False)
