"""`python -m experiments.freecontainer.run [--quick] [--only table4,...] [--seeds 0-9] [--shard 1/2] [--until 06:45]`

Measure what is missing, append each run to a CSV file as soon as it has ended, then write the tables and figures of
docs/verbs/place.md and docs/verbs/rebalance.md. What a method is allowed are seconds of the CPU. Resumable: what a file has is
not measured again; delete it to start over. `--until` begins no run after that time. `--shard k/n` measures the k-th of n
parts, so that n processes can work at the same time. With `--out` everything goes into that folder. `--quick` takes tiny data
centres, one seed and fractions of seconds, and a new folder if none is given.
The layouts of the Tianchi trace are read from the folder BAYPLAN_DATA, or from ../shared/data beside the repository.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from experiments.freecontainer import real
from experiments.freecontainer.cells import FIELDS, Cell, cells, key_of, row, solved, warm
from experiments.freecontainer.measures import quantiles
from experiments.freecontainer.pages import write_pages
from experiments.freecontainer.settings import FULL, NO_THRESHOLD, QUICK, START, TABLES, THRESHOLD, A, Scope
from experiments.results import append, commit, machine, rows
from experiments.sweeps import moment, seeds_of, shard_of

HERE = Path(__file__).parent
COSTS, CURVES, REAL = "costs.csv", "curves.csv", "real.csv"
CURVE_FIELDS = ("table", "centre", "seed", "method", "percent", "cpu", "memory", "ssd")
DRAWN = ("table4", "table6")  # Figures 4 and 5 show one seed of DC_A


def measure(folder: Path, scope: Scope, shard: tuple[int, int] = (1, 1), until: datetime | None = None) -> None:
    """One row per cell that is not there yet."""
    done = {key_of(measured) for measured in rows(folder / COSTS)}
    todo = [cell for cell in cells(scope, shard) if cell.key not in done]
    if todo:
        warm(replace(scope, seeds=scope.seeds[:1]))
    for number, cell in enumerate(todo):
        if until is not None and datetime.now() >= until:
            print(f"{len(todo) - number} cells left for another run", file=sys.stderr)
            return
        print(f"{number + 1}/{len(todo)}: {' '.join(cell.key)}", file=sys.stderr)
        answer = solved(cell, scope.centres[cell.centre])
        if drawn(cell) and cell.seed == scope.seeds[0]:
            fixed = {"table": cell.table, "centre": A, "seed": str(cell.seed), "method": cell.method}
            append(
                folder / CURVES,
                CURVE_FIELDS,
                [{**fixed, **curve} for curve in quantiles(answer.snapshot.cluster, answer.placement)],
            )
        new = {**row(cell, answer), "commit": commit(), "machine": machine()}
        append(folder / COSTS, FIELDS, [new])


def drawn(cell: Cell) -> bool:
    """Is its placement a curve in Figure 4 or 5?"""
    threshold = cell.threshold in (THRESHOLD, NO_THRESHOLD)
    return cell.table in DRAWN and cell.centre == A and cell.method != START and threshold


def measure_real(path: Path, scope: Scope, shard: tuple[int, int]) -> None:
    """The real layouts, if their files are there."""
    try:
        real.measure(path, scope, shard)
    except SystemExit as missing:  # all else was measured: its tables are worth having
        print(f"real layouts left out: {missing}", file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="tiny data centres, one seed, fractions of seconds")
    parser.add_argument("--only", default=",".join(TABLES), help=f"some of {', '.join(TABLES)}")
    parser.add_argument("--seconds", type=float, help="of the CPU, for each method to rebalance (10; real layouts 30)")
    parser.add_argument("--seeds", help="such as 0-9, or 3")
    parser.add_argument("--shard", default="1/1", help="k/n: the k-th of n parts")
    parser.add_argument("--until", type=moment, metavar="HH:MM", help="begin no run after this time")
    parser.add_argument("--out", type=Path, help="the folder for the CSV files, tables and figures")
    arguments = parser.parse_args(argv)
    out = arguments.out or (Path(tempfile.mkdtemp()) if arguments.quick else HERE)
    out.mkdir(parents=True, exist_ok=True)
    scope, shard = scope_of(arguments), shard_of(arguments.shard)
    measure(out, scope, shard, arguments.until)
    if "real" in scope.only:
        measure_real(out / REAL, scope, shard)
    write_pages(out, in_docs=out == HERE)
    print(out, file=sys.stderr)


def scope_of(arguments: argparse.Namespace) -> Scope:
    """What is measured, by the arguments."""
    scope = QUICK if arguments.quick else FULL
    if arguments.seconds:
        scope = replace(scope, seconds=arguments.seconds, real_seconds=arguments.seconds)
    if arguments.seeds:
        scope = replace(scope, seeds=seeds_of(arguments.seeds))
    only = tuple(arguments.only.split(","))
    if not set(only) <= set(TABLES):
        sys.exit(f"--only {arguments.only}: expected some of {', '.join(TABLES)}")
    return replace(scope, only=only)


if __name__ == "__main__":
    main()
