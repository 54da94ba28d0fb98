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
