"""What a bay plan shows, computed once: loads, blocks, colours, and containers in words."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayplan.model import BoolArray, Cluster, IntArray, Placement, ints
from bayplan.report.amounts import count, human_amount, percent, written
from bayplan.report.loads import Use, machine_use
from bayplan.report.palette import Palette, service_palette
from bayplan.report.pictures.blocks import Blocks, stacked

MOST_WORDS = 450_000  # characters of all tooltips: a picture stays below a megabyte


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """The numbers behind all parts of one bay plan."""

    cluster: Cluster
    placement: Placement
    palette: Palette
    use: Use
    blocks: Blocks
    lit: BoolArray | None  # (container,) the highlighted ones; None if nothing is highlighted

    @classmethod
    def of(cls, cluster: Cluster, placement: Placement, highlight: IntArray | None = None) -> "Scene":
        """The scene of a placement."""
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
        """Is there room in the file for a tooltip on every block?"""
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
