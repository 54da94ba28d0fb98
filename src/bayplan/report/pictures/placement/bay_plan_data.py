"""What a bay plan shows, computed once: blocks of containers, columns of machines, colours, and words."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayplan.model import BoolArray, Cluster, FloatArray, IntArray, Placement, floats, ints
from bayplan.report.amounts import human_amount, percent, written
from bayplan.report.loads import MachineUse, machine_use
from bayplan.report.pictures.colours import Palette, service_palette
from bayplan.words import count

WIDEST = 84.0  # pixels per machine when there are few
GROUP_GAP = 18.0  # pixels between two groups of machines
MOST_WORDS = 450_000  # characters of all tooltips: a picture stays below a megabyte


@dataclass(frozen=True, slots=True, kw_only=True)
class BayPlanOptions:
    """How a bay plan is to be drawn."""

    width: float
    group_by: str | None = None  # a topology level


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContainerBlocks:
    """Placed containers, machine by machine from the bottom up, those of one service together."""

    container: IntArray  # (block,)
    machine: IntArray  # (block,)
    service: IntArray  # (block,)
    base: FloatArray  # (block,) where it stands, as a share of the machine
    height: FloatArray  # (block,) its share of the machine's fullest resource

    def __len__(self) -> int:
        return len(self.container)


def stacked(cluster: Cluster, placement: Placement, use: MachineUse, palette: Palette) -> ContainerBlocks:
    """All placed containers as blocks. The heights on a machine add up to its level.

    On a machine that has none of its fullest resource, they are shares of the load, stretched to its level.
    """
    c = placement.placed
    m, w = placement.machine_of[c], cluster.containers.workload[c]
    s = cluster.workloads.service[w]
    order = np.lexsort((c, w, palette.rank[s], m))
    c, m, w, s = c[order], m[order], w[order], s[order]
    r = use.fullest[m]
    capacity = cluster.machines.capacity[m, r] if cluster.resources else np.zeros(len(m))
    request = cluster.workloads.request[w, r] if cluster.resources else np.zeros(len(m))
    load = np.bincount(m, weights=request, minlength=len(use.level)) / np.where(use.endless, use.level, 1.0)
    capacity = np.where(use.endless[m], load[m], capacity)
    height = np.divide(request, capacity, out=np.zeros(len(m)), where=capacity > 0)
    return ContainerBlocks(
        container=ints(c), machine=ints(m), service=ints(s), base=floats(_bases(m, height)), height=floats(height)
    )


def unplaced_blocks(cluster: Cluster, placement: Placement, palette: Palette) -> ContainerBlocks:
    """Containers without a machine, as dominant shares of an average machine, piled up in stacks no higher than one."""
    c = placement.unplaced
    w = cluster.containers.workload[c]
    s = cluster.workloads.service[w]
    order = np.lexsort((c, w, palette.rank[s]))
    c, w, s = c[order], w[order], s[order]
    has = np.maximum(1, (cluster.machines.capacity > 0).sum(axis=0))
    average = cluster.machines.capacity.sum(axis=0, dtype=np.float64) / has
    share = np.divide(cluster.workloads.request, average, out=np.zeros(cluster.workloads.request.shape), where=average > 0)
    height = share.max(axis=1, initial=0)[w]
    pile = _piles(height)
    return ContainerBlocks(
        container=ints(c), machine=ints(pile), service=ints(s), base=floats(_bases(pile, height)), height=floats(height)
    )


def _bases(stack: IntArray, height: FloatArray) -> FloatArray:
    """Where each block stands, if blocks of one stack come one after another."""
    before = np.cumsum(height) - height
    first = np.flatnonzero(np.diff(stack, prepend=-1))
    return before - np.repeat(before[first], np.diff(first, append=len(stack)))


def _piles(height: FloatArray) -> IntArray:
    pile, level = np.zeros(len(height), dtype=np.int64), 0.0
    for index, tall in enumerate(height.tolist()):
        opens = level > 0 and level + tall > 1
        level = tall if opens else level + tall
        pile[index] = (pile[index - 1] if index else 0) + opens
    return pile


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MachineColumns:
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


def columns(cluster: Cluster, machines: IntArray, group_by: str | None, *, left: float, space: float) -> MachineColumns:
    """One row with these machines in `space` pixels from `left`."""
    of, names = group_index(cluster, group_by)
    group = of[machines]
    breaks = np.cumsum(np.diff(group, prepend=group[:1]) != 0)
    gaps = int(breaks[-1]) if breaks.size else 0
    gap = min(GROUP_GAP, 0.25 * space / gaps) if gaps else 0.0
    slot = min(WIDEST, (space - gaps * gap) / max(1, len(machines)))
    stack = slot - min(14.0, max(0.6, 0.2 * slot))
    x = left + np.arange(len(machines)) * slot + breaks * gap + (slot - stack) / 2
    spans = tuple(_spans(names, group, x, stack)) if group_by else ()
    return MachineColumns(machine=machines, x=floats(x), slot=slot, stack=stack, groups=spans)


def _spans(names: tuple[str, ...], group: IntArray, x: FloatArray, stack: float) -> list[tuple[str, float, float]]:
    first = np.flatnonzero(np.diff(group, prepend=-1))
    last = np.append(first[1:], len(group)) - 1
    return [(names[group[a]], float(x[a]), float(x[b]) + stack) for a, b in zip(first, last, strict=True)]


@dataclass(frozen=True, kw_only=True, eq=False)
class BayPlanData:
    """The numbers behind all parts of one bay plan."""

    cluster: Cluster
    placement: Placement
    palette: Palette
    use: MachineUse
    blocks: ContainerBlocks
    lit: BoolArray | None  # (container,) the highlighted ones; None if nothing is highlighted

    @classmethod
    def of(cls, cluster: Cluster, placement: Placement, highlight: IntArray | None = None) -> "BayPlanData":
        """The data of a placement."""
        use, palette = machine_use(cluster, placement), service_palette(cluster)
        lit = None
        if highlight is not None:
            lit = np.zeros(len(cluster.containers.name), dtype=np.bool_)
            lit[highlight] = True
        blocks = stacked(cluster, placement, use, palette)
        return cls(cluster=cluster, placement=placement, palette=palette, use=use, blocks=blocks, lit=lit)

    @cached_property
    def request(self) -> list[str]:
        """(workload,) requests in words."""
        return [written(row, self.cluster.resources) for row in self.cluster.workloads.request.tolist()]

    @cached_property
    def starts(self) -> IntArray:
        """(machine + 1,) where each machine's blocks begin."""
        return ints(np.searchsorted(self.blocks.machine, np.arange(len(self.cluster.machines.name) + 1)))

    @cached_property
    def has_words(self) -> bool:
        """Is there space in the file for a tooltip on every block?"""
        return sum(len(self.container_words(c)) for c in self.blocks.container.tolist()) <= MOST_WORDS

    def container_words(self, c: int) -> str:
        """A container in words: its name, its workload, the service where it has another name, its requests."""
        w = int(self.cluster.containers.workload[c])
        workload, service = self.cluster.workloads.name[w], self.cluster.services.name[self.cluster.workloads.service[w]]
        belongs = f"workload {workload}" + (f", service {service}" if service != workload else "")
        return f"{self.cluster.containers.name[c]}\n{belongs}\n{self.request[w]}"

    def machine_words(self, m: int) -> str:
        """A machine in words: its name, its containers, the use of what it has."""
        lines = [f"{self.cluster.machines.name[m]}: {count(int(self.use.containers[m]), 'container')}"]
        for r, resource in enumerate(self.cluster.resources):
            capacity = int(self.cluster.machines.capacity[m, r])
            if self.use.lacks[m, r]:
                lines.append(f"{resource.name}: it has none, but runs what needs it")
            if capacity:
                lines.append(f"{resource.name}: {percent(float(self.use.share[m, r]))} of {human_amount(capacity, resource)}")
        return "\n".join(lines)
