"""`python -m experiments.cradle.run [--quick] [--only loads,machines,local] [--seeds 0-4] [--until HH:MM] [--out FOLDER]`

Measure what is missing, append one row per cell to cells.csv as soon as it is measured, then write the tables and figures of
docs/verbs/schedule.md. Resumable: a cell that the file has is not measured again. The traces are read from traces/ in the folder
BAYPLAN_DATA, or in ../shared/data beside the repository; google2011 is its first 94 minutes and the tasks that ran before,
clipped to that window. `--quick` takes a few hundred generated requests, one seed, and a new folder if none is given.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from experiments.cradle.cells import KEY, PARTS, cells, measured
from experiments.cradle.pages import write_pages
from experiments.cradle.settings import QUICK, Scope
from experiments.sweeps import arguments_of, seeds_of, sweep

HERE = Path(__file__).parent


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    arguments, only, out = arguments_of(__doc__, PARTS, HERE, argv)
    scope = QUICK if arguments.quick else Scope()
    if arguments.seeds:
        scope = replace(scope, seeds=seeds_of(arguments.seeds))
    some = (cell for cell in cells(scope) if cell.part in only)
    sweep(out / "cells.csv", KEY, some, lambda cell: measured(cell, scope), arguments.until)
    write_pages(out, in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
