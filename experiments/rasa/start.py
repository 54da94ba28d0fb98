"""What a cell starts from: its cluster, or the answer of another cell. Files of answers are those of one machine."""

from collections.abc import Callable
from pathlib import Path

from experiments.rasa.cells import Cell
from experiments.rasa.clusters import answer_file, file_of
from experiments.results import Row

Measure = Callable[[Cell, Path, Path | None], Row]


def started_and_answered(cell: Cell, measured: Measure) -> Row:
    """The measures of a cell. The answer of `rasa` is kept: another cell starts from it; if it is gone, it is made again."""
    first = cell.before
    if first is None:
        kept = answer_file(cell.question) if cell.method == "rasa" and not cell.options else None
        return measured(cell, file_of(cell.cluster), kept)
    start = answer_file(first.question)
    if not start.is_file():
        measured(first, file_of(cell.cluster), start)
    return measured(cell, start, None)
