"""Everything there is to measure at the paper's scales, one row of costs.csv each."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from bayplan.decide.place import PLACERS, PlaceOptions
from bayplan.generate.freecontainer import DataCentre
from bayplan.model import Budget, Placement, Snapshot, Tick, silent
from bayplan.model.problem import Problem
from experiments.freecontainer.instances import DISTANCE, new_service, running
from experiments.freecontainer.measures import COSTS, USED, costs, quantiles, used, violated
from experiments.freecontainer.settings import (
    ABLATION,
    DELTA,
    DELTAS,
    JOINT,
    MINUTE,
    NO_THRESHOLD,
    PHASES,
    PLACED,
    QUICK,
    REBALANCE,
    SEQUENTIAL,
    SMALL,
    START,
    SWEEPS,
    TABLE_4,
    TABLE_5,
    TABLE_6,
    THRESHOLD,
    THRESHOLDS,
    A,
    Scope,
)

DRAWN = ("table4", "table6")  # Figures 4 and 5 show one seed of DC_A
KEY = ("table", "centre", "transient", "method", "threshold", "delta", "allowed", "seed")
TIMES = ("seconds", "cpu", "sweep_cpu")  # of the wall, of the CPU, of the CPU until Sweep ends
FIELDS = (*KEY, *COSTS, *USED, "unplaced", "moved", "rules_violated", *TIMES, "commit", "machine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One run of one method on one instance."""

    table: str
    centre: str
    method: str
    seed: int
    allowed: float  # seconds of the CPU
    transient: str = SEQUENTIAL
    threshold: str = NO_THRESHOLD
    delta: float = DELTA

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes it from the others in the CSV file."""
        where = self.table, self.centre, self.transient, self.method, self.threshold
        return *where, f"{self.delta:g}", f"{self.allowed:g}", str(self.seed)


class Solved(NamedTuple):
    """An instance, a method's placement, and what it took."""

    snapshot: Snapshot
    placement: Placement
    seconds: float = 0.0
    cpu: float = 0.0
    sweep_cpu: float | None = None  # until Sweep ends


class Rows(NamedTuple):
    """What is written of a run, without commit and machine."""

    costs: dict[str, str]
    curves: tuple[dict[str, str], ...]  # of a run that a figure shows


def key_of(row: dict[str, str]) -> tuple[str, ...]:
    """The key of a row that was measured."""
    return tuple(row[name] for name in KEY)


def cells(scope: Scope, shard: tuple[int, int] = (1, 1)) -> Iterator[Cell]:
    """All cells of a scope, or the k-th of n parts: all methods of one instance are in the same part."""
    part, parts = shard
    phases = [([table for table in tables if table in scope.only], centre) for tables, centre in PHASES]
    instances = [(tables, centre, seed) for tables, centre in phases if tables for seed in scope.seeds]
    for tables, centre, seed in instances[part - 1 :: parts]:
        for table in tables:
            yield from _of_instance(table, centre, seed, scope)


def _of_instance(table: str, centre: str, seed: int, scope: Scope) -> Iterator[Cell]:
    allowed = scope.place_seconds if table in PLACED else scope.minute if table == "minute" else scope.seconds
    plain = Cell(table=table, centre=centre, method=START, seed=seed, allowed=allowed)
    if table == "table6":
        for threshold in THRESHOLDS:
            yield replace(plain, method="sweep-search", threshold=threshold)
        yield from (replace(plain, method=method) for method in TABLE_6 if method not in SWEEPS)
    elif table == "table8":  # [FreeContainer] §VI-B2
        yield from (replace(plain, method="sweep-search", threshold=THRESHOLD, delta=delta) for delta in DELTAS)
    else:
        methods = {"table4": TABLE_4, "table5": TABLE_5, "ablation": ABLATION, "joint": TABLE_6, "minute": MINUTE}[table]
        plain = replace(plain, transient=JOINT if table == "joint" else SEQUENTIAL)
        for method in methods:
            yield replace(plain, method=method, threshold=THRESHOLD if method in SWEEPS else NO_THRESHOLD)


def solved(cell: Cell, centre: DataCentre) -> Solved:
    """Run a cell. What it is allowed is CPU time: other work on the machine takes nothing from it."""
    instance = new_service if cell.table in PLACED else running
    snapshot = instance(centre, cell.seed, cell.transient, DISTANCE)
    if cell.method == START:
        return Solved(snapshot, snapshot.placement)
    problem, budget = Problem.of(snapshot), Budget(seconds=cell.allowed)
    swept: list[float] = []

    def progress(tick: Tick) -> None:
        if tick.stage == "sweep":
            swept.append(time.process_time() - cpu)

    wall, cpu = time.monotonic(), time.process_time()
    with _clock_of_the_cpu():
        if cell.table in PLACED:
            result = PLACERS[cell.method](problem, PlaceOptions(), budget=budget, seed=cell.seed, progress=silent)
        else:
            options = replace(THRESHOLDS.get(cell.threshold, THRESHOLDS[THRESHOLD]), delta=cell.delta)
            result = REBALANCE[cell.method](problem, options, budget=budget, seed=cell.seed, progress=progress)
    assert result.solution is not None
    took = time.monotonic() - wall, time.process_time() - cpu
    return Solved(snapshot, result.solution, *took, swept[-1] if swept else None)


@contextmanager
def _clock_of_the_cpu() -> Iterator[None]:
    """Budgets count the CPU seconds of this process, not those of the wall."""
    before = time.perf_counter
    time.perf_counter = time.process_time
    try:
        yield
    finally:
        time.perf_counter = before


def row(cell: Cell, run: Solved) -> dict[str, str]:
    """What is written of a run, without commit and machine."""
    snapshot, placement = run.snapshot, run.placement
    numbers = {**costs(snapshot.cluster, placement, snapshot.objective), **used(snapshot.cluster, placement)}
    return {
        **dict(zip(KEY, cell.key, strict=True)),
        **{name: f"{value:.8g}" for name, value in numbers.items()},
        "unplaced": str(len(placement.unplaced)),
        "moved": str(len(placement.moved_from(snapshot.placement))),
        "rules_violated": str(sum(count for count, _ in violated(snapshot.cluster, placement, snapshot.placement).values())),
        "seconds": f"{run.seconds:.4f}",
        "cpu": f"{run.cpu:.4f}",
        "sweep_cpu": "" if run.sweep_cpu is None else f"{run.sweep_cpu:.4f}",
    }


def measured(cell: Cell, scope: Scope) -> Rows:
    """What is written of a cell. Its method has run once before on a small instance: no cell pays for compiling."""
    _warm(cell.table in PLACED, cell.method)
    answer = solved(cell, scope.centres[cell.centre])
    shown = quantiles(answer.snapshot.cluster, answer.placement) if drawn(cell) and cell.seed == scope.seeds[0] else ()
    return Rows(row(cell, answer), tuple(shown))


@cache
def _warm(placing: bool, method: str) -> None:
    solved(Cell(table="table4" if placing else "table6", centre=A, method=method, seed=0, allowed=QUICK.seconds), SMALL)


def drawn(cell: Cell) -> bool:
    """Is its placement a curve in Figure 4 or 5?"""
    threshold = cell.threshold in (THRESHOLD, NO_THRESHOLD)
    return cell.table in DRAWN and cell.centre == A and cell.method != START and threshold
