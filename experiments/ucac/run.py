"""`python -m experiments.ucac.run [--only cells,week,figure,times,stock,days] [--seeds 0-4] [--out FOLDER]`

Pack what is missing and append one row per packing to cells.csv (Tables 1, 2, 3), seven rows per week to week.csv (Table 4 and
the search for n), one row per curve to figure3.csv, one row per column generation to columns.csv, one row per cutting stock step
to stock.csv, one row per service of a public trace to days.csv (Figures 1 and 5); then write the tables of docs/verbs/ucac.md and
the pictures. Resumable: what a file already has is not measured again. `--quick` takes small clusters, one
seed, and a new folder if none is given.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bayplan.generate.ucac import CASES
from bayplan.generate.ucac_services import DRIFT, SIZE, SWING
from bayplan.model import Budget
from experiments.results import append, commit, machine, rows
from experiments.sweeps import seeds_of
from experiments.ucac import cells, times, traces, weeks
from experiments.ucac.figures import ALPHAS, METHODS, SERVICES
from experiments.ucac.pages import write_pages

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


def measure_cells(path: Path, scope: Scope) -> None:
    """One row per packing that is not there yet."""
    done = {tuple(row[name] for name in KEY) for row in rows(path)}
    for setting in settings(scope):
        first = (setting.case, str(setting.services), f"{setting.alpha:g}", str(setting.seed))
        missing = [method for method in METHODS if (*first, method) not in done]
        snapshot = cells.instance(setting, scope.size) if missing else None
        for method in missing:
            assert snapshot is not None
            new = cells.measured(setting, snapshot, method, scope.size)
            print(*first, method, new["ucac"], new["machines"], f"{new['seconds']} s", file=sys.stderr)
            append(path, CELL_FIELDS, [{**dict(zip(KEY, (*first, method), strict=True)), **new, **_where()}])


def settings(scope: Scope) -> Iterator[cells.Setting]:
    """In an order that makes each initial layout once."""
    for seed in scope.seeds:
        for services in scope.services:
            for alpha in ALPHAS:
                for case in CASES:
                    yield cells.Setting(case=case, services=services, alpha=alpha, seed=seed)


def measure_weeks(path: Path, scope: Scope) -> None:
    """Seven rows per method and seed that is not there yet."""
    done = {tuple(row[name] for name in WEEK_KEY) for row in rows(path)}
    methods = [(method, None) for method in OTHERS] + [(weeks.NSIGMA, n) for n in scope.searched]
    for seed in scope.seeds:
        for method, n in methods:
            key = (method, "" if n is None else f"{n:g}", str(seed))
            if key not in done:
                print("week", *key, file=sys.stderr)
                week = weeks.week_of(method, n, seed, scope.days)
                append(path, WEEK_FIELDS, [{**dict(zip(WEEK_KEY, key, strict=True)), **row, **_where()} for row in week])


def measure_figure(path: Path, scope: Scope) -> None:
    """UCaC of every machine that runs something, for the case of Figure 3: K = 20, 99.9 %, the first seed."""
    done = {tuple(row[name] for name in FIGURE_KEY) for row in rows(path)}
    for case in CASES:
        setting = cells.Setting(case=case, services=scope.services[-1], alpha=ALPHAS[0], seed=scope.seeds[0])
        about = {"services": str(setting.services), "alpha": f"{setting.alpha:g}", "seed": str(setting.seed)}
        for method in [name for name in METHODS if (case, name) not in done]:
            snapshot = cells.instance(setting, scope.size)
            after = cells.answer(cells.packed(snapshot, method, setting.seed, scope.size.budget)[0])
            cores = sorted(cells.used(snapshot.cluster, after, setting.alpha), reverse=True)
            text = " ".join(f"{value:.2f}" for value in cores if value > 0)
            append(path, FIGURE_FIELDS, [{"case": case, "method": method, **about, "ucac": text, **_where()}])


def measure_times(path: Path, scope: Scope) -> None:
    """One row per column generation that is not there yet."""
    done = {tuple(row[name] for name in TIME_KEY) for row in rows(path)}
    for services, seeds in scope.generated:
        for seed in seeds:
            for alpha in ALPHAS:
                for goal in times.GOALS:
                    key = (str(services), f"{alpha:g}", str(seed), goal)
                    if key not in done:
                        new = times.generated(services, alpha, seed, goal, scope.size)
                        print("columns", *key, f"{new['seconds']} s", file=sys.stderr)
                        append(path, TIME_FIELDS, [{**dict(zip(TIME_KEY, key, strict=True)), **new, **_where()}])


def measure_stock(path: Path, scope: Scope) -> None:
    """One row per instance whose cutting stock step was not timed yet."""
    done = {tuple(row[name] for name in STOCK_KEY) for row in rows(path)}
    for setting in settings(scope):
        key = (setting.case, str(setting.services), f"{setting.alpha:g}", str(setting.seed))
        if key not in done:
            new = times.cutting_stock(setting, scope.size)
            print("cutting stock", *key, f"{new['stock_cpu_seconds']} CPU s", file=sys.stderr)
            append(path, STOCK_FIELDS, [{**dict(zip(STOCK_KEY, key, strict=True)), **new, **_where()}])


def measure_traces(path: Path, scope: Scope) -> None:
    """One row per service of the public traces; nothing where they are not there, or in a first look."""
    if not rows(path) and scope.traces:
        append(path, TRACE_FIELDS, [{**row, **_where()} for row in traces.measured()])


@cache
def _where() -> dict[str, str]:
    """The commit whose code this process has loaded: later ones, made while it runs, are not what is measured."""
    return {"commit": commit(), "machine": machine()}


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
    parser.add_argument("--out", type=Path, help="the folder for the CSV files and the page")
    arguments = parser.parse_args(argv)
    out = arguments.out or (Path(tempfile.mkdtemp()) if arguments.quick else HERE)
    out.mkdir(parents=True, exist_ok=True)
    _where()
    scope = QUICK if arguments.quick else Scope(seeds=seeds_of(arguments.seeds))
    for part in arguments.only.split(","):
        if part:
            measure, name = MEASURE[part]
            measure(out / name, scope)
    write_pages(out, in_docs=out == HERE)
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
