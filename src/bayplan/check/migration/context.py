"""What is judged, with the sums that several rules look at, kept up to date batch by batch."""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from bayplan.check.migration.batch_state import Instances, Wave
from bayplan.check.migration.counting import Counting, Rows
from bayplan.check.migration.loads import Loads
from bayplan.model import Cluster, IntArray, Migration

Numbered: TypeAlias = list[tuple[int, Any]]  # rules of one kind, each with its place in the cluster's rules


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """A migration, both its ends, and everything that its plan ever creates."""

    migration: Migration
    begin: Instances
    end: Instances
    coming: Instances  # the creates of all batches
    loads: Loads
    counts: dict[tuple[str, int], Counting] = field(default_factory=dict)  # made when first asked for

    @property
    def cluster(self) -> Cluster:
        """The cluster of the migration."""
        return self.migration.cluster

    def rules(self, kind: str) -> Numbered:
        """The cluster's rules of one kind."""
        return [(number, rule) for number, rule in enumerate(self.cluster.rules) if rule.kind == kind]

    def by_workload(self, level: int) -> Counting:
        """Containers of each workload in each group of a level."""
        n_w = len(self.cluster.workloads.name)
        return self._counting("workload", level, np.arange(n_w), n_w)

    def by_service(self, level: int) -> Counting:
        """Containers of each service in each group of a level."""
        return self._counting("service", level, self.cluster.workloads.service, len(self.cluster.services.name))

    def _counting(self, kind: str, level: int, owner: IntArray, owners: int) -> Counting:
        if (kind, level) not in self.counts:
            rows = Rows.of(np.arange(len(owner)), owner, len(owner))
            self.counts[kind, level] = self.count(rows, owners, level)
        return self.counts[kind, level]

    def count(self, rows: Rows, owners: int, level: int) -> Counting:
        """Containers of each owner in each group; a workload may have several owners. The caller turns it."""
        cluster = self.cluster
        return Counting(rows, owners, cluster.levels[level], cluster.containers.workload, (self.begin, self.end, self.coming))

    def turn(self, wave: Wave) -> None:
        """On to the next batch."""
        self.loads.turn(wave)
        for counting in self.counts.values():
            counting.turn(wave)


def by_level(rules: Numbered) -> list[tuple[int, Numbered]]:
    """The rules of each level, lowest level first."""
    levels = sorted({rule.level for _, rule in rules})
    return [(level, [(number, rule) for number, rule in rules if rule.level == level]) for level in levels]
