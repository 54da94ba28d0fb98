"""`-` is standard input wherever a file is read, and standard output where docs/formats.md says so."""

import io
import json
from pathlib import Path

import pytest

from bayplan import formats
from bayplan.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
READING = {  # what is on standard input -> the commands that read it
    "shop.yaml": [["show", "-"], ["check", "-"], ["explain", "-", "web-0"], ["place", "-", "--seconds", "1"]],
    "small.json": [["rebalance", "-", "--seconds", "1"], ["pack", "-", "--confidence", "0.99"]],
    "samples.csv": [["pack", "{shop.yaml}", "--confidence", "0.99", "--samples", "-"]],
    "placement.json": [["show", "{shop.yaml}", "--start", "-"], ["check", "{shop.yaml}", "--placement", "-"]],
    "rasa.json": [["show", "-"], ["migrate", "-", "--to", "{rasa-solution.json}"], ["simulate", "-", "--plan", "{plan.json}"]],
    "rasa-solution.json": [["migrate", "{rasa.json}", "--to", "-"]],
    "plan.json": [["simulate", "{rasa.json}", "--plan", "-"]],
    "requests.json": [["show", "-"], ["schedule", "-", "--machines", "2"]],
    "requests.csv": [["show", "-"], ["schedule", "-", "--machines", "2"]],
    "fleet.json": [["schedule", "{requests.json}", "--fleet", "-"]],
    "admission.json": [["show", "-"], ["admit", "-"], ["convert", "{stream.csv}", "--zones", "-", "--out", "-"]],
    "stream.jsonl": [["show", "-"], ["admit", "-"], ["convert", "-", "--out", "-"]],
    "stream.csv": [["admit", "-", "--zones", "{admission.json}"]],
    "gmrp/model_tiny.txt": [["check", "-", "--start", "{gmrp/assignment_tiny.txt}"]],
}
CASES = [(name, command) for name, commands in READING.items() for command in commands]


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def filled(command: list[str]) -> list[str]:
    return [str(EXAMPLES / word[1:-1]) if word.startswith("{") else word for word in command]


@pytest.mark.parametrize(("name", "command"), CASES, ids=[f"{name}: {' '.join(command)}" for name, command in CASES])
def test_every_file_may_come_from_standard_input(name, command, monkeypatch, capsys):
    feed(monkeypatch, (EXAMPLES / name).read_bytes())
    assert main(filled(command)) in (0, 3)  # 3: the answer is no
    assert capsys.readouterr().out


@pytest.mark.parametrize("command", [["show", "-", "--start", "-"], ["migrate", "-", "--to", "-"]])
def test_standard_input_is_read_once(command, monkeypatch, capsys):
    feed(monkeypatch, (EXAMPLES / "rasa.json").read_bytes())
    assert main(command) == 1
    assert "standard input can be read only once" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["convert", "{shop.yaml}"], ["generate", "boutique"]])
def test_what_is_written_to_standard_output_is_nothing_but_the_file(command, tmp_path, capsys):
    assert main([*filled(command), "--out", "-", "--json"]) == 0
    (tmp_path / "x.json").write_text(capsys.readouterr().out, encoding="utf-8")
    assert formats.read(tmp_path / "x.json").cluster.machines.name


@pytest.mark.parametrize("command", [["show", "{shop.yaml}"], ["check", "{shop.yaml}"], ["explain", "{shop.yaml}", "web-0"]])
def test_instruments_write_their_answer_to_standard_output(command, capsys):
    assert main([*filled(command), "--out", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "command",
    [
        ["place", "{shop.yaml}"],
        ["rebalance", "{small.json}"],
        ["collocate", "{rasa.json}"],
        ["schedule", "{requests.json}", "--machines", "2"],
        ["admit", "{admission.json}"],
        ["migrate", "{rasa.json}", "--to", "{rasa-solution.json}"],
    ],
)
def test_decisions_keep_standard_output_for_their_answer(command, capsys):
    assert main([*filled(command), "--out", "-"]) == 2
    assert "stdout is for the answer; expected a file" in capsys.readouterr().err


def test_a_gmrp_model_alone_on_standard_input_is_refused_with_advice(monkeypatch, capsys):
    feed(monkeypatch, (EXAMPLES / "gmrp" / "model_tiny.txt").read_bytes())
    assert main(["show", "-"]) == 1
    assert "or --start with the assignment" in capsys.readouterr().err
