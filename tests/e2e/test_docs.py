"""The documentation is true: generated pages are fresh, and every link leads somewhere."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = runpy.run_path(str(DOCS / "generate.py"))["PAGES"]
PAGES = [*sorted(DOCS.glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_page_is_what_make_docs_would_write(name):
    assert (DOCS / name).read_text(encoding="utf-8") == GENERATED[name]()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path):
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []


def test_the_index_lists_every_page():
    listed = set(re.findall(r"\(([\w-]+\.md)\)", (DOCS / "index.md").read_text(encoding="utf-8")))
    assert listed == {page.name for page in DOCS.glob("*.md")} - {"index.md"}


def test_the_snapshot_of_the_readme_can_be_read(tmp_path):
    from bayplan.formats import read

    snapshot = re.search(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path / "readme.yaml"
    file.write_text(snapshot.group(1), encoding="utf-8")
    assert len(read(file).cluster.containers.name) == 5
