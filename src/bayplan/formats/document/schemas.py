"""The published JSON Schemas, as they stand in the package."""

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def schema(name: str) -> dict[str, Any]:
    """The schema called `name`: 'rasa', 'requests', ..."""
    text = resources.files("bayplan.formats.document").joinpath("schema", f"{name}.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
