"""`python -m experiments.freecontainer.run [--quick] [--only table4,...] [--seeds 0-9] [--shard 1/2] [--until 06:45]`

Measure what is missing, append each run to a CSV file as soon as it has ended, then write the tables and figures of
docs/verbs/place.md and docs/verbs/rebalance.md. What a method is allowed are seconds of the CPU. Resumable: what a file has is
not measured again; delete it to start over. `--until` begins no run after that time. `--shard k/n` measures the k-th of n
parts, so that n processes can work at the same time; `--engine pool --threads N` measures N cells at a time. With `--out`
everything goes into that folder. `--quick` takes tiny data centres, one seed and fractions of seconds, and a new folder if none
is given.
The layouts of the Tianchi trace are read from the folder BAYPLAN_DATA, or from ../shared/data beside the repository.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from experiments.freecontainer import real
from experiments.freecontainer.cells import FIELDS, Cell, Rows, cells, key_of, measured
from experiments.freecontainer.pages import write_pages
from experiments.freecontainer.settings import FULL, QUICK, TABLES, A, Scope
from experiments.results import append, rows
from experiments.sweeps import Measured, Runs, add_engine_options, measure_all, moment, runs_of, seeds_of, shard_of

HERE = Path(__file__).parent
COSTS, CURVES, REAL = "costs.csv", "curves.csv", "real.csv"
CURVE_FIELDS = ("table", "centre", "seed", "method", "percent", "cpu", "memory", "ssd")


def measure(folder: Path, scope: Scope, shard: tuple[int, int] = (1, 1), runs: Runs | None = None) -> None:
    """One row per cell that is not there yet."""
    done = {key_of(row) for row in rows(folder / COSTS)}
    todo = [cell for cell in cells(scope, shard) if cell.key not in done]

    def keep(cell: Cell, new: Measured[Rows]) -> None:
        fixed = {"table": cell.table, "centre": A, "seed": str(cell.seed), "method": cell.method}
        if new.value.curves:
            append(folder / CURVES, CURVE_FIELDS, [{**fixed, **curve} for curve in new.value.curves])
        append(folder / COSTS, FIELDS, [{**new.value.costs, **new.where}])

    measure_all(todo, partial(measured, scope=scope), keep, runs or Runs(), show=lambda new: f"{new.costs['seconds']} s")


def measure_real(path: Path, scope: Scope, shard: tuple[int, int], runs: Runs) -> None:
    """The real layouts, if their files are there."""
    try:
        real.measure(path, scope, shard, runs)
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
    add_engine_options(parser)
    parser.add_argument("--until", type=moment, metavar="HH:MM", help="begin no run after this time")
    parser.add_argument("--out", type=Path, help="the folder for the CSV files, tables and figures")
    arguments = parser.parse_args(argv)
    out = arguments.out or (Path(tempfile.mkdtemp()) if arguments.quick else HERE)
    out.mkdir(parents=True, exist_ok=True)
    scope, shard = scope_of(arguments), shard_of(arguments.shard)
    runs = runs_of(arguments)
    with runs.engine:
        measure(out, scope, shard, runs)
        if "real" in scope.only:
            measure_real(out / REAL, scope, shard, runs)
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
