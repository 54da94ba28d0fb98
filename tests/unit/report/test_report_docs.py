import json
import re
from pathlib import Path

import pytest

from bayplan.formats.rasa import read_rasa
from bayplan.report.pictures import bay_plan

DOCS = Path(__file__).parents[3] / "docs" / "verbs"


def test_the_page_shows_pictures_that_exist_and_are_small():
    shown = re.findall(r"!\[[^]]*\]\(([^)]+)\)", (DOCS / "report.md").read_text(encoding="utf-8"))
    assert len(shown) >= 6
    assert all((DOCS / name).stat().st_size < 300_000 for name in shown)


def test_the_code_of_the_page_runs():
    names: dict[str, str] = {}
    for code in re.findall(r"```python\n(.*?)```", (DOCS / "report.md").read_text(encoding="utf-8"), re.DOTALL):
        exec(code, names)
    assert names["html"].startswith("<!DOCTYPE html>")
    assert names["page"].startswith("<!DOCTYPE html>")
    assert names["picture"].startswith("<svg")


@pytest.mark.data
def test_m3_has_a_block_for_each_of_its_containers(data_folder):
    snapshot = read_rasa(json.loads((data_folder / "rasa" / "M3.json").read_text()), "M3.json")
    picture = bay_plan(snapshot.cluster, snapshot.placement)
    assert len(re.findall(r"<title>Container\d+\n", picture)) == 3485
    assert len(picture) < 1_000_000
