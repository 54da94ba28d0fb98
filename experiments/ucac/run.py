"""`python -m experiments.ucac.run [--only cells,week,figure,times,stock,days] [--seeds 0-4] [--out FOLDER]`

Pack what is missing and append one row per packing to cells.csv (Tables 1, 2, 3), seven rows per week to week.csv (Table 4 and
the search for n), one row per curve to figure3.csv, one row per column generation to columns.csv, one row per cutting stock step
to stock.csv, one row per service of a public trace to days.csv (Figures 1 and 5); then write the tables of docs/verbs/ucac.md and
the pictures. Resumable: what a file already has is not measured again. `--quick` takes small clusters, one
seed, and a new folder if none is given. `--engine pool --threads N` measures N cells at a time.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bayplan.generate.ucac import CASES
from bayplan.generate.ucac_services import DRIFT, SIZE, SWING
from bayplan.model import Budget
from experiments.results import append, rows, where
from experiments.sweeps import Runs, add_engine_options, moment, runs_of, seeds_of, sweep
from experiments.ucac import cells, times, traces, weeks
from experiments.ucac.figures import ALPHAS, METHODS, SERVICES
from experiments.ucac.pages import write_pages
from experiments.ucac.swept import FigureCell, SettingCell, TimeCell, WeekCell, curve, cutting_stock, generated, packing, week

HERE = Path(__file__).parent
CELLS, WEEK, FIGURE, TIMES = "cells.csv", "week.csv", "figure3.csv", "columns.csv"
STOCK, TRACES = "stock.csv", "days.csv"
KEY = ("case", "services", "alpha", "seed", "method")
CELL_FIELDS = (*KEY, *cells.MEASURES, "commit", "machine")
WEEK_KEY = ("method", "n", "seed")
WEEK_FIELDS = (*WEEK_KEY, *weeks.MEASURES, "commit", "machine")
FIGURE_KEY = ("case", "method")
FIGURE_FIELDS = (*FIGURE_KEY, "services", "alpha", "seed", "ucac", "commit", "machine")  # ucac: cores, fullest machine first
TIME_KEY = ("services", "alpha", "seed", "goal")
TIME_FIELDS = (*TIME_KEY, *times.MEASURES, "commit", "machine")
STOCK_KEY = ("case", "services", "alpha", "seed")
STOCK_FIELDS = (*STOCK_KEY, *times.STOCK_MEASURES, "commit", "machine")
TRACE_FIELDS = (*traces.MEASURES, "commit", "machine")
PARTS = ("cells", "week", "figure", "times", "stock", "days")
SEARCHED = (0.90, 1.00, 1.05, 1.10, 1.15, 1.20, 1.23, 1.25, 1.30, 1.35, 1.40, 1.50, 1.75, 2.00, 2.50, 3.09)  # n of bf-nsigma
OTHERS = ("csp-machines", "csp-mac", "bf-ucac", "bi-level", "csp-ucac")

SIZE_OF_CELLS = cells.Size()
SIZE_OF_WEEKS = weeks.Days(size=SIZE, swing=SWING, drift=DRIFT, machines=4000, draws=cells.DRAWS, budget=cells.BUDGET)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is to be measured."""

    services: Sequence[int] = SERVICES
    seeds: Sequence[int] = range(5)
    size: cells.Size = SIZE_OF_CELLS
    days: weeks.Days = SIZE_OF_WEEKS
    searched: Sequence[float] = SEARCHED
    generated: Sequence[tuple[int, Sequence[int]]] = ((20, range(200, 220)), (100, range(200, 202)))  # services, fresh seeds
    traces: bool = True


SHORT = Budget(seconds=0.3)
QUICK = Scope(
    services=(2, 3),
    seeds=(0,),
    size=cells.Size(machines=40, scale=0.01, draws=100, budget=SHORT),
    days=weeks.Days(size=0.005, swing=SWING, drift=DRIFT, machines=40, draws=100, budget=SHORT),
    searched=(1.15, 1.23, 3.09),
    generated=((3, (200,)),),
    traces=False,
)


