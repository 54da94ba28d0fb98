"""docs/verbs/production-week.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.results import Row


def write_page(folder: Path, measured: Mapping[str, Sequence[Row]], *, in_docs: bool) -> None:
    """Into docs/verbs."""
