"""Measure how many steps a second the record takes, in SQLite and in PostgreSQL, beside a plain file.

A step is written down before it is sent and after it is done, so a batch is two transactions, each on the disk when it is
acknowledged: SQLite with its settings, a PostgreSQL server of our own with fsync on, reached through a Unix socket, and, as the
least that this can cost, lines of JSON in a file that is synchronised twice. They take turns, fifteen times; the medians count.
Rows are appended to `benchmarks/record.csv`. PostgreSQL is left out where it is not installed.

    python -m benchmarks.record
"""

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TypeAlias

from experiments.results import append, commit, machine
from tests.builders import postgres
from tests.builders.records import plan, step

from bayplan.model.record import PlanStatus, RecordedStep, StepStatus
from bayplan.operate.store import Store
from bayplan.operate.store.schema import row_of

RESULTS = Path(__file__).parent / "record.csv"
COLUMNS = ("commit", "machine", "store", "batch", "steps", "seconds", "per_second", "batch_ms", "ratio")
BATCHES = {1: 100, 10: 50, 100: 20}  # steps in a batch, and batches in a run
TIMES = 15
PLAIN = "plain file"
Write: TypeAlias = Callable[[Sequence[RecordedStep]], None]  # a batch: before it is sent, and after it is done
_numbers = count()


def main() -> None:
    """Measure every size on every store, and append the rows."""
    with ExitStack() as stack:
        writes = dict(_stores(stack, Path(stack.enter_context(tempfile.TemporaryDirectory()))))
        for size, batches in BATCHES.items():
            seconds = _measured(writes, size, batches)
            for name, taken in seconds.items():
                row = _row(name, size, batches, taken, seconds[PLAIN])
                append(RESULTS, COLUMNS, [row])
                print(f"{name}, batches of {size}: {row['per_second']} steps a second, ratio {row['ratio']}")


def _stores(stack: ExitStack, folder: Path) -> Iterator[tuple[str, Write]]:
    file = stack.enter_context((folder / "record.jsonl").open("a", encoding="utf-8"))

    def plain(steps: Sequence[RecordedStep]) -> None:
        for state in (steps, _done(steps)):
            file.write("".join(json.dumps(row_of(each)) + "\n" for each in state))
            file.flush()
            os.fsync(file.fileno())

    yield PLAIN, plain
    yield "SQLite", _recorded(stack.enter_context(Store.open(folder / "bayplan.db")))
    if words := postgres.missing():
        print(words)
    else:
        server = stack.enter_context(postgres.server(durable=True))
        yield "PostgreSQL", _recorded(stack.enter_context(Store.open(server.address())))


def _recorded(store: Store) -> Write:
    fence = store.acquire("benchmark", now=0.0, seconds=1e9)
    assert fence is not None
    store.save_plan(plan(status=PlanStatus.EXECUTING), fence)

    def write(steps: Sequence[RecordedStep]) -> None:
        store.begin_steps(steps, fence)
        store.end_steps(_done(steps), fence)

    return write


def _done(steps: Sequence[RecordedStep]) -> list[RecordedStep]:
    return [replace(each, status=StepStatus.DONE, ended=3.0, new_uid="new", outcome="ready") for each in steps]


def _measured(writes: dict[str, Write], size: int, batches: int) -> dict[str, float]:
    """Median seconds of a run of each store; they take turns, so that what else the machine does meets all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in writes}
    for _ in range(TIMES):
        for name, write in writes.items():
            numbers = [[next(_numbers) for _ in range(size)] for _ in range(batches)]
            steps = [[step(f"step-{number}", number) for number in batch] for batch in numbers]
            began = time.perf_counter()
            for batch in steps:
                write(batch)
            seconds[name].append(time.perf_counter() - began)
    return {name: statistics.median(taken) for name, taken in seconds.items()}


def _row(name: str, size: int, batches: int, taken: float, plain: float) -> dict[str, str]:
    return {
        "commit": commit(),
        "machine": machine(),
        "store": name,
        "batch": str(size),
        "steps": str(size * batches),
        "seconds": f"{taken:.4f}",
        "per_second": f"{size * batches / taken:.0f}",
        "batch_ms": f"{1000 * taken / batches:.2f}",
        "ratio": f"{plain / taken:.2f}",
    }


if __name__ == "__main__":
    main()