def measure_cells(path: Path, scope: Scope, runs: Runs) -> None:
    """One row per packing that is not there yet."""
    some = [SettingCell(setting=setting, method=method) for setting in settings(scope) for method in METHODS]
    sweep(path, KEY, some, partial(packing, size=scope.size), runs, fields=CELL_FIELDS)


def settings(scope: Scope) -> Iterator[cells.Setting]:
    """In an order that makes each initial layout once."""
    for seed in scope.seeds:
        for services in scope.services:
            for alpha in ALPHAS:
                for case in CASES:
                    yield cells.Setting(case=case, services=services, alpha=alpha, seed=seed)


def measure_weeks(path: Path, scope: Scope, runs: Runs) -> None:
    """Seven rows per method and seed that is not there yet."""
    methods = [(method, None) for method in OTHERS] + [(weeks.NSIGMA, n) for n in scope.searched]
    some = [WeekCell(method=method, n=n, seed=seed) for seed in scope.seeds for method, n in methods]
    sweep(path, WEEK_KEY, some, partial(week, days=scope.days), runs, fields=WEEK_FIELDS)


def measure_figure(path: Path, scope: Scope, runs: Runs) -> None:
    """One row per curve of Figure 3 that is not there yet: K = 20, 99.9 %, the first seed."""
    fixed = {"services": scope.services[-1], "alpha": ALPHAS[0], "seed": scope.seeds[0]}
    every = [cells.Setting(case=case, **fixed) for case in CASES]
    some = [FigureCell(setting=setting, method=method) for setting in every for method in METHODS]
    sweep(path, FIGURE_KEY, some, partial(curve, size=scope.size), runs, fields=FIGURE_FIELDS)


def measure_times(path: Path, scope: Scope, runs: Runs) -> None:
    """One row per column generation that is not there yet."""
    some = [
        TimeCell(services=services, alpha=alpha, seed=seed, goal=goal)
        for services, seeds in scope.generated
        for seed in seeds
        for alpha in ALPHAS
        for goal in times.GOALS
    ]
    sweep(path, TIME_KEY, some, partial(generated, size=scope.size), runs, fields=TIME_FIELDS)


def measure_stock(path: Path, scope: Scope, runs: Runs) -> None:
    """One row per instance whose cutting stock step was not timed yet."""
    some = [SettingCell(setting=setting) for setting in settings(scope)]
    sweep(path, STOCK_KEY, some, partial(cutting_stock, size=scope.size), runs, fields=STOCK_FIELDS)


def measure_traces(path: Path, scope: Scope, runs: Runs) -> None:
    """One row per service of the public traces; nothing where they are not there, or in a first look."""
    if not rows(path) and scope.traces:
        append(path, TRACE_FIELDS, [{**row, **where()} for row in traces.measured()])


MEASURE = dict(
    zip(
        PARTS,
        (
            (measure_cells, CELLS),
            (measure_weeks, WEEK),
            (measure_figure, FIGURE),
            (measure_times, TIMES),
            (measure_stock, STOCK),
            (measure_traces, TRACES),
        ),
        strict=True,
    )
)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what is missing, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small clusters, one seed")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--seeds", default="0-4", help="such as 0-4, or 3")
    add_engine_options(parser)
    parser.add_argument("--until", type=moment, metavar="HH:MM", help="begin no cell after this time")
    parser.add_argument("--out", type=Path, help="the folder for the CSV files and the page")
    arguments = parser.parse_args(argv)
    out = arguments.out or (Path(tempfile.mkdtemp()) if arguments.quick else HERE)
    out.mkdir(parents=True, exist_ok=True)
    where()
    scope = QUICK if arguments.quick else Scope(seeds=seeds_of(arguments.seeds))
    runs = runs_of(arguments)
    with runs.engine:
        for part in filter(None, arguments.only.split(",")):
            measure, name = MEASURE[part]
            measure(out / name, scope, runs)
    write_pages(out, in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
