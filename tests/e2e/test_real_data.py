"""What the command line says about the published instances."""

import json
from pathlib import Path

import pytest
from tests.builders.published import GMRP_INITIAL

from bayplan.cli.main import main

pytestmark = pytest.mark.data


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    capsys.readouterr()
    assert main([*arguments, "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_original_placement_of_m3_is_valid(data_folder: Path, capsys):
    assert answer(capsys, "check", str(data_folder / "rasa" / "M3.json"))["valid"]


def test_the_original_placement_of_m3_gains_what_the_authors_say(data_folder: Path, capsys):
    shown = answer(capsys, "show", str(data_folder / "rasa" / "M3.json"))
    assert f"{shown['score']['affinity']:.5f}" == "0.06995"


@pytest.mark.parametrize("name", GMRP_INITIAL)
def test_every_initial_assignment_of_gmrp_costs_what_is_published_and_is_valid(name, data_folder: Path, capsys):
    shown = answer(capsys, "show", str(data_folder / "gmrp" / f"model_{name}.txt"))
    assert shown["score"]["gmrp"] == GMRP_INITIAL[name]
    assert shown["valid"]


def test_m3_survives_the_native_format(data_folder: Path, tmp_path: Path, capsys):
    copy = tmp_path / "m3.json.gz"
    assert main(["convert", str(data_folder / "rasa" / "M3.json"), "--out", str(copy), "--quiet"]) == 0
    assert answer(capsys, "show", str(copy)) == answer(capsys, "show", str(data_folder / "rasa" / "M3.json"))
