"""`python -m experiments.rasa.run [--quick] [--part m3,front,...] [--shard 1/2] [--until 06:45] [--out FOLDER]`

Measure what is missing, append each answer to the CSV file of its part as soon as it is checked, then write the tables and the
figures of docs/verbs/rasa.md. Every answer is found in processes of its own, of one thread where nothing else is said. All parts
with seed 0 come first, then those with seed 1, and so on. Resumable: what a file has is not measured again; delete its row to
measure it anew. A question that several parts ask is answered once. `--until` begins nothing that would not be done by then.
Two runs with `--shard 1/2` and `--shard 2/2` share the work: give each a core of its own, since unequal CPU is not compared.
So do with `--engine pool --threads N`, which measures N cells at a time: as many cores as N times the threads of a cell.
`--no-networks` leaves out the cells whose answers depend on the weights of the selector's networks.
`--quick` takes a small generated cluster, one seed, fractions of seconds, this process, and a new folder if none is given.
M3 is read from rasa/M3.json in the folder BAYPLAN_DATA, or in ../shared/data beside the repository; without it M3 is left out.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from bayplan.formats import read
from experiments.rasa.bounds import EVERY as EVERY_BOUND
from experiments.rasa.bounds import KEY as BOUND_KEY
from experiments.rasa.bounds import QUICK as QUICK_BOUND
from experiments.rasa.bounds import proven
from experiments.rasa.cells import KEY, MEASURES, Cell, measured_here, question_of_row
from experiments.rasa.clusters import M3, file_of, has_data
from experiments.rasa.pages import write_pages
from experiments.rasa.parts import BOUND, PARTS, POWER_LAW, QUICK, Scope, in_order, seconds_of, share_of
from experiments.rasa.powerlaw import CURVES, fitted, ranked
from experiments.rasa.powerlaw import MEASURES as FITTED
from experiments.rasa.process import in_a_process
from experiments.rasa.stale import asks_a_network
from experiments.rasa.start import Measure, started_and_answered
from experiments.results import Row, append, rows, where
from experiments.sweeps import Measured, Runs, add_engine_options, measure_all, moment, runs_of, shard_of, sweep

HERE = Path(__file__).parent
FIELDS = (*KEY, *MEASURES, "commit", "machine")
FIT_KEY = ("cluster", "curve")
FIT_FIELDS = (*FIT_KEY, *FITTED, "commit", "machine")
EVERY_PART = (*PARTS, POWER_LAW, BOUND)
SHOWN = ("affinity", "moved", "wall", "cpu", "by_cg", "by_mip", "by_greedy", "memory", "valid", "fault")


def measure(folder: Path, cells: Sequence[tuple[str, Cell]], measured: Measure, runs: Runs | None = None) -> None:
    """One row, in the file of its part, per cell that is not there yet. A question that several cells ask is answered once."""
    before, done = answers(folder), {part: _done(folder / f"{part}.csv") for part in dict(cells)}
    todo: dict[tuple[str, ...], list[tuple[str, Cell]]] = {}
    for part, cell in cells:
        if cell.key not in done[part]:
            todo.setdefault(cell.question, []).append((part, cell))

    def keep(asked: Cell, new: Measured[Row]) -> None:
        for part, cell in todo[asked.question]:
            row = {name: new.value[name] for name in MEASURES}
            append(folder / f"{part}.csv", FIELDS, [{**dict(zip(KEY, cell.key, strict=True)), **row, **new.where}])

    for question in (question for question in todo if question in before):
        keep(todo[question][0][1], Measured(before[question], where()))
    new = [asked[0][1] for question, asked in todo.items() if question not in before]
    for _, some in groupby(new, lambda cell: cell.before is None):  # what starts from an answer begins when all before has ended
        measure_all(
            list(some), partial(started_and_answered, measured=measured), keep, runs or Runs(), show=_words, lasts=seconds_of
        )


def _words(row: Row) -> str:
    return " ".join(row[name] or "-" for name in SHOWN)


def _done(path: Path) -> set[tuple[str, ...]]:
    return {tuple(row[name] for name in KEY) for row in rows(path)}


def answers(folder: Path) -> dict[tuple[str, ...], Row]:
    """What this very commit has answered, in whatever part: nothing is asked twice."""
    every = [row for part in PARTS for row in rows(folder / f"{part}.csv")]
    return {question_of_row(row): row for row in every if row["commit"] == where()["commit"]}


def measure_fits(path: Path, clusters: Sequence[str]) -> None:
    """Two rows per cluster that is not there yet."""
    done = {tuple(row[name] for name in FIT_KEY) for row in rows(path)}
    for cluster in clusters:
        missing = [curve for curve in CURVES if (cluster, curve) not in done]
        affinity = ranked(read(file_of(cluster)).cluster) if missing else None
        for curve in missing:
            assert affinity is not None
            new: Row = {"cluster": cluster, "curve": curve, **fitted(affinity, curve), **where()}
            append(path, FIT_FIELDS, [new])


def known(clusters: Sequence[str]) -> tuple[str, ...]:
    """Those that can be had; says so if M3 is missing."""
    if M3 in clusters and not has_data():
        print("M3 left out: set BAYPLAN_DATA to the folder that has rasa/M3.json", file=sys.stderr)
        return tuple(name for name in clusters if name != M3)
    return tuple(clusters)


def arguments_of(argv: Sequence[str] | None) -> tuple[argparse.Namespace, list[str], Path]:
    """All arguments, the parts, and the folder, which exists now."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small generated cluster, one seed, fractions of seconds")
    parser.add_argument("--part", default=",".join(EVERY_PART), help=f"some of {', '.join(EVERY_PART)}")
    parser.add_argument("--shard", type=shard_of, default=(1, 1), metavar="K/N", help="the K-th of N shares of the work")
    parser.add_argument("--seeds", type=int, default=Scope().seeds, help="of Figures 6 to 10")
    parser.add_argument("--no-networks", action="store_true", help="without cells that ask a trained network")
    add_engine_options(parser)
    parser.add_argument("--until", type=moment, help="such as 06:45: begin nothing that ends later")
    parser.add_argument("--out", type=Path, help="the folder for the CSV files, the page and the figures")
    arguments = parser.parse_args(argv)
    parts = arguments.part.split(",")
    if not set(parts) <= set(EVERY_PART):
        sys.exit(f"--part {arguments.part}: expected some of {', '.join(EVERY_PART)}")
    out = arguments.out or (Path(tempfile.mkdtemp()) if arguments.quick else HERE)
    out.mkdir(parents=True, exist_ok=True)
    return arguments, parts, out


