"""Rewrite the pages that are made from code and from measured results: `make docs`."""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

from bayplan.report.errors_page import errors_page

from bayplan.cli.reference import cli_page

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "benchmarks" / "results.csv"


def benchmarks_page() -> str:
    """The newest measurement of each name, from `benchmarks/results.csv`."""
    with RESULTS.open(encoding="utf-8") as file:
        newest = {row["name"]: row for row in csv.DictReader(file)}
    lines = [
        "# How fast it is",
        "",
        "Made by `make docs` from `benchmarks/results.csv`, which `make bench` appends to.",
        "*Ratio* is to the first line, measured in the same run: it carries over to other machines, seconds do not.",
        "Peak memory is that of the whole process.",
        "",
        "| what | seconds | peak MB | ratio | commit | machine |",
        "|---|---|---|---|---|---|",
    ]
    columns = ("name", "seconds", "peak_mb", "ratio", "commit", "machine")
    lines += ["| " + " | ".join(row[column] for column in columns) + " |" for row in newest.values()]
    return "\n".join(lines) + "\n"


PAGES: Mapping[str, Callable[[], str]] = {
    "errors.md": errors_page,
    "cli.md": cli_page,
    "benchmarks.md": benchmarks_page,
}


def main() -> None:
    """Write every page that differs."""
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
