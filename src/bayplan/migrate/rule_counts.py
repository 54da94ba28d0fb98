"""The rules of a cluster as counts of containers per group, and what a create or a delete must leave of them.

Nothing may be worse on the way than at both ends, so every limit is the worst of what the rule, the start and the end say.
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
    Running,
    Skew,
    Spread,
    Transient,
    TransientMode,
    floats,
)
from bayplan.score.counts import loads, running_loads

UNLIMITED = np.iinfo(np.int64).max // 4
OUTSIDE = -1  # the group of machines that a skew rule does not count
ROUNDING = 1e-9  # of a capacity: sums of floats are not exact


@dataclass(frozen=True, slots=True, eq=False)
class CountPerGroup:
    """Containers of some workloads, counted per group of a level."""

    group_of: list[int]  # (machine,)
    high: dict[int, int] = field(default_factory=dict)  # group -> containers, with all creates of the batch
    low: dict[int, int] = field(default_factory=dict)  # group -> containers, without what the batch deletes


@dataclass(frozen=True, slots=True, eq=False)
class AntiAffinityCount:
    """Anti-affinity: at most `limit` in a group."""

    counts: CountPerGroup
    limit: int
    worse: dict[int, int]  # group -> the limit where an end exceeds it


@dataclass(frozen=True, slots=True, eq=False)
class InterferenceCount:
    """Interference: where one of `a` is, at most `limit` of `b`."""

    a: CountPerGroup
    b: CountPerGroup
    limit: int
    worse: dict[int, int]  # group -> how far an end exceeds it


@dataclass(frozen=True, slots=True, eq=False)
class DependencyCount:
    """Dependency: where one of `service` is, one of `on`."""

    service: CountPerGroup
    on: CountPerGroup
    worse: dict[int, int]  # group -> containers of `service` that have none at an end


@dataclass(slots=True, eq=False)
class SpreadCount:
    """Spread: a service uses at least `minimum` groups; as many as it has containers are enough."""

    counts: CountPerGroup
    minimum: int
    running: int = 0  # distinct containers of the service, without what the batch deletes
    changing: int = 0  # those that the batch takes down or brings up

    @property
    def used(self) -> int:
        """Groups with a container, without what the batch deletes."""
        return sum(1 for count in self.counts.low.values() if count)


@dataclass(frozen=True, slots=True, eq=False)
class SkewCount:
    """Skew: where a container of the judged workload is created, at most `limit` more than in the emptiest group.

    It is asked at creates only, as Kubernetes does, so neither end excuses a group beyond the limit.
    """

    counts: CountPerGroup
    groups: tuple[int, ...]  # those that are compared
    limit: int
    from_none: bool  # are there too few groups, so that the emptiest counts as having none?
    creating: dict[int, int] = field(default_factory=dict)  # group -> creates of the judged workload in this batch

    def within(self, group: int, more: int = 0, *, less_in: int | None = None) -> bool:
        """Is a group within the limit in any order of the batch, with `more` creates there and a delete in group `less_in`?"""
        others = (self.counts.low.get(g, 0) - (g == less_in) for g in self.groups if g != group)
        count = self.counts.high.get(group, 0) + more
        return count - (0 if self.from_none else min(others, default=count)) <= self.limit

    def all_within(self, group: int) -> bool:
        """The same of every group with such creates in this batch, if the batch deletes one in `group`."""
        return all(self.within(g, less_in=group) for g, n in self.creating.items() if n and g != group)


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceSum:
    """Confidence: mean + D * deviation stays within `limit`."""

    mean_of: FloatArray  # (workload,)
    variance_of: FloatArray  # (workload,)
    d: float
    limit: FloatArray  # (machine,)
    mean: FloatArray  # (machine,) with all creates of the batch
    variance: FloatArray  # (machine,)


@dataclass(frozen=True, slots=True, eq=False)
class RuleCounts:
    """All rules that count, by the workloads that they are about."""

    counted_in: dict[int, list[CountPerGroup]] = field(default_factory=lambda: defaultdict(list))
    anti_affinity: dict[int, list[AntiAffinityCount]] = field(default_factory=lambda: defaultdict(list))
    interference: dict[int, list[InterferenceCount]] = field(default_factory=lambda: defaultdict(list))
    dependency: dict[int, list[DependencyCount]] = field(default_factory=lambda: defaultdict(list))  # by what depends
    depended_on: dict[int, list[DependencyCount]] = field(default_factory=lambda: defaultdict(list))  # by what it depends on
    spread: dict[int, list[SpreadCount]] = field(default_factory=lambda: defaultdict(list))
    skew: dict[int, list[SkewCount]] = field(default_factory=lambda: defaultdict(list))  # by what is judged
    skew_counted: dict[int, list[SkewCount]] = field(default_factory=lambda: defaultdict(list))  # by what is counted
    confidence: list[ConfidenceSum] = field(default_factory=list)


class _Builder:
    """Reads the rules; counts of the same workloads at the same level are shared."""

    def __init__(self, migration: Migration) -> None:
        self.cluster = migration.cluster
        self.start, self.end = migration.start.pairs(), Running.of(migration.target).pairs()
        self.of_service: dict[int, list[int]] = defaultdict(list)
        for w, s in enumerate(self.cluster.workloads.service.tolist()):
            self.of_service[s].append(w)
        self.group_of = [level.group_of.tolist() for level in self.cluster.levels]
        self.shared: dict[tuple[tuple[int, ...], int, str], CountPerGroup] = {}
        self.rules = RuleCounts()
        self.at_start, self.at_end = _by_workload(self.cluster, self.start), _by_workload(self.cluster, self.end)

    def count(self, workloads: tuple[int, ...], level: int, machines: str = "") -> CountPerGroup:
        """The count of these workloads, empty. Machines outside of a set are in group OUTSIDE."""
        key = (tuple(sorted(set(workloads))), level, machines)
        if key not in self.shared:
            group_of = self.group_of[level]
            if machines:
                counting = set(self.cluster.machine_sets[machines].tolist())
                group_of = [g if m in counting else OUTSIDE for m, g in enumerate(group_of)]
            self.shared[key] = new = CountPerGroup(group_of)
            for w in key[0]:
                self.rules.counted_in[w].append(new)
        return self.shared[key]

    def counts_at(self, workloads: tuple[int, ...], level: int, pairs: dict[int, IntArray]) -> dict[int, int]:
        """group -> containers of these workloads at one end."""
        machines = [pairs[w] for w in set(workloads) if w in pairs]
        if not machines:
            return {}
        group, count = np.unique(self.cluster.levels[level].group_of[np.concatenate(machines)], return_counts=True)
        return dict(zip(group.tolist(), count.tolist(), strict=True))

    def ends(self, workloads: tuple[int, ...], level: int) -> tuple[dict[int, int], dict[int, int]]:
        """The same at start and end."""
        return self.counts_at(workloads, level, self.at_start), self.counts_at(workloads, level, self.at_end)

    def add(self, rule: object) -> None:
        """Add one rule."""
        if isinstance(rule, AntiAffinity):
            self._anti_affinity(rule)
        elif isinstance(rule, Interference):
            self._interference(rule)
        elif isinstance(rule, Dependency) and rule.service != rule.on:
            self._dependency(rule)
        elif isinstance(rule, Spread):
            self._spread(rule)
        elif isinstance(rule, Skew):
            self._skew(rule)
        elif isinstance(rule, Confidence):
            self.rules.confidence.append(self._confidence_sum(rule))

    def _anti_affinity(self, rule: AntiAffinity) -> None:
        worse = {g: n for end in self.ends(rule.workloads, rule.level) for g, n in end.items() if n > rule.limit}
        for g, n in self.counts_at(rule.workloads, rule.level, self.at_start).items():
            if g in worse:
                worse[g] = max(worse[g], n)
        counted = AntiAffinityCount(self.count(rule.workloads, rule.level), rule.limit, worse)
        for w in set(rule.workloads):
            self.rules.anti_affinity[w].append(counted)

    def _interference(self, rule: Interference) -> None:
        worse: dict[int, int] = {}
        for of_a, of_b in zip(self.ends((rule.a,), rule.level), self.ends((rule.b,), rule.level), strict=True):
            for g, n in of_b.items():
                if n > rule.limit and of_a.get(g, 0) > 0:
                    worse[g] = max(worse.get(g, 0), n - rule.limit)
        counted = InterferenceCount(self.count((rule.a,), rule.level), self.count((rule.b,), rule.level), rule.limit, worse)
        for w in {rule.a, rule.b}:
            self.rules.interference[w].append(counted)

    def _dependency(self, rule: Dependency) -> None:
        service, on = tuple(self.of_service[rule.service]), tuple(self.of_service[rule.on])
        worse: dict[int, int] = {}
        for of_service, of_on in zip(self.ends(service, rule.level), self.ends(on, rule.level), strict=True):
            for g, n in of_service.items():
                if not of_on.get(g):
                    worse[g] = max(worse.get(g, 0), n)
        counted = DependencyCount(self.count(service, rule.level), self.count(on, rule.level), worse)
        for w in service:
            self.rules.dependency[w].append(counted)
        for w in on:
            self.rules.depended_on[w].append(counted)

    def _spread(self, rule: Spread) -> None:
        members = tuple(self.of_service[rule.service])
        minimum = min(rule.minimum, *(len(end) for end in self.ends(members, rule.level)))
        counted = SpreadCount(self.count(members, rule.level), minimum)
        for w in members:
            self.rules.spread[w].append(counted)

    def _skew(self, rule: Skew) -> None:
        count = self.count(rule.counts, rule.level, rule.machines)
        groups = tuple(sorted({*count.group_of} - {OUTSIDE}))
        counted = SkewCount(count, groups, rule.limit, len(groups) < rule.min_groups)
        self.rules.skew[rule.workload].append(counted)
        for w in set(rule.counts):
            self.rules.skew_counted[w].append(counted)

    def _confidence_sum(self, rule: Confidence) -> ConfidenceSum:
        r, workloads = rule.resource, self.cluster.workloads
        d, n_m = NormalDist().inv_cdf(rule.alpha), len(self.cluster.machines.name)
        mean_of, variance_of = workloads.usage_mean[:, r].astype(np.float64), workloads.usage_std[:, r].astype(np.float64) ** 2
        limit = self.cluster.machines.capacity[:, r] * (1.0 + ROUNDING)
        for pairs in (self.start, self.end):
            w = self.cluster.containers.workload[pairs[:, 0]]
            mean = np.bincount(pairs[:, 1], weights=mean_of[w], minlength=n_m)
            variance = np.bincount(pairs[:, 1], weights=variance_of[w], minlength=n_m)
            limit = np.maximum(limit, (mean + d * np.sqrt(variance)) * (1.0 + ROUNDING))
        return ConfidenceSum(mean_of, variance_of, d, floats(limit), np.zeros(n_m), np.zeros(n_m))


def rule_counts(migration: Migration) -> RuleCounts:
    """The rules of a migration's cluster; nothing counted yet."""
    builder = _Builder(migration)
    for rule in migration.cluster.rules:
        builder.add(rule)
    return builder.rules


