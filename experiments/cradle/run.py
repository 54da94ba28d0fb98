"""`python -m experiments.cradle.run [--quick] [--only loads,machines,local] [--seeds 0-4] [--until HH:MM] [--out FOLDER]`

Measure what is missing, append one row per cell to cells.csv as soon as it is measured, then write the tables and figures of
docs/schedule.md. Resumable: a cell that the file has is not measured again. The traces are read from traces/ in the folder
BAYPLAN_DATA, or in ../shared/data beside the repository; google2011 is its first 94 minutes and the tasks that ran before,
clipped to that window. `--quick` takes a few hundred generated requests, one seed, and a new folder if none is given.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from experiments.cradle.cells import KEY, MEASURES, PARTS, cells, measured
from experiments.cradle.pages import write_pages
from experiments.cradle.settings import QUICK, Scope
from experiments.freecontainer.run import seeds_of
from experiments.results import append, commit, machine, rows

HERE = Path(__file__).parent
CSV = "cells.csv"
FIELDS = (*KEY, *MEASURES, "commit", "machine")


def measure(path: Path, scope: Scope, only: Sequence[str], until: str | None = None) -> None:
    """One row per cell that is not there yet."""
    done = {tuple(row[name] for name in KEY) for row in rows(path)}
    todo = [cell for cell in cells(scope) if cell.part in only and cell.key not in done]
    for number, cell in enumerate(todo):
        if until is not None and datetime.now().strftime("%H:%M") >= until:
            print(f"{len(todo) - number} cells left for another time", file=sys.stderr)
            return
        new = measured(cell, scope)
        print(f"{number + 1}/{len(todo)}: {' '.join(cell.key)}: {new['served'] or new['bound']}", file=sys.stderr)
        append(path, FIELDS, [{**dict(zip(KEY, cell.key, strict=True)), **new, "commit": commit(), "machine": machine()}])


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few hundred generated requests, one seed")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--seeds", help="such as 0-4, or 3")
    parser.add_argument("--until", metavar="HH:MM", help="begin no cell after this time")
    parser.add_argument("--out", type=Path, help="the folder for the CSV file, tables and figures")
    arguments = parser.parse_args(argv)
    only = arguments.only.split(",")
    if not set(only) <= set(PARTS):
        sys.exit(f"--only {arguments.only}: expected some of {', '.join(PARTS)}")
    scope = QUICK if arguments.quick else Scope()
    if arguments.seeds:
        scope = replace(scope, seeds=seeds_of(arguments.seeds))
    out = arguments.out or (Path(tempfile.mkdtemp()) if arguments.quick else HERE)
    out.mkdir(parents=True, exist_ok=True)
    measure(out / CSV, scope, only, arguments.until)
    write_pages(out, in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
