"""The examples in the documentation do what they say."""

import doctest
from pathlib import Path

import pytest

from bayplan.model import RULES

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("page", ["model.md", "verbs/check.md"])
def test_examples_print_what_the_page_shows(page):
    outcome = doctest.testfile(str(DOCS / page), module_relative=False)
    assert outcome.attempted > 5
    assert outcome.failed == 0


def test_every_rule_is_explained():
    model, check = ((DOCS / page).read_text(encoding="utf-8") for page in ("model.md", "verbs/check.md"))
    for kind, rule in RULES.items():
        assert f"- `{rule.__name__}(" in model
        assert f"- **{kind}**" in check
