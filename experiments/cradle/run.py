"""`python -m experiments.cradle.run [--quick] [--only loads,machines] [--seeds 0-4] [--shard k/n] [--engine NAME] [--out FOLDER]`

Measure what is missing, append one row per cell to cells.csv as soon as it is measured, then write the tables and figures of
docs/verbs/schedule.md. Resumable: a cell that the file has is not measured again. Figures 3 to 6 come first, one seed after the
other, then the small instances of Figure 2, upper bounds, the large instances of Figure 2, and exchanges, so that a part of a
sweep is useful. Budgets are in CPU seconds, and rows have CPU beside wall seconds. The traces are read from traces/ in the folder
BAYPLAN_DATA, or in ../shared/data beside the repository. `--engine pool --threads N` measures N cells at a time.
`--quick` takes a few thousand generated requests, one seed, and a new folder if none is given.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from experiments.cradle.cells import KEY, PARTS, cells, measured_by_cpu, shard
from experiments.cradle.pages import write_pages
from experiments.cradle.settings import QUICK, Scope
from experiments.sweeps import arguments_of, runs_of, seeds_of, shard_of, sweep

HERE = Path(__file__).parent


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    arguments, only, out = arguments_of(__doc__, PARTS, HERE, argv, parallel=True)
    scope = QUICK if arguments.quick else Scope()
    if arguments.seeds:
        scope = replace(scope, seeds=seeds_of(arguments.seeds))
    some = [cell for cell in shard(cells(scope), *shard_of(arguments.shard)) if cell.part in only]
    runs = runs_of(arguments)
    with runs.engine:
        sweep(out / "cells.csv", KEY, some, partial(measured_by_cpu, scope=scope), runs)
    write_pages(out, in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