def load_limit(migration: Migration) -> IntArray:
    """(machine, resource) the most that may be charged; UNLIMITED where no rule limits a resource."""
    cluster = migration.cluster
    limited = np.zeros(len(cluster.resources), dtype=np.bool_)
    for rule in cluster.rules:
        if isinstance(rule, Capacity):
            limited[list(rule.resources)] = True
        elif isinstance(rule, Transient):
            limited[rule.resource] = True
    limit = np.where(limited, cluster.machines.capacity, UNLIMITED)
    start, end = running_loads(cluster, migration.start), loads(cluster, migration.target)
    return np.maximum(limit, np.maximum(start, end))


def transient_resources(cluster: Cluster, mode: TransientMode) -> IntArray:
    """Resources that are charged on both machines, in this mode; a resource that is joint is not sequential too."""
    resources = {
        m: {rule.resource for rule in cluster.rules if isinstance(rule, Transient) and rule.mode is m} for m in TransientMode
    }
    if mode is TransientMode.SEQUENTIAL:
        resources[mode] -= resources[TransientMode.JOINT]
    return np.array(sorted(resources[mode]), dtype=np.int64)


def _by_workload(cluster: Cluster, pairs: IntArray) -> dict[int, IntArray]:
    """workload -> the machine of each of its running containers."""
    if not len(pairs):
        return {}
    w = cluster.containers.workload[pairs[:, 0]]
    order = np.argsort(w, kind="stable")
    workload, first = np.unique(w[order], return_index=True)
    return dict(zip(workload.tolist(), np.split(pairs[order, 1], first[1:]), strict=True))
