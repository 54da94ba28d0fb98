"""Where machines stand: named levels, each a partition of the machines."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.errors import ModelError
from bayplan.model.arrays import IntArray, ints

MACHINE = "machine"  # the name of level 0: every machine is its own group


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Level:
    """One partition of the machines, such as rack or zone. Levels need not be nested."""

    name: str
    group: tuple[str, ...]  # (group,) names
    group_of: IntArray  # (machine,) index into `group`

    def __post_init__(self) -> None:
        object.__setattr__(self, "group_of", ints(self.group_of))
        if self.group_of.size and not 0 <= self.group_of.min() <= self.group_of.max() < len(self.group):
            raise ModelError(f"level '{self.name}': a group index is outside of 0..{len(self.group) - 1}")


def machine_level(names: Sequence[str]) -> Level:
    """Level 0 of every cluster: each machine alone."""
    return Level(name=MACHINE, group=tuple(names), group_of=ints(np.arange(len(names))))
