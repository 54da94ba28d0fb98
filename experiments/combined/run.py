"""`python -m experiments.combined.run [--quick] [--until 06:45] [--only M3,...] [--out FOLDER]`

Measure what is missing, append each answer to cells.csv as soon as it is judged, then write the tables of
docs/verbs/plan-combined.md. Every answer is found in a process of its own, by one thread, in seconds of the processor. Resumable.
`--quick` takes the demo shop, one second, and a new folder if none is given. Data is read from the folder BAYPLAN_DATA or from
../shared/data beside the repository; a cluster whose data is missing is left out. Meta's Rebalancer is run by the Python that
BAYPLAN_REBALANCER names, in an environment where its package is installed; without it, its rows are left out.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.combined.cells import in_a_process, in_order, measured
from experiments.combined.clusters import known
from experiments.combined.pages import write_page
from experiments.combined.rebalancer_answer import PYTHON, is_there
from experiments.combined.settings import KEY, M1, M3, QUICK, REBALANCER, TIANCHI, TINY, Cell, Scope
from experiments.results import rows
from experiments.sweeps import Runs, arguments_of, sweep

HERE = Path(__file__).parent
CELLS = "cells.csv"


def cells_of(scope: Scope, clusters: Sequence[str]) -> list[Cell]:
    """The cells of clusters that can be had, by methods that can be run."""
    usable = [cluster for cluster in clusters if known(cluster)]
    if not is_there():
        print(f"Meta's Rebalancer left out: set {PYTHON} to a Python that has its package", file=sys.stderr)
    return [cell for cell in scope.cells() if cell.cluster in usable and (is_there() or cell.method != REBALANCER)]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    arguments, only, out = arguments_of(__doc__, (M3, M1, TIANCHI), HERE, argv)
    scope = QUICK if arguments.quick else Scope()
    cells = cells_of(scope, (TINY,) if arguments.quick else only)
    measure = (lambda cell: in_order(measured(cell))) if arguments.quick else in_a_process
    sweep(out / CELLS, KEY, cells, measure, Runs(until=arguments.until))
    write_page(out, rows(out / CELLS), in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
