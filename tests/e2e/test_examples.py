"""Every example that a page or a help text prints runs as printed: Python blocks and command lines, page by page.

A page is run from top to bottom in a folder of its own that has the files of examples/. Python blocks of a page share their
names. A block that follows a sentence ending in a file name and a colon is written to that file. Time limits are shortened.
"""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bayplan.cli.main import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)]
BLOCK = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
SAVED = re.compile(r"`([\w./-]+\.(?:yaml|json|csv|py))`:?\s*$")
SECONDS = "0.3"
TIMED = {"plan", "place", "rebalance", "collocate", "pack", "schedule"}  # they use as many seconds as they get
SMALLER = {
    "--n 1000000 --machines 1000": "--n 2000 --machines 2",
    "--clusters 40 --machines 500": "--clusters 2 --machines 12",
    "--scale 6": "--scale 0.05",
    "--days 2": "--days 0.1",
    "--days 7": "--days 0.1",
}
SKIPPED = {  # how a command begins: why it is not run here
    "--install-completion": "changes the configuration of the user's shell",
    "apply plan.json --context": "needs a live cluster; has tests of its own (tests/kubernetes/test_whole_cluster.py)",
    "convert FOLDER": "a form to fill in, and traces are not shipped",
    "demo": "the tour has a test of its own (tests/e2e/test_command_line.py)",
    "generate NAME": "a form to fill in",
    "generate azure-clusters": "traces are not shipped",
    "reproduce": "takes minutes to hours; has tests of its own (tests/e2e/test_reproduce.py)",
    "rollback latest --context": "needs a live cluster; has tests of its own (tests/kubernetes/test_whole_cluster.py)",
    "run --context": "needs a live cluster; has tests of its own (tests/kubernetes/test_controller.py)",
    "run --in-cluster": "needs a pod in a live cluster; has tests of its own (tests/kubernetes/test_controller.py)",
    "sandbox": "serves until it is stopped; the served cluster has tests of its own (tests/unit/operate/simulated)",
    "serve": "serves until it is stopped; has tests of its own (tests/unit/serve, tests/unit/kubernetes/extender/test_server.py)",
    "uninstall": "needs a live cluster; has tests of its own (tests/kubernetes/test_whole_cluster.py)",
    "warmup": "compiles every kernel; has a test of its own (tests/e2e/test_command_line.py)",
}


def examples_of(text: str) -> Iterator[tuple[str, str]]:
    """Kind and text of all that a page prints: `python`, `command` or the name of a file to write, with its content."""
    for match in BLOCK.finditer(text):
        _, language, body = match.groups()
        named = SAVED.search(text[: match.start()].rstrip()[-200:])
        if language == "python":
            yield "python", body
        elif named and language in ("yaml", "json", "csv") and not named[1].startswith("examples/"):
            yield named[1], body
        elif language in ("", "sh", "console", "bash"):
            lines = (line.removeprefix("$ ").removeprefix(".venv/bin/") for line in body.splitlines())
            yield from (("command", line) for line in lines if line.startswith("bayplan ") and "[OPTIONS]" not in line)


def sections_of(page: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Pages, and the commands of the reference one by one: each begins in a fresh folder."""
    text = page.read_text(encoding="utf-8")
    if page.name != "cli.md":
        yield str(page.relative_to(ROOT)), list(examples_of(text))
        return
    for section in text.split("\n## ")[1:]:
        yield section.splitlines()[0], [("command", line) for line in re.findall(r"Example: `(bayplan [^`]+)`", section)]


SECTIONS = {name: examples for page in PAGES for name, examples in sections_of(page) if examples}
FIRST = ("README.md", "docs/start/ten-minutes.md", "bayplan plan")  # what a new user tries; the others are marked as long


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of examples/, beside one of that name; commands and code run inside."""
    place = tmp_path / "page"
    shutil.copytree(ROOT / "examples", place)
    shutil.copytree(ROOT / "examples", place / "examples")
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("bayplan.api.fleet.plan.GRACE", (1.0, 600.0))  # little time is no reason to leave clusters out here
    monkeypatch.setattr("bayplan.api.registry._registered", {})  # what a page registers is forgotten after it
    return place


def arguments_of(line: str) -> list[str]:
    """What a command gets: without remarks and what follows on success, and with little time."""
    for long, short in SMALLER.items():
        line = line.replace(long, short)
    words = shlex.split(line.split("&&")[0].split("  #")[0])[1:]
    if words[0] in TIMED:
        if "--seconds" in words:
            words[words.index("--seconds") + 1] = SECONDS
        else:
            words += ["--seconds", SECONDS]
    has_jobs = words[0] == "collocate" or words[:2] == ["plan", "clusters.yaml"] or {"--engine", "--starts"} & set(words)
    return [*words, "--engine", "here"] if has_jobs else words


def skipped(line: str) -> bool:
    """Is it in the list above, or does it need a running cluster? Those have tests of their own: tests/kubernetes."""
    return "--context" in line or any(line.removeprefix("bayplan ").startswith(start) for start in SKIPPED)


def injects_failures(line: str) -> bool:
    """Whether something is told to fail: then "no, it does not arrive" or "it does not hold" is the answer that it shows."""
    return line.startswith("bayplan capacity") or (line.startswith("bayplan simulate") and ("--kill" in line or "--fail" in line))


def test_what_is_skipped_is_printed_somewhere_and_tested_elsewhere():
    lines = [text.removeprefix("bayplan ") for examples in SECTIONS.values() for kind, text in examples if kind == "command"]
    assert [start for start in SKIPPED if not any(line.startswith(start) for line in lines)] == []
    named = [path for reason in SKIPPED.values() for path in re.findall(r"tests/[\w/.]+\.py", reason)]
    assert [path for path in named if not (ROOT / path).is_file()] == []


def test_there_are_examples_of_both_kinds():
    kinds = [kind for examples in SECTIONS.values() for kind, _ in examples]
    assert kinds.count("command") > 50 and kinds.count("python") > 3
    assert set(FIRST) <= set(SECTIONS)


@pytest.mark.parametrize("name", [name if name in FIRST else pytest.param(name, marks=pytest.mark.long) for name in SECTIONS])
def test_examples_run_as_printed(name, folder, capsys):
    names: dict[str, object] = {}
    for kind, text in SECTIONS[name]:
        if kind == "python":
            if ">>>" not in text:  # doctests are run by the tests of their pages
                exec(compile(re.sub(r"seconds=[\d.]+", f"seconds={SECONDS}", text), name, "exec"), names)
        elif kind != "command":
            (folder / kind).write_text(text, encoding="utf-8")
        elif not skipped(text):
            code = main(arguments_of(text))
            assert code == 0 or (code == 3 and injects_failures(text)), f"{text}\nends with {code}:\n{capsys.readouterr().err}"
