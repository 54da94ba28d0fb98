"""The rules of a cluster as lists per kind of item."""

from statistics import NormalDist
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search import state as layout
from bayplan.model import (
    AntiAffinity,
    BoolArray,
    Capacity,
    Cluster,
    Confidence,
    Dependency,
    IntArray,
    Interference,
    Skew,
    Spread,
    Transient,
    TransientMode,
    allowed,
)
from bayplan.search.array_layout import Blocks
from bayplan.search.count_rows import CountRows, RaggedLists
from bayplan.search.items import Items

Number = TypeVar("Number", np.int64, np.float64)
TOLERANCE = 0.5e-9  # of the capacity, half of what the referee grants: sums of floats are not exact


def kind_sums(items: Items, per_workload: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """(kind, ...) what a kind has, if a container of each workload has so much."""
    if not items.units:
        return np.ascontiguousarray(per_workload)
    return np.concatenate([per_workload, np.array([per_workload[list(unit)].sum(axis=0) for unit in items.units])])


class CompiledRules:
    """The rules per kind. Rows are requested here, and by prices: list both before `blocks`."""

    def __init__(self, cluster: Cluster, items: Items, rows: CountRows) -> None:
        self.cluster, self.items, self.rows = cluster, items, rows
        self.kinds = len(cluster.workloads.name) + len(items.units)
        self.max_count, self.interference, self.spread, self.depends_on, self.supports, self.skew = (
            RaggedLists(self.kinds) for _ in range(6)
        )
        self.minimum: dict[int, int] = {}  # row -> groups that a spread rule asks for
        self.skew_rules: list[list[int]] = []  # SKEW_ROW ... SKEW_FLOOR of each
        for rule in cluster.rules:
            self._list(rule)

    def _list(self, rule: object) -> None:
        rows = self.rows
        if isinstance(rule, AntiAffinity):
            row = rows.together(rule.workloads, rule.level)
            for w in rows.members[row]:
                self.max_count.add(w, (row, rule.limit))
        elif isinstance(rule, Interference):
            a, b = rows.workload(rule.a, rule.level), rows.workload(rule.b, rule.level)
            for w in {rule.a, rule.b}:
                self.interference.entries[w][a, b, rule.limit] = [
                    float(w == rule.a),
                    float(w == rule.b),
                ]  # stated twice, it counts once
        elif isinstance(rule, Spread) and rule.minimum > 1:
            row = rows.service(rule.service, rule.level)
            self.minimum[row] = max(rule.minimum, self.minimum.get(row, 0))
            for w in rows.members[row]:
                self.spread.entries[w][(row,)] = [1.0]
        elif isinstance(rule, Skew):
            self._list_skew(rule)
        elif isinstance(rule, Dependency) and rule.service != rule.on:
            of, on = rows.service(rule.service, rule.level), rows.service(rule.on, rule.level)
            for w in rows.members[of]:
                self.depends_on.entries[w][(on,)] = [1.0]  # stated twice, it counts once
            for w in rows.members[on]:
                self.supports.add(w, (on, of))

    def _list_skew(self, rule: Skew) -> None:
        """One entry for each workload that it counts or judges."""
        level, groups = self.rows.part_of(rule.level, rule.counting_machines(self.cluster))
        row, own = self.rows.together(rule.counts, level), self.rows.together((rule.workload,), level)
        number = len(self.skew_rules)
        floor = number if groups >= rule.min_groups else layout.NOWHERE
        self.skew_rules.append([row, own, rule.limit, groups, floor])
        for w in {*rule.counts, rule.workload}:
            self.skew.entries[w][number,] = [float(w in rule.counts), float(w == rule.workload)]

    def _skews(self) -> Blocks:
        """Every group is empty at first."""
        start, rule, containers = self.skew.packed(1, 2)
        table = np.array(self.skew_rules, dtype=np.int64).reshape(-1, layout.SKEW_HISTOGRAM)
        size = np.array(self.rows.size, dtype=np.int64)[table[:, layout.SKEW_ROW]] + 1
        begin = np.cumsum(size) - size
        histogram = np.zeros(int(size.sum()), dtype=np.int64)
        histogram[begin] = table[:, layout.SKEW_GROUPS]
        return {
            "skew_start": start,
            "skew": np.column_stack([rule, containers]),
            "skew_rule": np.column_stack([table, begin]),
            "skew_low": np.zeros(len(table)),
            "skew_histogram": histogram,
        }

    def _units(self, adds: RaggedLists) -> None:
        """Give every unit the lists of its containers."""
        n_w = len(self.cluster.workloads.name)
        for number, unit in enumerate(self.items.units):
            k = n_w + number
            for lists in (adds, self.max_count, self.interference, self.spread, self.depends_on, self.supports, self.skew):
                lists.copy_to(k, unit)
            brings = {row for (row,) in adds.of(k)}
            for (row,) in [key for key in self.depends_on.of(k) if key[0] in brings]:
                del self.depends_on.entries[k][row,]

    def blocks(self) -> Blocks:
        """The blocks of the state that rules read."""
        cluster, items = self.cluster, self.items
        adds = self.rows.additions(self.kinds)
        self._units(adds)
        max_count_start, max_count, _ = self.max_count.packed(2)
        interference_start, interference, interference_by = self.interference.packed(3, 2)
        add_start, add_row, add_by = adds.packed(1, 1)
        spread_start, spread_row, spread_by = self.spread.packed(1, 1)
        depends_start, depends_row, depends_by = self.depends_on.packed(1, 1)
        supports_start, supports, _ = self.supports.packed(2)
        allow_row, allow = _allow(cluster, items)
        request = kind_sums(items, cluster.workloads.request)
        return {
            "kind_of": items.kind_of,
            "home": items.home,
            "only_machine": items.only,
            "movable": items.movable,
            "size": kind_sums(items, np.ones(len(cluster.workloads.name), dtype=np.int64)),
            "request": np.concatenate([request, np.zeros((1, len(cluster.resources)), dtype=request.dtype)]),
            "dominant": _dominant(request, cluster.machines.capacity),
            "joint": _transient(cluster, TransientMode.JOINT),
            "strict": _transient(cluster, *TransientMode),
            "allow_row": allow_row,
            "allowed": allow,
            **self.rows.blocks(),
            "groups_needed": [self.minimum.get(row, 0) for row in range(len(self.rows.level))],
            "add_start": add_start,
            "add": np.column_stack([add_row, add_by]),
            "max_count_start": max_count_start,
            "max_count": np.column_stack(
                [max_count[:, 0], max_count[:, 1] - _count_of(adds, max_count_start, max_count[:, 0]) + 1]
            ),
            "interference_start": interference_start,
            "interference": np.column_stack([interference[:, :2], interference_by, interference[:, 2]]),
            "spread_start": spread_start,
            "spread": np.column_stack([spread_row, spread_by]),
            "depends_start": depends_start,
            "depends_on": np.column_stack([depends_row, depends_by]),
            "supports_start": supports_start,
            "supports": supports,
            **self._skews(),
            **self._risks(),
        }

    def _risks(self) -> Blocks:
        cluster, items = self.cluster, self.items
        rules = [rule for rule in cluster.rules if isinstance(rule, Confidence)]
        risky = [rule.resource for rule in rules]
        return {
            "risk": [NormalDist().inv_cdf(rule.alpha) for rule in rules],
            "risk_capacity": cluster.machines.capacity[:, risky] * (1 + TOLERANCE),
            "usage_mean": kind_sums(items, cluster.workloads.usage_mean[:, risky]),
            "usage_variance": kind_sums(items, cluster.workloads.usage_std[:, risky] ** 2),
        }


def _count_of(adds: RaggedLists, start: IntArray, row: IntArray) -> IntArray:
    """(entry,) how much the owner of each entry adds to the entry's row."""
    owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
    pairs = zip(owner.tolist(), row.tolist(), strict=True)
    return np.array([int(adds.of(k)[r,][0]) for k, r in pairs], dtype=np.int64)


def limits(cluster: Cluster) -> IntArray:
    """(machine, resource) the most that may be charged."""
    limit = np.full(cluster.machines.capacity.shape, layout.NO_LIMIT, dtype=np.int64)
    for rule in cluster.rules:
        if isinstance(rule, Capacity):
            limit[:, list(rule.resources)] = cluster.machines.capacity[:, list(rule.resources)]
        elif isinstance(rule, Transient):
            limit[:, rule.resource] = cluster.machines.capacity[:, rule.resource]
    return limit


def _transient(cluster: Cluster, *modes: TransientMode) -> BoolArray:
    """(resource,) has it a transient rule of one of these modes?"""
    has_rule = np.zeros(len(cluster.resources), dtype=np.bool_)
    for rule in cluster.rules:
        if isinstance(rule, Transient) and rule.mode in modes:
            has_rule[rule.resource] = True
    return has_rule


def _dominant(request: IntArray, capacity: IntArray) -> IntArray:
    """(kind,) the resource of which it takes most, as a share of the mean machine; 0 where there are no resources."""
    if not request.shape[1]:
        return np.zeros(len(request), dtype=np.int64)
    mean = capacity.sum(axis=0, dtype=np.float64) / max(1, len(capacity))
    return np.asarray(np.argmax(request / np.maximum(1.0, mean), axis=1), dtype=np.int64)


def _allow(cluster: Cluster, items: Items) -> tuple[IntArray, BoolArray]:
    """Row of each kind, and the rows; a unit may go where all of its containers may."""
    table = allowed(cluster)
    rows, row_of = [np.array(table.row)], table.row_of.tolist()
    for unit in items.units:
        row_of.append(len(table.row) + len(rows) - 1)
        rows.append(np.all(table.row[table.row_of[list(unit)]], axis=0, keepdims=True))
    return np.array(row_of, dtype=np.int64), np.concatenate(rows)
