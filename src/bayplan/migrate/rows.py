"""The rules of a cluster as counts: rows of containers per group, and what a create or a delete must leave of them.

Nothing may be worse on the way than at both ends, so every limit is the worse of what the rule, the start and the end say.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from bayplan.model import (
    AntiAffinity,
    Capacity,
    Cluster,
    Confidence,
    Dependency,
    FloatArray,
    IntArray,
    Interference,
    Migration,
    Spread,
    Transient,
    TransientMode,
    floats,
)

UNLIMITED = np.iinfo(np.int64).max // 4
ROUNDING = 1e-9  # of a capacity: sums of floats are not exact


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Containers of some workloads, counted per group of a level."""

    group_of: list[int]  # (machine,)
    high: dict[int, int] = field(default_factory=dict)  # group -> containers, with all creates of the batch
    low: dict[int, int] = field(default_factory=dict)  # group -> containers, without what the batch deletes


@dataclass(frozen=True, slots=True, eq=False)
class Most:
    """Anti-affinity: at most `limit` in a group."""

    row: Row
    limit: int
    worse: dict[int, int]  # group -> the limit where an end exceeds it


@dataclass(frozen=True, slots=True, eq=False)
class Clash:
    """Interference: where one of `a` is, at most `limit` of `b`."""

    a: Row
    b: Row
    limit: int
    worse: dict[int, int]  # group -> how far an end exceeds it


@dataclass(frozen=True, slots=True, eq=False)
class Need:
    """Dependency: where one of `service` is, one of `on`."""

    service: Row
    on: Row
    worse: dict[int, int]  # group -> containers of `service` that have none at an end


@dataclass(slots=True, eq=False)
class Wide:
    """Spread: a service uses at least `least` groups; as many as it has containers are enough."""

    row: Row
    least: int
    running: int = 0  # distinct containers of the service, without what the batch deletes
    changing: int = 0  # those that the batch takes down or brings up

    @property
    def used(self) -> int:
        """Groups with a container, without what the batch deletes."""
        return sum(1 for count in self.row.low.values() if count)


@dataclass(frozen=True, slots=True, eq=False)
class Risk:
    """Confidence: mean + D * deviation stays within `limit`."""

    mean_of: FloatArray  # (workload,)
    variance_of: FloatArray  # (workload,)
    d: float
    limit: FloatArray  # (machine,)
    mean: FloatArray  # (machine,) with all creates of the batch
    variance: FloatArray  # (machine,)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """All count rules, by the workloads that they are about."""

    counted: dict[int, list[Row]] = field(default_factory=lambda: defaultdict(list))
    most: dict[int, list[Most]] = field(default_factory=lambda: defaultdict(list))
    clash: dict[int, list[Clash]] = field(default_factory=lambda: defaultdict(list))
    needs: dict[int, list[Need]] = field(default_factory=lambda: defaultdict(list))  # of workloads that need others
    gives: dict[int, list[Need]] = field(default_factory=lambda: defaultdict(list))  # of workloads that others need
    wide: dict[int, list[Wide]] = field(default_factory=lambda: defaultdict(list))
    risks: list[Risk] = field(default_factory=list)


