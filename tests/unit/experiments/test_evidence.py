"""docs/evidence.md: made from the raw results, every claim of every experiment on it, a reason where one is not reproduced."""

import re

import pytest
from experiments.evidence import causes, page, theorems
from experiments.evidence.papers import NAMES, REPRODUCTIONS, measured_claims
from experiments.evidence.untested import UNTESTED
from experiments.results import ROOT
from experiments.verdicts import Verdict

from bayplan.cli.reproduce import PAPERS


@pytest.fixture(scope="module")
def lines():
    return page.every_line()


@pytest.fixture(scope="module")
def text():
    return page.DOCS.read_text(encoding="utf-8")


def test_the_page_is_made_from_the_raw_results(text):
    assert page.page() == text, "run python -m experiments.evidence.page"


@pytest.mark.parametrize("paper", NAMES)
def test_every_claim_that_is_measured_is_on_the_page(paper, text):
    claims = measured_claims(paper)
    assert len(claims) > 40
    for claim in claims:
        assert f"| {paper} | {claim.where} | {claim.text} | {claim.stated} | {claim.ours}" in text


def test_no_claim_is_there_twice(lines):
    keys = [(line.paper, line.claim.where, line.claim.text) for line in lines]
    assert len(keys) == len(set(keys))


def test_a_claim_that_is_not_reproduced_has_a_reason_with_a_command(lines):
    off = [line for line in lines if line.claim.verdict in (Verdict.DIRECTION, Verdict.NOT)]
    assert len(off) > 20
    assert [line.claim for line in off if not re.search(r"Check: `(python -m experiments|pytest tests)", line.why)] == []
    assert [line.claim for line in lines if line.claim.verdict is Verdict.UNTESTED and not line.why] == []


def test_every_cause_explains_a_claim():
    """One that is off, or that is not measured yet."""
    unused = []
    for paper in NAMES:
        off = [claim for claim in measured_claims(paper) if claim.verdict in (*causes.OFF, Verdict.UNTESTED)]
        first = [next((cause for cause in causes.CAUSES[paper] if cause.explains(claim)), None) for claim in off]
        unused += [(paper, cause.pattern) for cause in causes.CAUSES[paper] if cause not in first]
    assert unused == []


def test_every_line_has_a_page_that_exists(lines):
    missing = [line.claim.page for line in lines if line.claim.page and not (ROOT / "docs" / line.claim.page).is_file()]
    assert missing == []
    assert all(claim.page and claim.scale for paper in NAMES for claim in measured_claims(paper))


def test_production_is_there_and_points_to_its_page(lines):
    for paper, figures in (
        ("RASA", ("Figure 11", "Figure 12", "Figure 13")),
        ("FreeContainer", ("Figure 6(a)", "Figure 6(b)", "Figure 7(a)")),
    ):
        pages = {line.claim.where: line.claim.page for line in lines if line.paper == paper and line.claim.where in figures}
        assert pages == dict.fromkeys(figures, "verbs/production.md")


def test_every_theorem_names_a_test_that_is_there():
    for theorem in theorems.THEOREMS:
        file, _, function = theorem.test.partition("::")
        assert f"def {function}(" in (ROOT / "tests" / theorem.folder / file).read_text(encoding="utf-8")
        assert theorem.holds or theorem.why


def test_causes_can_be_printed_for_one_paper(capsys):
    causes.main(["cradle"])
    printed = capsys.readouterr().out
    assert "[Cradle] How many are served depends" in printed and "[RASA]" not in printed
    with pytest.raises(SystemExit, match="no paper 'rasa-2'; expected some of freecontainer"):
        causes.main(["rasa-2"])


def test_every_paper_of_the_command_has_claims_and_a_page():
    assert set(REPRODUCTIONS) == set(PAPERS)
    assert {one.paper for one in UNTESTED} == set(NAMES)


def test_the_page_can_be_found(text):
    assert "](docs/evidence.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "\nevidence\n" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
