"""Measured results: CSV rows appended as soon as they are measured, and the tables of the docs made from them."""

import csv
import fcntl
import io
import os
import platform
import subprocess
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parents[1]
WIDTH = 120  # of prose in the docs
BESIDE, IN_DOCS = "](pictures/", "](../pictures/"  # where pages look for their pictures

Row: TypeAlias = Mapping[str, str]


def rows(path: Path) -> list[dict[str, str]]:
    """The rows measured before; none if the file does not exist."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def append(path: Path, fields: Sequence[str], new: Iterable[Row]) -> None:
    """Add rows, under a header if the file is new. They are written in one go: a run that is stopped leaves no half of them.

    Several processes may append to one file at the same time.
    """
    with path.open("a", newline="", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # until it is closed: of two that begin the file, one writes the header
        text = io.StringIO()
        writer = csv.DictWriter(text, fields, lineterminator="\n")
        if _header(path) is None:
            writer.writeheader()
        elif _header(path) != list(fields):
            raise ValueError(f"{path} has the columns {_header(path)}, not {list(fields)}: move it away to start over")
        writer.writerows(new)
        file.write(text.getvalue())


def commit() -> str:
    """The short commit that was measured, with a + if `src` had changes that are not in it."""
    head = _git("rev-parse", "--short", "HEAD")
    return f"{head or 'unknown'}{'+' if _git('status', '--porcelain', 'src') else ''}"


def machine() -> str:
    """What the numbers were measured on, without naming the host."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


@cache
def where() -> dict[str, str]:
    """The commit whose code this process has loaded (later ones, made while it runs, are not measured), and its machine."""
    return {"commit": commit(), "machine": machine()}


def picked(measured: Iterable[Row], **where: str) -> list[Row]:
    """Rows with these values."""
    return [row for row in measured if all(row[name] == value for name, value in where.items())]


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table in Markdown."""
    return [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(row)} |" for row in body)]


def measured_on(measured: Iterable[Row]) -> str:
    """Each machine once, with the commits that were measured on it."""
    commits: dict[str, set[str]] = {}
    for row in measured:
        commits.setdefault(row["machine"], set()).add(row["commit"])
    machines = [f"{name} (commit{'s' * (len(on) > 1)} {', '.join(sorted(on))})" for name, on in sorted(commits.items())]
    return " and ".join(machines)


def put(text: str, marker: str, lines: Iterable[str]) -> str:
    """`text` with the lines between the two comments of `marker` replaced, wrapped as a page in docs/verbs is."""
    start, end = f"<!-- {marker}: generated -->", f"<!-- {marker}: end -->"
    head, after = text.split(start + "\n", 1)
    _, tail = after.split(end, 1)
    return head + "\n".join([start, *on_page(lines), end]) + tail


def on_page(lines: Iterable[str]) -> list[str]:
    """Lines as a page in docs/verbs has them: prose wrapped, pictures in the folder beside its own."""
    return [part for line in lines for part in _wrapped(line.replace(BESIDE, IN_DOCS))]


def standing_alone(text: str) -> str:
    """A page of docs/verbs as it is written into another folder, with its pictures in a folder inside of it."""
    return text.replace(IN_DOCS, BESIDE)


def _wrapped(line: str) -> list[str]:
    if line.startswith(("|", "!", "#")):
        return [line]
    indent = "  " if line.startswith("- ") else ""
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [line]


def _header(path: Path) -> list[str] | None:
    if not path.is_file():
        return None
    with path.open(newline="", encoding="utf-8") as file:
        return next(csv.reader(file), None)


def _git(*words: str) -> str:
    """The output of git; nothing where there is no git or no repository."""
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""
