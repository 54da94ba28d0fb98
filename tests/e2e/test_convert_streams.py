"""Streams of cluster requests through `generate` and `convert`."""

import json
from pathlib import Path

import pytest

from bayplan.cli.main import main

SMALL = ["--set", "count=5", "--set", "zones=3"]


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    file = tmp_path / "stream.json"
    assert main(["generate", "container-clusters", *SMALL, "--out", str(file), "--quiet"]) == 0
    return file


@pytest.mark.parametrize(("to", "suffix"), [("jsonl", ".jsonl"), ("jsonl", ".jsonl.gz"), ("native", ".jsonl"), ("csv", ".csv")])
def test_a_stream_comes_back_through_every_form(to, suffix, stream, tmp_path):
    there, back = tmp_path / f"there{suffix}", tmp_path / "back.json"
    assert main(["convert", str(stream), "--to", to, "--out", str(there), "--quiet"]) == 0
    zones = ["--zones", str(stream)] if to == "csv" else []
    assert main(["convert", str(there), *zones, "--out", str(back), "--quiet"]) == 0
    assert back.read_bytes() == stream.read_bytes()


def test_generate_writes_lines_if_the_suffix_says_so(tmp_path):
    file = tmp_path / "stream.jsonl"
    assert main(["generate", "container-clusters", *SMALL, "--out", str(file), "--quiet"]) == 0
    header, *entries = file.read_text(encoding="utf-8").splitlines()
    assert json.loads(header)["kind"] == "admission" and len(entries) == 5


def test_a_cluster_is_no_stream(tmp_path, capsys):
    cluster = Path(__file__).parents[2] / "examples" / "small.json"
    assert main(["convert", str(cluster), "--to", "jsonl", "--out", str(tmp_path / "x.jsonl"), "--quiet"]) == 2
    assert "no jsonl form" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["convert", "{missing}", "--out"], ["generate", "rasa-m3", "--out"]])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(command, tmp_path, capsys):
    words = [str(tmp_path / "missing.json") if word == "{missing}" else word for word in command]
    assert main([*words, str(tmp_path / "no" / "x.json")]) == 1
    assert "there is no folder" in capsys.readouterr().err  # not that the input is missing: it was not looked at


def test_a_misspelt_trace_or_generator_gets_a_hint(tmp_path, capsys):
    assert main(["convert", str(tmp_path), "--trace", "google2012", "--out", "-"]) == 2
    assert "did you mean 'google2011'?" in capsys.readouterr().err
    assert main(["generate", "botique"]) == 2
    assert "did you mean 'boutique'?" in capsys.readouterr().err
