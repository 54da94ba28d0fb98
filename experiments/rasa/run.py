"""`python -m experiments.rasa.run [--quick] [--part m3,front,...] [--until 06:45] [--out FOLDER]`

Measure what is missing, append each answer to the CSV file of its part as soon as it is checked, then write the tables and the
figures of docs/verbs/rasa.md. Every answer is found in processes of its own. Resumable: what a file has is not measured again;
delete its row to measure it anew. A question that several parts ask is answered once. `--until` ends a part before the first
cell that would not be done by then.
`--quick` takes a small generated cluster, one seed, fractions of seconds, this process, and a new folder if none is given.
M3 is read from rasa/M3.json in the folder BAYPLAN_DATA, or in ../shared/data beside the repository; without it M3 is left out.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from bayplan.cli.console import clock
from bayplan.formats import read
from experiments.rasa.bounds import EVERY as EVERY_BOUND
from experiments.rasa.bounds import QUICK as QUICK_BOUND
from experiments.rasa.bounds import measure_bounds
from experiments.rasa.cells import KEY, MEASURES, Cell, measured, question_of_row
from experiments.rasa.clusters import M3, file_of, has_data
from experiments.rasa.pages import write_pages
from experiments.rasa.parts import BOUND, PARTS, POWER_LAW, QUICK, Scope
from experiments.rasa.powerlaw import CURVES, fitted, ranked
from experiments.rasa.powerlaw import MEASURES as FITTED
from experiments.rasa.process import in_a_process
from experiments.results import Row, append, commit, machine, rows
from experiments.sweeps import moment

HERE = Path(__file__).parent
FIELDS = (*KEY, *MEASURES, "commit", "machine")
FIT_KEY = ("cluster", "curve")
FIT_FIELDS = (*FIT_KEY, *FITTED, "commit", "machine")
EVERY_PART = (*PARTS, POWER_LAW, BOUND)


def measure(path: Path, cells: Sequence[Cell], *, quick: bool, until: datetime | None) -> None:
    """One row per cell that is not there yet."""
    done = {tuple(row[name] for name in KEY) for row in rows(path)}
    todo = [cell for cell in cells if cell.key not in done]
    for number, cell in enumerate(todo):
        before = answers(path.parent).get(cell.question)
        if before is None and until is not None and datetime.now() + timedelta(seconds=cell.seconds) > until:
            print(f"{path.stem}: no time for {len(todo) - number} of {len(cells)} cells", file=sys.stderr)
            return
        found = before or (_here(cell) if quick else in_a_process(cell, file_of(cell.cluster)))
        new = {name: found[name] for name in MEASURES}
        words = [new[name] or "-" for name in ("affinity", "moved", "wall", "memory", "valid", "fault")]
        print(f"{path.stem} {number + 1}/{len(todo)}: {' '.join(filter(None, cell.key))}: {' '.join(words)}", file=sys.stderr)
        append(path, FIELDS, [{**dict(zip(KEY, cell.key, strict=True)), **new, **_where()}])


def answers(folder: Path) -> dict[tuple[str, ...], Row]:
    """What this very commit has answered, in whatever part: nothing is asked twice."""
    every = [row for part in PARTS for row in rows(folder / f"{part}.csv")]
    return {question_of_row(row): row for row in every if row["commit"] == _where()["commit"]}


def _here(cell: Cell) -> dict[str, str]:
    """The measures of a cell without a process of its own."""
    clock.start(())
    return {**measured(cell, file_of(cell.cluster)), "memory": "", "fault": ""}


def measure_fits(path: Path, clusters: Sequence[str]) -> None:
    """Two rows per cluster that is not there yet."""
    done = {tuple(row[name] for name in FIT_KEY) for row in rows(path)}
    for cluster in clusters:
        missing = [curve for curve in CURVES if (cluster, curve) not in done]
        affinity = ranked(read(file_of(cluster)).cluster) if missing else None
        for curve in missing:
            assert affinity is not None
            new: Row = {"cluster": cluster, "curve": curve, **fitted(affinity, curve), **_where()}
            append(path, FIT_FIELDS, [new])


@cache
def _where() -> dict[str, str]:
    """The commit whose code is measured: later ones, made while this runs, are not."""
    return {"commit": commit(), "machine": machine()}


def known(clusters: Sequence[str]) -> tuple[str, ...]:
    """Those that can be had; says so if M3 is missing."""
    if M3 in clusters and not has_data():
        print("M3 left out: set BAYPLAN_DATA to the folder that has rasa/M3.json", file=sys.stderr)
        return tuple(name for name in clusters if name != M3)
    return tuple(clusters)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small generated cluster, one seed, fractions of seconds")
    parser.add_argument("--part", default=",".join(EVERY_PART), help=f"some of {', '.join(EVERY_PART)}")
    parser.add_argument("--until", type=moment, help="such as 06:45: begin nothing that ends later")
    parser.add_argument("--out", type=Path, help="the folder for the CSV files, the page and the figures")
    asked = parser.parse_args(argv)
    parts = asked.part.split(",")
    if not set(parts) <= set(EVERY_PART):
        sys.exit(f"--part {asked.part}: expected some of {', '.join(EVERY_PART)}")
    out = asked.out or (Path(tempfile.mkdtemp()) if asked.quick else HERE)
    out.mkdir(parents=True, exist_ok=True)
    _where()
    scope = QUICK if asked.quick else Scope()
    usable = known((scope.real, *scope.clusters))
    for part in [name for name in PARTS if name in parts]:
        cells = [cell for cell in PARTS[part](scope) if cell.cluster in usable]
        measure(out / f"{part}.csv", cells, quick=asked.quick, until=asked.until)
    if POWER_LAW in parts:
        measure_fits(out / f"{POWER_LAW}.csv", [name for name in scope.clusters if name in usable])
    if BOUND in parts:
        bounds = QUICK_BOUND if asked.quick else [some for some in EVERY_BOUND if some.cluster in usable]
        measure_bounds(out / f"{BOUND}.csv", bounds, _where())
    write_pages(out, in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
