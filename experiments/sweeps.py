"""A sweep: one CSV row per cell, appended as soon as it is measured; what a file has is not measured again.

Cells are measured in this process, one after the other, or as jobs on an engine, several at a time. Rows are written by this
process alone, in the order of the cells, so that the file is the same on any engine. An answer that comes before those of
earlier cells is held back; Ctrl-C, SIGTERM, an error or a lost engine write it before they end the sweep.
"""

import argparse
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Generic, NamedTuple, NoReturn, Protocol, TypeVar

from bayplan.engine import Engine, Job, engine_of
from bayplan.errors import UsageError, WorldError
from bayplan.model.interrupt import stop_requested, stoppable
from experiments.results import Row, append, rows, where

HERE, POOL = "here", "pool"
TERMINATED = 143  # 128 + SIGTERM, as shells expect
ENGINE_HELP = (
    "where cells are measured: here (this process, one after the other), pool (processes of this machine), ray or ray:ADDRESS. "
    "Seconds of cells that were measured beside others are not comparable: cells share caches, memory and cores. Where a method "
    "is allowed seconds of the CPU, its answer is comparable: other cells take nothing from it"
)
THREADS_HELP = "cells at a time on the engine pool; as many as there are cores by default. A Ray cluster has its own number"


class Keyed(Protocol):
    """A cell of a sweep."""

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its row."""
        ...


Cell = TypeVar("Cell", bound=Keyed)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Where cells are measured, and until when they are begun."""

    engine: Engine = field(default_factory=lambda: engine_of(HERE))
    workers: int = 1
    until: datetime | None = None

    def engine_for(self, cells: int) -> Engine:
        """The engine for that many cells: this process where a pool would have one process."""
        alone = self.engine.name == POOL and (cells < 2 or self.engine.slots(self.workers) < 2)
        return engine_of(HERE) if alone else self.engine

    def in_time(self, seconds: float = 0.0) -> bool:
        """May a cell that takes that long be begun now?"""
        return self.until is None or datetime.now() + timedelta(seconds=seconds) < self.until


class Measured(NamedTuple, Generic[T]):
    """What a cell gave, and the commit and machine that it was measured with."""

    value: T
    where: Row


def sweep(
    path: Path,
    names: Sequence[str],
    cells: Iterable[Cell],
    measure: Callable[[Cell], dict[str, str] | Sequence[dict[str, str]]],
    runs: Runs | None = None,
    *,
    fields: Sequence[str] | None = None,
) -> None:
    """Measure every cell whose key is not in the file yet, and append its row, or its rows.

    `measure`: a function of a module, or a partial of one; it goes to other processes. `fields`: all columns, if their order is
    not that of the key, the measures, commit and machine.
    """
    done = {tuple(row[name] for name in names) for row in rows(path)}
    todo = [cell for cell in cells if cell.key not in done]

    def keep(cell: Cell, new: Measured[dict[str, str] | Sequence[dict[str, str]]]) -> None:
        several = [new.value] if isinstance(new.value, dict) else new.value
        whole = [{**dict(zip(names, cell.key, strict=True)), **row, **new.where} for row in several]
        append(path, fields or tuple(whole[0]), whole)

    measure_all(todo, measure, keep, runs or Runs(), show=_words)


def _words(value: dict[str, str] | Sequence[dict[str, str]]) -> str:
    return " ".join(value.values()) if isinstance(value, dict) else f"{len(value)} rows"


def measure_all(
    cells: Sequence[Cell],
    measure: Callable[[Cell], T],
    keep: Callable[[Cell, Measured[T]], None],
    runs: Runs,
    *,
    show: Callable[[T], str] = str,
    lasts: Callable[[Cell], float] = lambda cell: 0.0,
) -> None:
    """Measure cells, and keep what each gave, in the order of the cells.

    None is begun that, by `lasts` seconds, would not end by `runs.until`. `show`: what stderr says of an answer. Whatever ends it
    early, all that came is kept; a cell that cannot be measured and a lost engine end the process with their sentence.
    """
    engine, answers = runs.engine_for(len(cells)), AnswersInOrder(cells, keep)
    try:
        with _stoppable_on(engine), _terminated_in_order():
            try:
                for number, new in engine.stream(_jobs(cells, measure, runs, lasts), workers=runs.workers):
                    answers.add(number, new)
                    print(f"{answers.came}/{len(cells)}: {' '.join(cells[number].key)}: {show(new.value)}", file=sys.stderr)
            finally:
                answers.keep_rest()
            if stop_requested():
                raise KeyboardInterrupt
    except WorldError as error:
        sys.exit(str(error))
    finally:
        if answers.came < len(cells):
            print(f"{len(cells) - answers.came} cells left for another run", file=sys.stderr)


def _jobs(
    cells: Sequence[Cell], measure: Callable[[Cell], T], runs: Runs, lasts: Callable[[Cell], float]
) -> Iterator[Job[Measured[T]]]:
    """One job per cell, as long as there is time to begin it."""
    for cell in cells:
        if not runs.in_time(lasts(cell)):
            return
        yield Job(name=" ".join(filter(None, cell.key)), call=measured, arguments=(measure, cell))


