"""docs/verbs/plan-combined.md, whose tables are made from the rows of cells.csv."""

from collections.abc import Sequence
from pathlib import Path

from experiments.results import Row


def write_page(folder: Path, measured: Sequence[Row], *, in_docs: bool) -> None:
    """Into docs/verbs, or into a page of the same name in the folder that has nothing but the tables."""
