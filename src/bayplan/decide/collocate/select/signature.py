"""What a selector is, and the two labels of 004 section IV-D."""

from typing import Protocol

from bayplan.decide.collocate.task import Task

CG, MIP = "cg", "mip"
LABELS = (CG, MIP)


class Selector(Protocol):
    """A way to choose between column generation and the integer program."""

    def __call__(self, task: Task) -> str:
        """CG or MIP."""
        ...
