"""A plan: batches of steps; the steps of one batch may run at the same time."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Action(StrEnum):
    """What a step does."""

    CREATE = "create"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Step:
    """Create or delete one container on one machine."""

    action: Action
    container: int
    machine: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A batch starts when the one before has ended."""

    batches: tuple[tuple[Step, ...], ...]

    def steps(self) -> Iterator[Step]:
        """All steps, batch by batch."""
        for batch in self.batches:
            yield from batch

    def __len__(self) -> int:
        return sum(map(len, self.batches))
