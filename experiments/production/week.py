"""`python -m experiments.production.week [--quick] [--until 14:30] [--only weeks,again,steps] [--out FOLDER]`

A simulated week of the loop beside the default scheduler alone, every turn a row of week-turns.csv, every cell a row of
week-cells.csv; what RASA answers when it starts from its own answer (week-again.csv); and plans in turn, each by itself or as a
part of the way (week-steps.csv).
Then the page docs/verbs/production-week.md. Resumable: what a file has is not measured again. Plans are made by one thread in
seconds of the processor. M3 is read from rasa/ in the folder BAYPLAN_DATA or in ../shared/data beside the repository; where it is
not there, a generated cluster of its size stands in for it. `--quick`: an hour of the demo shop, into a new folder.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from experiments.combined.clusters import known
from experiments.production.week_again import KEY_AGAIN, QUICK_RUNS, again_runs, answered_again, step_runs, stepped
from experiments.production.week_cells import MEASURES, simulated
from experiments.production.week_pages import AGAIN, CELLS, STEPS, TURNS, write_page
from experiments.production.week_settings import GENERATED, KEY, M3, QUICK, Cell, Scope
from experiments.results import append, rows
from experiments.sweeps import Runs, arguments_of, sweep

HERE = Path(__file__).parent

PARTS = ("weeks", "again", "steps")


def measured(cell: Cell, out: Path) -> dict[str, str]:
    """The row of a cell; its turns are appended to their own file before, each as soon as it is over."""
    head = dict(zip(KEY, cell.key, strict=True))
    return simulated(cell, lambda turn: append(out / TURNS, (*KEY, *MEASURES), [{**head, **turn}]))


def forget_unfinished(out: Path) -> None:
    """Take turns out of the file whose cell has no row of its own: the run was stopped between the two."""
    done = {tuple(row[name] for name in KEY) for row in rows(out / CELLS)}
    turns = rows(out / TURNS)
    kept = [row for row in turns if tuple(row[name] for name in KEY) in done]
    if len(kept) < len(turns):
        (out / TURNS).unlink()
        append(out / TURNS, (*KEY, *MEASURES), kept)


def usable(cells: Sequence[Cell]) -> list[Cell]:
    """The cells, with a generated cluster for M3 where its file is not there."""
    here = known(M3) if any(cell.cluster == M3 for cell in cells) else True
    return [cell if here or cell.cluster != M3 else replace(cell, cluster=GENERATED) for cell in cells]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the page."""
    arguments, only, out = arguments_of(__doc__, PARTS, HERE, argv)
    cells = usable(list((QUICK if arguments.quick else Scope()).cells()))
    runs = QUICK_RUNS if arguments.quick else None
    if "again" in only and not arguments.quick:
        sweep(out / AGAIN, KEY_AGAIN, again_runs(), answered_again, Runs(until=arguments.until))
    if not arguments.quick:
        time.perf_counter = time.process_time  # others that use the machine take nothing from a plan
    if "steps" in only:
        sweep(out / STEPS, KEY_AGAIN, runs or step_runs(), stepped, Runs(until=arguments.until))
    if "weeks" in only:
        forget_unfinished(out)
        sweep(out / CELLS, KEY, cells, lambda cell: measured(cell, out), Runs(until=arguments.until))
    write_page(out, {name: rows(out / name) for name in (TURNS, CELLS, AGAIN, STEPS)}, in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
