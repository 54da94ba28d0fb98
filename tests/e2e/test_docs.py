"""The documentation is true: generated pages are fresh, every link leads somewhere, and every page is in the site."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = runpy.run_path(str(DOCS / "generate.py"))["PAGES"]
PAGES = [*sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
WIDEST = 160
PAPER_NUMBER = re.compile(r"(?<![\w.,+-])00[0-4](?![\w.,]*\d|\w)")  # not 1,000 and not 0.001

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_page_is_what_make_docs_would_write(name):
    assert (DOCS / name).read_text(encoding="utf-8") == GENERATED[name]()


@each_page
def test_every_link_leads_somewhere(page: Path):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", text) + re.findall(r"```\{literalinclude\} (\S+)", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []


@each_page
def test_no_line_is_wider_than_a_window(page: Path):
    wide = [number for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1) if len(line) > WIDEST]
    assert wide == []


@each_page
def test_papers_are_named_never_numbered(page: Path):
    assert PAPER_NUMBER.findall(page.read_text(encoding="utf-8")) == []


def test_the_site_lists_every_page():
    listed = {"index.md"}
    for page in PAGES:
        blocks = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        names = [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
        listed |= {str((page.parent / f"{name}.md").relative_to(DOCS)) for name in names}
    assert listed == {str(page.relative_to(DOCS)) for page in PAGES if page.is_relative_to(DOCS)}


def test_the_snapshot_of_the_how_to_can_be_read(tmp_path):
    from bayplan.formats import read

    page = (DOCS / "how-to" / "write-a-snapshot.md").read_text(encoding="utf-8")
    snapshot = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    file = tmp_path / "tiny.yaml"
    file.write_text(snapshot.group(1), encoding="utf-8")
    assert len(read(file).cluster.containers.name) == 5
