"""Where the machines stand in a picture: columns from left to right, in groups."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import Cluster, FloatArray, IntArray, floats, ints

WIDEST = 84.0  # pixels per machine when there are few
GROUP_GAP = 18.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """One row of machines."""

    machine: IntArray  # (column,)
    x: FloatArray  # (column,) left edge of the stack
    slot: float  # from one stack to the next
    stack: float  # width of a stack
    groups: tuple[tuple[str, float, float], ...]  # name, left, right; empty if machines are not grouped

    @property
    def right(self) -> float:
        """Where the last stack ends."""
        return float(self.x[-1]) + self.stack if self.x.size else 0.0


def group_index(cluster: Cluster, group_by: str | None) -> tuple[IntArray, tuple[str, ...]]:
    """The group of every machine and the groups' names; one nameless group without `group_by`."""
    if group_by is None:
        return ints(np.zeros(len(cluster.machines.name))), ("",)
    level = cluster.level(group_by)
    return level.group_of, level.group


def in_order(cluster: Cluster, group_by: str | None) -> IntArray:
    """All machines, group by group, as in the file within a group."""
    return ints(np.argsort(group_index(cluster, group_by)[0], kind="stable"))


def columns(cluster: Cluster, machines: IntArray, group_by: str | None, *, left: float, room: float) -> Columns:
    """One row with these machines in `room` pixels from `left`."""
    of, names = group_index(cluster, group_by)
    group = of[machines]
    breaks = np.cumsum(np.diff(group, prepend=group[:1]) != 0)
    gaps = int(breaks[-1]) if breaks.size else 0
    gap = min(GROUP_GAP, 0.25 * room / gaps) if gaps else 0.0
    slot = min(WIDEST, (room - gaps * gap) / max(1, len(machines)))
    stack = slot - min(14.0, max(0.6, 0.2 * slot))
    x = left + np.arange(len(machines)) * slot + breaks * gap + (slot - stack) / 2
    spans = tuple(_spans(names, group, x, stack)) if group_by else ()
    return Columns(machine=machines, x=floats(x), slot=slot, stack=stack, groups=spans)


def _spans(names: tuple[str, ...], group: IntArray, x: FloatArray, stack: float) -> list[tuple[str, float, float]]:
    first = np.flatnonzero(np.diff(group, prepend=-1))
    last = np.append(first[1:], len(group)) - 1
    return [(names[group[a]], float(x[a]), float(x[b]) + stack) for a, b in zip(first, last, strict=True)]
