"""What may fail, and what a failure leads to."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from bayplan.model import Cluster, IntArray, ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Failure:
    """All machines of one group of a level."""

    level: str
    group: str
    machines: IntArray  # ascending

    @property
    def name(self) -> str:
        """'machine b1', 'zone west'."""
        return f"{self.level} {self.group}"


class FailureVerdict(StrEnum):
    """What a failure leads to, best first."""

    HOLDS = "holds"  # everything that ran there runs elsewhere, no machine is above safety that was not before
    ABOVE_SAFETY = "holds-above-safety"  # the same, but machines are above their safety capacity
    WITH_MOVES = "holds-with-moves"  # if other containers move, too
    NOT_FOUND = "not-found"  # no place was found for all of it; nothing is proven
    IMPOSSIBLE = "impossible"  # there is no place for all of it, proven

    @property
    def holds(self) -> bool:
        """Does everything have a place?"""
        return self in (FailureVerdict.HOLDS, FailureVerdict.ABOVE_SAFETY, FailureVerdict.WITH_MOVES)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Loss:
    """What goes down when machines fail, before anything runs elsewhere."""

    containers: int  # that ran there
    pinned: IntArray  # of these: pinned there, alone or with what is co-located; they are not looked for elsewhere
    down: IntArray  # workloads of which no replica is left running
    below: IntArray  # workloads of which fewer run than the stated number that must, and of which enough ran before
    share: float  # of the capacity, of the resource of which most is lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What has to be placed elsewhere and what is free there, of the scarcest resource, as shares of the capacity there."""

    resource: int
    needed: float
    free: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replacement:
    """Where containers of failed machines run instead, as far as a place was found."""

    container: IntArray  # that have a new machine; where others move, these too
    machine: IntArray  # of each
    left_out: IntArray  # containers for which no place was found
    moved: IntArray  # containers elsewhere that move for it
    unmet: int  # containers elsewhere that are left without a service on which they depend
    too_close: int  # services that are left in fewer groups than they have to use, beside those of `rules_lost`
    fullest: int  # of the machines that take some: the one that is fullest then; -1 if none takes any
    fullness: float  # its load, as a share of its capacity
    above_safety: int  # machines that are above their safety capacity then, and were not


@dataclass(frozen=True, slots=True, kw_only=True)
class FurtherMachines:
    """How many more machines of a kind would help."""

    kind: int = -1  # which of the kinds that were tried; -1 for none
    enough: int | None = None  # that many are, by construction; None if no number was found
    at_least: int = 0  # fewer never are, proven; 0 if nothing is proven


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FailureOutcome:
    """What a failure takes down, and where that can run instead."""

    failure: Failure
    verdict: FailureVerdict
    loss: Loss
    demand: Demand
    replacement: Replacement
    rules_lost: tuple[str, ...] = ()  # rules that ask for more groups than are left: set aside, so that the rest can be seen
    proof: str = ""  # why not everything has a place, if that is proven
    further: FurtherMachines = field(default_factory=FurtherMachines)

    @property
    def holds(self) -> bool:
        """Does everything that ran there have a place?"""
        return self.verdict.holds

    @property
    def all_placed(self) -> bool:
        """Does everything have a place, apart from rules that ask for more groups than are left?"""
        return not (len(self.replacement.left_out) or self.replacement.unmet or self.replacement.too_close)

    @property
    def severity(self) -> tuple[bool, int, int, int, float]:
        """The worst have the largest: first those that do not hold, then by what is left out, moved, above safety, full."""
        then = self.replacement
        return not self.holds, len(then.left_out) + then.unmet + then.too_close, len(then.moved), then.above_safety, then.fullness


def failures_of(cluster: Cluster) -> Iterator[Failure]:
    """Every single machine, then every group of each level with at least two groups that have machines."""
    for level in cluster.levels:
        used = np.unique(level.group_of)
        if not len(used) or (len(used) == 1 and not level.is_machine_level):
            continue
        order = np.argsort(level.group_of, kind="stable")
        start = np.searchsorted(level.group_of[order], used)
        for group, members in zip(used.tolist(), np.split(order, start[1:]), strict=True):
            yield Failure(level=level.name, group=level.group[group], machines=ints(members))