class _Builder:
    """Reads the rules; rows of the same workloads at the same level are shared."""

    def __init__(self, migration: Migration) -> None:
        self.cluster = migration.cluster
        self.start, self.end = migration.start.pairs(), _pairs(migration.after.machine_of)
        self.of_service: dict[int, list[int]] = defaultdict(list)
        for w, s in enumerate(self.cluster.workloads.service.tolist()):
            self.of_service[s].append(w)
        self.group_of = [level.group_of.tolist() for level in self.cluster.levels]
        self.shared: dict[tuple[tuple[int, ...], int], Row] = {}
        self.rows = Rows()
        self.at_start, self.at_end = _by_workload(self.cluster, self.start), _by_workload(self.cluster, self.end)

    def row(self, workloads: tuple[int, ...], level: int) -> Row:
        """The row of these workloads, empty."""
        key = (tuple(sorted(set(workloads))), level)
        if key not in self.shared:
            self.shared[key] = new = Row(self.group_of[level])
            for w in key[0]:
                self.rows.counted[w].append(new)
        return self.shared[key]

    def counts(self, workloads: tuple[int, ...], level: int, pairs: dict[int, IntArray]) -> dict[int, int]:
        """group -> containers of some workloads at one end."""
        machines = [pairs[w] for w in set(workloads) if w in pairs]
        if not machines:
            return {}
        group, count = np.unique(self.cluster.levels[level].group_of[np.concatenate(machines)], return_counts=True)
        return dict(zip(group.tolist(), count.tolist(), strict=True))

    def ends(self, workloads: tuple[int, ...], level: int) -> tuple[dict[int, int], dict[int, int]]:
        """The same at start and end."""
        return self.counts(workloads, level, self.at_start), self.counts(workloads, level, self.at_end)

    def add(self, rule: object) -> None:
        """Take one rule in."""
        if isinstance(rule, AntiAffinity):
            self._anti_affinity(rule)
        elif isinstance(rule, Interference):
            self._interference(rule)
        elif isinstance(rule, Dependency) and rule.service != rule.on:
            self._dependency(rule)
        elif isinstance(rule, Spread):
            self._spread(rule)
        elif isinstance(rule, Confidence):
            self.rows.risks.append(self._risk(rule))

    def _anti_affinity(self, rule: AntiAffinity) -> None:
        worse = {g: n for end in self.ends(rule.workloads, rule.level) for g, n in end.items() if n > rule.limit}
        for g, n in self.counts(rule.workloads, rule.level, self.at_start).items():
            if g in worse:
                worse[g] = max(worse[g], n)
        most = Most(self.row(rule.workloads, rule.level), rule.limit, worse)
        for w in set(rule.workloads):
            self.rows.most[w].append(most)

    def _interference(self, rule: Interference) -> None:
        worse: dict[int, int] = {}
        for of_a, of_b in zip(self.ends((rule.a,), rule.level), self.ends((rule.b,), rule.level), strict=True):
            for g, n in of_b.items():
                if n > rule.limit and of_a.get(g, 0) > 0:
                    worse[g] = max(worse.get(g, 0), n - rule.limit)
        clash = Clash(self.row((rule.a,), rule.level), self.row((rule.b,), rule.level), rule.limit, worse)
        for w in {rule.a, rule.b}:
            self.rows.clash[w].append(clash)

    def _dependency(self, rule: Dependency) -> None:
        service, on = tuple(self.of_service[rule.service]), tuple(self.of_service[rule.on])
        worse: dict[int, int] = {}
        for of_service, of_on in zip(self.ends(service, rule.level), self.ends(on, rule.level), strict=True):
            for g, n in of_service.items():
                if not of_on.get(g):
                    worse[g] = max(worse.get(g, 0), n)
        need = Need(self.row(service, rule.level), self.row(on, rule.level), worse)
        for w in service:
            self.rows.needs[w].append(need)
        for w in on:
            self.rows.gives[w].append(need)

    def _spread(self, rule: Spread) -> None:
        members = tuple(self.of_service[rule.service])
        least = min(rule.minimum, *(len(end) for end in self.ends(members, rule.level)))
        wide = Wide(self.row(members, rule.level), least)
        for w in members:
            self.rows.wide[w].append(wide)

    def _risk(self, rule: Confidence) -> Risk:
        r, workloads = rule.resource, self.cluster.workloads
        d, n_m = NormalDist().inv_cdf(rule.alpha), len(self.cluster.machines.name)
        mean_of, variance_of = workloads.usage_mean[:, r].astype(np.float64), workloads.usage_std[:, r].astype(np.float64) ** 2
        limit = self.cluster.machines.capacity[:, r] * (1.0 + ROUNDING)
        for pairs in (self.start, self.end):
            w = self.cluster.containers.workload[pairs[:, 0]]
            mean = np.bincount(pairs[:, 1], weights=mean_of[w], minlength=n_m)
            spread = np.bincount(pairs[:, 1], weights=variance_of[w], minlength=n_m)
            limit = np.maximum(limit, (mean + d * np.sqrt(spread)) * (1.0 + ROUNDING))
        return Risk(mean_of, variance_of, d, floats(limit), np.zeros(n_m), np.zeros(n_m))


def rows_of(migration: Migration) -> Rows:
    """The rules of a migration's cluster; nothing counted yet."""
    builder = _Builder(migration)
    for rule in migration.cluster.rules:
        builder.add(rule)
    return builder.rows


def room(migration: Migration) -> IntArray:
    """(machine, resource) what may be charged; UNLIMITED where no rule limits a resource."""
    cluster = migration.cluster
    limited = np.zeros(len(cluster.resources), dtype=np.bool_)
    for rule in cluster.rules:
        if isinstance(rule, Capacity):
            limited[list(rule.resources)] = True
        elif isinstance(rule, Transient):
            limited[rule.resource] = True
    limit = np.where(limited, cluster.machines.capacity, UNLIMITED)
    start, end = load(cluster, migration.start.pairs()), load(cluster, _pairs(migration.after.machine_of))
    return np.maximum(limit, np.maximum(start, end))


def load(cluster: Cluster, pairs: IntArray) -> IntArray:
    """(machine, resource) requests of everything that runs."""
    total = np.zeros(cluster.machines.capacity.shape, dtype=np.int64)
    np.add.at(total, pairs[:, 1], cluster.workloads.request[cluster.containers.workload[pairs[:, 0]]])
    return total


def transient(cluster: Cluster, mode: TransientMode) -> IntArray:
    """Resources that are charged on both machines, in this mode; a resource that is joint is not sequential too."""
    found = {
        m: {rule.resource for rule in cluster.rules if isinstance(rule, Transient) and rule.mode is m} for m in TransientMode
    }
    if mode is TransientMode.SEQUENTIAL:
        found[mode] -= found[TransientMode.JOINT]
    return np.array(sorted(found[mode]), dtype=np.int64)


def _pairs(machine_of: IntArray) -> IntArray:
    placed = np.flatnonzero(machine_of >= 0)
    return np.column_stack([placed, machine_of[placed]])


def _by_workload(cluster: Cluster, pairs: IntArray) -> dict[int, IntArray]:
    """workload -> the machine of each of its running containers."""
    if not len(pairs):
        return {}
    w = cluster.containers.workload[pairs[:, 0]]
    order = np.argsort(w, kind="stable")
    some, first = np.unique(w[order], return_index=True)
    return dict(zip(some.tolist(), np.split(pairs[order, 1], first[1:]), strict=True))
