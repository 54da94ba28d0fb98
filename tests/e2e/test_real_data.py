"""What the command line says about the published instances."""

import json
from pathlib import Path

import pytest

from bayplan.cli.main import main

pytestmark = pytest.mark.data

# The cost of each initial assignment of the ROADEF/EURO 2012 challenge.
INITIAL = {
    "a1_1": 49_528_750,
    "a1_2": 1_061_649_570,
    "a1_3": 583_662_270,
    "a1_4": 632_499_600,
    "a1_5": 782_189_690,
    "a2_1": 391_189_190,
    "a2_2": 1_876_768_120,
    "a2_3": 2_272_487_840,
    "a2_4": 3_223_516_130,
    "a2_5": 787_355_300,
    "b_1": 7_644_173_180,
    "b_2": 5_181_493_830,
    "b_3": 6_336_834_660,
    "b_4": 9_209_576_380,
    "b_5": 12_426_813_010,
}


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    capsys.readouterr()
    assert main([*arguments, "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_original_placement_of_m3_is_valid(data_folder: Path, capsys):
    assert answer(capsys, "check", str(data_folder / "rasa" / "M3.json"))["valid"]


def test_the_original_placement_of_m3_gains_what_the_authors_say(data_folder: Path, capsys):
    shown = answer(capsys, "show", str(data_folder / "rasa" / "M3.json"))
    assert f"{shown['score']['affinity']:.5f}" == "0.06995"


@pytest.mark.parametrize("name", INITIAL)
def test_every_initial_assignment_of_gmrp_costs_what_is_published_and_is_valid(name, data_folder: Path, capsys):
    shown = answer(capsys, "show", str(data_folder / "gmrp" / f"model_{name}.txt"))
    assert shown["score"]["gmrp"] == INITIAL[name]
    assert shown["valid"]


def test_m3_survives_the_native_format(data_folder: Path, tmp_path: Path, capsys):
    copy = tmp_path / "m3.json.gz"
    assert main(["convert", str(data_folder / "rasa" / "M3.json"), "--out", str(copy), "--quiet"]) == 0
    assert answer(capsys, "show", str(copy)) == answer(capsys, "show", str(data_folder / "rasa" / "M3.json"))