def measured(measure: Callable[[Cell], T], cell: Cell) -> Measured[T]:
    """What a cell gives, wherever this runs. An experiment that ends with a sentence becomes an error that can travel."""
    here = where()  # first: a commit that is made meanwhile is not measured
    try:
        value = measure(cell)
    except SystemExit as stop:
        if not isinstance(stop.code, str):  # SIGTERM
            raise
        raise WorldError(stop.code) from stop
    if stop_requested():  # in the user's own process: the method may have ended early
        raise KeyboardInterrupt
    return Measured(value, here)


class AnswersInOrder(Generic[Cell, T]):
    """Answers that come in any order and are kept in the order of their cells."""

    def __init__(self, cells: Sequence[Cell], keep: Callable[[Cell, Measured[T]], None]) -> None:
        self._cells, self._keep, self._next = cells, keep, 0
        self._early: dict[int, Measured[T]] = {}
        self.came = 0

    def add(self, number: int, answer: Measured[T]) -> None:
        """Take the answer of a cell; keep it, and those after it that came before, unless an earlier one is missing."""
        self._early[number] = answer
        self.came += 1
        while self._next in self._early:
            self._next += 1
            self._keep_one(self._next - 1)

    def keep_rest(self) -> None:
        """Keep what came, although earlier ones are missing: they will not come any more."""
        for number in sorted(self._early):
            self._keep_one(number)

    def _keep_one(self, number: int) -> None:
        answer = self._early.pop(number)  # first: interrupted now, it is measured again, but never written twice
        self._keep(self._cells[number], answer)


@contextmanager
def _stoppable_on(engine: Engine) -> Iterator[None]:
    """Where cells run elsewhere, Ctrl-C is a request, so that what came is kept. Here it ends the cell that runs at once."""
    with nullcontext() if engine.name == HERE else stoppable():
        yield


@contextmanager
def _terminated_in_order() -> Iterator[None]:
    """Within, SIGTERM ends the process as Ctrl-C does: what came is kept, and workers end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> NoReturn:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# ---- arguments -----------------------------------------------------------------------------------------------------------------


def add_engine_options(parser: argparse.ArgumentParser, *, threads: bool = True) -> None:
    """`--engine` and `--threads`, which is called `--workers` where threads are those of a method."""
    parser.add_argument("--engine", default=HERE, metavar="NAME", help=ENGINE_HELP)
    names = ("--threads", "--workers") if threads else ("--workers",)
    parser.add_argument(*names, dest="workers", type=int, metavar="N", help=THREADS_HELP)


def runs_of(arguments: argparse.Namespace) -> Runs:
    """Where cells are measured, by the arguments; ends the process if there is no such engine."""
    workers = len(os.sched_getaffinity(0)) if arguments.workers is None else arguments.workers
    if workers < 1:
        sys.exit(f"--threads {workers}: expected 1 or more")
    try:
        engine = engine_of(arguments.engine)
    except UsageError as error:
        sys.exit(str(error))
    return Runs(engine=engine, workers=workers, until=getattr(arguments, "until", None))


def moment(text: str) -> datetime:
    """The next time that a clock shows `06:45`."""
    time = datetime.strptime(text, "%H:%M").time()
    now = datetime.now()
    at = datetime.combine(now.date(), time)
    return at if at > now else at + timedelta(days=1)


def arguments_of(
    about: str | None, parts: Sequence[str], here: Path, argv: Sequence[str] | None, *, parallel: bool = False
) -> tuple[argparse.Namespace, list[str], Path]:
    """All arguments, the parts to measure, and the folder, which exists now. `parallel`: with `--shard` and `--engine`."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="tiny instances, one seed")
    parser.add_argument("--only", default=",".join(parts), help=f"some of {', '.join(parts)}")
    parser.add_argument("--seeds", help="such as 0-4, or 3")
    if parallel:
        parser.add_argument("--shard", default="1/1", help="k/n: the k-th of n parts")
        add_engine_options(parser)
    parser.add_argument("--until", type=moment, metavar="HH:MM", help="begin no cell after this time")
    parser.add_argument("--out", type=Path, help="the folder for the CSV files, tables and figures")
    arguments = parser.parse_args(argv)
    only = arguments.only.split(",")
    if not set(only) <= set(parts):
        sys.exit(f"--only {arguments.only}: expected some of {', '.join(parts)}")
    out = arguments.out or (Path(tempfile.mkdtemp()) if arguments.quick else here)
    out.mkdir(parents=True, exist_ok=True)
    return arguments, only, out


def seeds_of(text: str) -> tuple[int, ...]:
    """'0-9' or '3'."""
    first, _, last = text.partition("-")
    return tuple(range(int(first), int(last or first) + 1))


def shard_of(text: str) -> tuple[int, int]:
    """'1/2'."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        sys.exit(f"--shard {text}: expected k/n, such as 1/2")
    return int(part), int(parts)
