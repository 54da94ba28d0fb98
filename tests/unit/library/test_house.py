"""What keeps the house tidy: names, sizes, words and the way the layers call each other."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src" / "bayplan"
FILES = sorted(SOURCE.rglob("*.py"))
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
MOST_MODULES = 20
MOST_ARGUMENTS = 9
LONGEST_COMMAND = 40
WORDS = (  # private words that a reader would have to learn
    r"wish(es)?|berths?|yard|trips?|strolls?|mishaps?|weather|fellow|nobody|everybody|somebody|"
    r"so many|who (is|are|fits?|moves?|stays?|runs?|asks?|waits?)|too dear|dearer|dearest|let in"
)


def _trees(files=FILES):
    return [(file, ast.parse(file.read_text(encoding="utf-8"))) for file in files]


def _functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _inside(file, folder):
    return (SOURCE / folder) in file.parents


def test_no_two_public_classes_have_one_name():
    homes = defaultdict(list)
    for file, tree in _trees():
        if _inside(file, "check"):  # referees share nothing with what they judge, not even a name's home
            continue
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(file.relative_to(SOURCE)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_no_function_outside_of_commands_and_kernels_has_many_arguments():
    wide = [
        f"{file.relative_to(SOURCE)}:{node.name} {count}"
        for file, tree in _trees()
        if not _inside(file, "cli") and not _inside(file, "kernels")
        for node in _functions(tree)
        if (count := len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)) > MOST_ARGUMENTS
        and not (node.args.args and node.args.args[0].arg in ("self", "cls") and count == MOST_ARGUMENTS + 1)
    ]
    assert wide == []


def test_command_functions_are_short():
    long = []
    for file, tree in _trees(sorted((SOURCE / "cli").glob("*.py"))):
        for node in _functions(tree):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            if (lines := node.end_lineno - body[0].lineno + 1) > LONGEST_COMMAND:
                long.append(f"{file.name}:{node.name} {lines}")
    assert long == []


def test_no_folder_is_crowded():
    crowded = defaultdict(int)
    for file in FILES:
        if file.name != "__init__.py":
            crowded[str(file.parent.relative_to(SOURCE))] += 1
    assert {folder: count for folder, count in crowded.items() if count > MOST_MODULES} == {}


@pytest.mark.parametrize("files", [FILES, PAGES], ids=["source", "pages"])
def test_papers_are_called_by_name(files):
    numbered = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(r"(?<![\w.,])00[0-4](?![\w.,]\d)(?!\w)", line)
    ]
    assert numbered == []


@pytest.mark.parametrize("files", [FILES, PAGES], ids=["source", "pages"])
def test_no_private_words(files):
    pattern = re.compile(rf"\b({WORDS})\b", re.IGNORECASE)
    found = [
        f"{file.relative_to(ROOT)}:{number}: {match[0]}"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if (match := pattern.search(line))
    ]
    assert found == []


def _imports(tree):
    """Modules that are imported, except those of which only registries and constants are."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not all(alias.name.isupper() for alias in node.names):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("folder", ["src/bayplan/cli"])
def test_the_command_line_calls_the_library_only(folder):
    inner = ("decide", "migrate", "search", "score", "solvers", "kernels", "engine", "check")
    deep = [
        f"{file.name}: {module}"
        for file, tree in _trees(sorted((ROOT / folder).rglob("*.py")))
        for module in _imports(tree)
        if module.startswith(tuple(f"bayplan.{part}" for part in inner))
    ]
    assert deep == []
