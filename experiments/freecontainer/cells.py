"""Everything there is to measure at the paper's scales, one row of costs.csv each."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bayplan.decide.place import PLACERS, PlaceOptions
from bayplan.decide.rebalance import RebalanceOptions
from bayplan.generate.freecontainer import DataCentre
from bayplan.model import Budget, Placement, Snapshot, silent
from bayplan.model.problem import Problem
from experiments.freecontainer.instances import new_service, running
from experiments.freecontainer.measures import COSTS, CPU, costs, cpu, violated
from experiments.freecontainer.settings import (
    ABLATION,
    DELTA,
    DELTAS,
    QUICK,
    REBALANCE,
    SMALL,
    START,
    TABLE_4,
    TABLE_5,
    TABLE_6,
    A,
    Scope,
)

KEY = ("table", "centre", "method", "delta", "seed", "allowed")
FIELDS = (*KEY, *COSTS, *CPU, "unplaced", "moved", "rules_violated", "seconds", "commit", "machine")
PLACE_TABLES = ("table4", "table5")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One run of one method on one instance."""

    table: str
    centre: str
    method: str
    seed: int
    allowed: float  # seconds
    delta: float = DELTA

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes it from the others in the CSV file. The seconds are not in it: change them, and start a new file."""
        return self.table, self.centre, self.method, f"{self.delta:g}", str(self.seed)


def key_of(row: dict[str, str]) -> tuple[str, ...]:
    """The key of a row that was measured."""
    return tuple(row[name] for name in KEY[:-1])


def cells(scope: Scope, shard: tuple[int, int] = (1, 1)) -> Iterator[Cell]:
    """All cells of a scope, or the k-th of n parts: all methods of one instance are in the same part."""
    part, parts = shard
    for table in scope.only:
        instances = [(centre, seed) for seed in scope.seeds for centre in scope.centres]
        for centre, seed in instances[part - 1 :: parts]:
            yield from _of_instance(table, centre, seed, scope)


def _of_instance(table: str, centre: str, seed: int, scope: Scope) -> Iterator[Cell]:
    methods: dict[str, Sequence[str]] = {"table4": TABLE_4, "table5": TABLE_5, "table6": TABLE_6}
    allowed = scope.place_seconds if table in PLACE_TABLES else scope.seconds
    for method in methods.get(table, ()):
        yield Cell(table=table, centre=centre, method=method, seed=seed, allowed=allowed)
    if centre == A and table == "table8":  # [FreeContainer] §VI-B2: in DC_A
        for delta in DELTAS:
            yield Cell(table=table, centre=centre, method="sweep-search", seed=seed, allowed=allowed, delta=delta)
    if centre == A and table == "ablation":
        for method in ABLATION:
            yield Cell(table=table, centre=centre, method=method, seed=seed, allowed=allowed)


def solved(cell: Cell, centre: DataCentre) -> tuple[Snapshot, Placement, float]:
    """The instance, the method's placement, and the seconds that it took."""
    snapshot = (new_service if cell.table in PLACE_TABLES else running)(centre, cell.seed)
    if cell.method == START:
        return snapshot, snapshot.placement, 0.0
    problem, budget = Problem.of(snapshot), Budget(seconds=cell.allowed)
    started = time.perf_counter()
    if cell.table in PLACE_TABLES:
        result = PLACERS[cell.method](problem, PlaceOptions(), budget=budget, seed=cell.seed, progress=silent)
    else:
        options = RebalanceOptions(delta=cell.delta)
        result = REBALANCE[cell.method](problem, options, budget=budget, seed=cell.seed, progress=silent)
    assert result.solution is not None
    return snapshot, result.solution, time.perf_counter() - started


def row(cell: Cell, snapshot: Snapshot, placement: Placement, seconds: float) -> dict[str, str]:
    """What is written of a run, without commit and machine."""
    numbers = {**costs(snapshot.cluster, placement, snapshot.objective), **cpu(snapshot.cluster, placement)}
    return {
        **dict(zip(KEY, (*cell.key, f"{cell.allowed:g}"), strict=True)),
        **{name: f"{value:.8g}" for name, value in numbers.items()},
        "unplaced": str(len(placement.unplaced)),
        "moved": str(len(placement.moved_from(snapshot.placement))),
        "rules_violated": str(sum(count for count, _ in violated(snapshot.cluster, placement, snapshot.placement).values())),
        "seconds": f"{seconds:.4f}",
    }


def warm(scope: Scope) -> None:
    """Run every method once on a small instance: no cell pays for compiling."""
    for method in dict.fromkeys((cell.table in PLACE_TABLES, cell.method) for cell in cells(scope)):
        table = "table4" if method[0] else "table6"
        solved(Cell(table=table, centre=A, method=method[1], seed=0, allowed=QUICK.seconds), SMALL)
