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
WHOLLY_GENERATED = DOCS / "evidence.md"
MARK = re.compile(r"<!-- [\w-]+: (generated|end) -->")  # around what an experiment writes into a page
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
    generated, wide = page == WHOLLY_GENERATED, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if mark := MARK.fullmatch(line):
            generated = mark[1] == "generated"
        if len(line) > WIDEST and not (generated and line.startswith("|")):  # no one edits a generated table
            wide.append(number)
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


NAMED_PATH = re.compile(r"`((?:src/bayplan|tests|docs|examples|experiments|benchmarks)/[\w./-]*)`")


@pytest.mark.parametrize(
    "page", ["architecture.md", "extending.md", *sorted(f"extending/{p.name}" for p in (DOCS / "extending").glob("*"))]
)
def test_every_path_that_a_page_names_exists(page):
    named = NAMED_PATH.findall((DOCS / page).read_text(encoding="utf-8"))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("walk", ["One container through `rebalance`", "One container through `migrate`"])
def test_a_reading_walk_crosses_no_folder_twice(walk):
    section = (DOCS / "architecture.md").read_text(encoding="utf-8").split(f"### {walk}\n")[1].split("\n##")[0]
    folders = re.findall(r"^\d+\. `src/bayplan/(\w+)/", section, re.MULTILINE)
    crossed = [folder for folder in folders if folder != "model"]
    assert len(crossed) > 5 and len(crossed) == len(set(crossed))


def test_the_layers_of_the_picture_are_those_of_the_linter():
    import tomllib

    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["name"] == "Layers")
    present = [
        name for layer in layers for name in re.findall(r"bayplan\.(\w+)", layer) if (ROOT / "src/bayplan" / name).is_dir()
    ]
    drawn = re.findall(r'class="name">([\w, ]+)<', (DOCS / "pictures" / "layers.svg").read_text(encoding="utf-8"))
    assert [name for name in drawn if name in present] == present