def cells_of(arguments: argparse.Namespace, parts: Sequence[str], scope: Scope) -> list[tuple[str, Cell]]:
    """The cells of this share of the work, with their parts."""
    usable = known((scope.real, *scope.clusters))
    cells = [(part, cell) for part, cell in in_order(scope, parts) if cell.cluster in usable]
    mine = share_of([cell for _, cell in cells], *arguments.shard)
    some = [(part, cell) for part, cell in cells if cell.question in mine]
    return [(part, cell) for part, cell in some if not (arguments.no_networks and asks_a_network(cell))]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    arguments, parts, out = arguments_of(argv)
    where()
    scope = QUICK if arguments.quick else Scope(seeds=arguments.seeds)
    cells = cells_of(arguments, parts, scope)
    print(f"{len({cell.question for _, cell in cells})} questions, {len(cells)} cells", file=sys.stderr)
    runs = runs_of(arguments)
    with runs.engine:
        measure(out, cells, measured_here if arguments.quick else in_a_process, runs)
        measure_others(out, parts, scope, arguments, runs)
    write_pages(out, in_docs=out == HERE)
    print(out, file=sys.stderr)


def measure_others(out: Path, parts: Sequence[str], scope: Scope, arguments: argparse.Namespace, runs: Runs) -> None:
    """The parts that need no method; those of the first share of the work."""
    usable = known((scope.real, *scope.clusters))
    if POWER_LAW in parts and arguments.shard[0] == 1:
        measure_fits(out / f"{POWER_LAW}.csv", [name for name in scope.clusters if name in usable])
    if BOUND in parts and arguments.shard[0] == 1:
        bounds = QUICK_BOUND if arguments.quick else [one for one in EVERY_BOUND if one.cluster in usable]
        sweep(out / f"{BOUND}.csv", BOUND_KEY, bounds, proven, runs)


if __name__ == "__main__":
    main()
