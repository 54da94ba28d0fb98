"""The machines that timed requests are served on: how many there are of each kind."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.errors import ModelError
from bayplan.model.arrays import IntArray, ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fleet:
    """Machines of one kind stand together: those of the first kind are 0, 1, ..., then come those of the next."""

    kind: tuple[str, ...]  # (kind,)
    machines: IntArray  # (kind,) how many
    capacity: IntArray  # (kind, resource)

    def __post_init__(self) -> None:
        for field in ("machines", "capacity"):
            object.__setattr__(self, field, ints(getattr(self, field)))
        if self.machines.shape != (len(self.kind),) or self.capacity.shape[:1] != (len(self.kind),) or self.capacity.ndim != 2:
            shapes = [self.machines.shape, self.capacity.shape]
            raise ModelError(f"fleet: arrays of shapes {shapes} for {len(self.kind)} kinds of machines")
        if (self.machines < 0).any() or (self.capacity < 0).any():
            raise ModelError("fleet: a number of machines or a capacity is negative")

    @classmethod
    def alike(cls, machines: int, capacity: IntArray | Sequence[int]) -> "Fleet":
        """So many machines of one kind."""
        return cls(kind=("machine",), machines=ints([machines]), capacity=ints([list(capacity)]))

    @property
    def size(self) -> int:
        """All machines."""
        return int(self.machines.sum())

    @property
    def kind_of(self) -> IntArray:
        """(machine,) index of its kind."""
        return ints(np.repeat(np.arange(len(self.kind)), self.machines))
