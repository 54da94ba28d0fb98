"""The table of a long run: one row per case, written at once, so that a run that is started again can go on."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

R = TypeVar("R", bound=tuple)  # a named tuple: its fields are the columns


def recorded(new: Iterable[R], path: Path | None) -> Iterator[R]:
    """The same rows, each written to the table at once."""
    if path is None:
        yield from new
        return
    begun = path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        for row in new:
            if not begun:
                writer.writerow(row._fields)
                begun = True
            writer.writerow(row)
            file.flush()
            yield row
