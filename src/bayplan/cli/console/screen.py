"""The answer of a command: one JSON object or tables for people, on stdout or in a file."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from bayplan.report.table import Report

FILE_WIDTH = 120  # columns of a table that goes to a file


class Printable(Protocol):
    """What can be printed both ways: answers, inspections, results of checks."""

    def content(self) -> "Report":
        """Facts, tables and sentences."""

    def to_dict(self) -> dict[str, Any]:
        """The same for `--json`."""


def print_value(value: Printable, *, json: bool, out: Path | None = None) -> None:
    """The value as one JSON object, or for people."""
    if json:
        print_object(value.to_dict(), out)
    else:
        print_report(value.content(), out)


def print_object(answer: Mapping[str, object], out: Path | None = None) -> None:
    """One JSON object on one line."""
    from bayplan.report.json import to_json

    _print(f"{to_json(answer)}\n", out)


def print_lines(lines: Iterable[str], out: Path | None = None) -> None:
    """Each on a line of its own, however long it is, so that a program can read them."""
    from bayplan.report.names import printable

    _print("".join(f"{printable(line)}\n" for line in lines), out)


def print_report(report: "Report", out: Path | None = None) -> None:
    """Facts and tables for people."""
    from rich.console import Console

    from bayplan.report.terminal import rendered

    console = Console() if out is None else Console(width=FILE_WIDTH, color_system=None)
    with console.capture() as capture:
        for part in rendered(report):
            console.print(part)
    _print(capture.get(), out)


def _print(text: str, out: Path | None) -> None:
    if out is None:
        sys.stdout.write(text)
    else:
        from bayplan.formats.document.text import write_text_atomically

        write_text_atomically(out, text)
