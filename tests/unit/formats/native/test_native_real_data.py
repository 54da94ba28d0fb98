"""Real clusters survive the native format unchanged."""

from pathlib import Path

import pytest
from tests.property.test_native_round_trip import differences

from bayplan import formats

FILES = ["rasa/M3.json", "gmrp/model_a1_1.txt", "gmrp/model_a1_4.txt", "gmrp/model_a2_2.txt"]


@pytest.mark.data
@pytest.mark.parametrize("name", FILES)
def test_a_converted_cluster_is_the_same_model(name: str, data_folder: Path, tmp_path: Path) -> None:
    snapshot = formats.read(data_folder / name)
    formats.write(snapshot, tmp_path / "x.json")
    again = formats.read(tmp_path / "x.json")
    for part in ("cluster", "placement", "objective"):
        assert differences(getattr(snapshot, part), getattr(again, part)) == []
