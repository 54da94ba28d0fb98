"""A sweep: one CSV row per cell, appended as soon as it is measured; what a file has is not measured again."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

from experiments.results import append, commit, machine, rows


class Keyed(Protocol):
    """A cell of a sweep."""

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its row."""
        ...


Cell = TypeVar("Cell", bound=Keyed)


def sweep(
    path: Path,
    names: Sequence[str],
    cells: Iterable[Cell],
    measure: Callable[[Cell], dict[str, str]],
    until: datetime | None = None,
) -> None:
    """Measure every cell whose key is not in the file yet; begin none after `until`."""
    done = {tuple(row[name] for name in names) for row in rows(path)}
    todo = [cell for cell in cells if cell.key not in done]
    where = {"commit": commit(), "machine": machine()}
    for number, cell in enumerate(todo):
        if until is not None and datetime.now() >= until:
            print(f"{len(todo) - number} cells left for another run", file=sys.stderr)
            return
        new = measure(cell)
        print(f"{number + 1}/{len(todo)}: {' '.join(cell.key)}: {' '.join(new.values())}", file=sys.stderr)
        row = {**dict(zip(names, cell.key, strict=True)), **new, **where}
        append(path, tuple(row), [row])


def moment(text: str) -> datetime:
    """The next time that a clock shows `06:45`."""
    time = datetime.strptime(text, "%H:%M").time()
    now = datetime.now()
    at = datetime.combine(now.date(), time)
    return at if at > now else at + timedelta(days=1)


def arguments_of(
    about: str | None, parts: Sequence[str], here: Path, argv: Sequence[str] | None, *, sharded: bool = False
) -> tuple[argparse.Namespace, list[str], Path]:
    """All arguments, the parts to measure, and the folder, which exists now. `sharded`: with `--shard`."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="tiny instances, one seed")
    parser.add_argument("--only", default=",".join(parts), help=f"some of {', '.join(parts)}")
    parser.add_argument("--seeds", help="such as 0-4, or 3")
    if sharded:
        parser.add_argument("--shard", default="1/1", help="k/n: the k-th of n parts")
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
