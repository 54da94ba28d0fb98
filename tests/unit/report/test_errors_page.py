"""The page of error codes is complete, and every code can be met."""

from pathlib import Path

from bayplan.codes import CODES
from bayplan.report.errors_page import SECTIONS, errors_page

ROOT = Path(__file__).parents[3]


def test_the_published_page_is_made_from_the_codes() -> None:
    published = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert published == errors_page(), "run `make docs`"


def test_every_code_is_on_the_page_once() -> None:
    rows = [line.split("|")[1].strip() for line in errors_page().splitlines() if line.startswith("| E")]
    assert rows == list(CODES)
    assert sorted(rows) == rows


def test_every_code_stands_in_its_section() -> None:
    numbers = [{code[:3] for code in section} for section in SECTIONS.values()]
    assert all(len(number) == 1 for number in numbers)  # E10.. for files, E11.. for values, and so on
    assert len(set().union(*numbers)) == len(SECTIONS)


def test_every_code_is_asserted_by_some_test() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert [code for code in CODES if code not in tests] == []
