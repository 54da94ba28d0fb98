"""What the docs publish is what the readers check."""

import json
from pathlib import Path

import jsonschema
import pytest

from bayplan.formats.document.text import read_document
from bayplan.formats.native import PLACEMENT, SNAPSHOT

ROOT = Path(__file__).parents[4]
PUBLISHED = {"snapshot": SNAPSHOT, "placement": PLACEMENT}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_schema_is_the_one_in_use(name: str) -> None:
    published = (ROOT / "docs" / "schema" / f"{name}.json").read_text(encoding="utf-8")
    assert published == json.dumps(PUBLISHED[name], indent=2) + "\n"


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_schema_is_a_valid_json_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(PUBLISHED[name])


@pytest.mark.parametrize("name", ["shop.yaml", "rules.yaml", "small.json"])
def test_a_second_judge_accepts_the_examples(name: str) -> None:
    jsonschema.Draft202012Validator(SNAPSHOT).validate(read_document(ROOT / "examples" / name))
