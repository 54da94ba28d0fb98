"""Why what ran on failed machines cannot run elsewhere, and how many further machines it needs at least: proven, or nothing.

A greedy placement that fails proves nothing. These do: more containers than an anti-affinity rule has places; an item that fits
on no machine that is left, even as the only one of those that look for a place; more requested than is free. Where others may
move, the second one is only used for machines that are emptied, and the third one only over all machines. What violates a rule
already may go on doing so: only what is free is counted, never below 0.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayplan.decide.capacity.failover_state import FailoverState
from bayplan.kernels.search.state import NO_LIMIT
from bayplan.model import UNPLACED, BoolArray, FloatArray, IntArray, floats, ints
from bayplan.search.array_layout import view
from bayplan.words import count, plural

MANY = 2**31  # items: more than any cluster has


class Proof(NamedTuple):
    """That not everything can run, and the further machines of the kind at hand that it takes at least."""

    text: str  # "web-3 fits on no machine that is left"
    at_least: int  # further machines


class LiftedItems:
    """What is lifted by a failure, in arrays: made while nothing of it has been placed."""

    def __init__(self, failed: FailoverState, like: int) -> None:
        """`like`: a machine of the kind of further ones, or -1."""
        self.failed, self.cluster, self.like, self.remains = failed, failed.cluster, like, failed.opened
        kind = failed.state.items.kind_of[failed.items]
        n_r, kinds = len(self.cluster.resources), len(self.cluster.workloads.name) + len(failed.state.items.units)
        request = view(failed.state.arrays, "request", kinds * n_r).reshape(kinds, n_r)
        self.kind, self.request = kind, request[kind]  # (item,), (item, resource)
        self.row = view(failed.state.arrays, "allow_row", kinds)[kind]  # (item,) of the allow lists
        self.limited = np.asarray((failed.limit < NO_LIMIT).any(axis=0), dtype=np.bool_)  # (resource,) there is a rule
        self.free = np.where(self.limited, np.maximum(0, failed.limit - failed.load), NO_LIMIT)  # (machine, resource)

    def proofs(self, may_move: bool) -> Iterator[Proof]:
        """Everything that is proven, the plainest first."""
        yield from self._anti_affinity()
        yield from self._alone(may_move)
        yield from self._total(may_move)

    def _new_capacity(self) -> FloatArray:
        """(resource,) what a further machine has."""
        if self.like < 0:
            return floats(np.zeros(len(self.cluster.resources)))
        return floats(self.cluster.machines.capacity[self.like])

    def _machines_for(self, missing: FloatArray | IntArray) -> int:
        """How many further machines have what is missing; 0 if none ever has."""
        has = self._new_capacity()
        lacking = (missing > 0) & self.limited
        if not lacking.any() or (has[lacking] <= 0).any():
            return 0
        return int(np.ceil(missing[lacking] / has[lacking] * (1 - 1e-12)).max())

    def _alone(self, may_move: bool) -> Iterator[Proof]:
        """Kinds of which no machine takes a single item, then those of which fewer fit than have to."""
        kinds, first, number = np.unique(self.kind, return_index=True, return_counts=True)
        places = [self._places(int(k), int(item), may_move) for k, item in zip(kinds, first, strict=True)]
        blocked = [int(k) for k, place in zip(kinds, places, strict=True) if not place]
        if blocked:
            without = np.isin(self.kind, blocked)
            stuck = self.failed.containers_of(self.failed.items[without])
            name = self.cluster.containers.name[stuck[0]]
            fit = f"{name} fits" if len(stuck) == 1 else f"{name} and {len(stuck) - 1:,} more fit"
            yield Proof(f"{fit} on no machine that is left", max(1, self._machines_for(self.request[without].sum(axis=0))))
        for k, item, need, place in zip(kinds.tolist(), first.tolist(), number.tolist(), places, strict=True):
            if 0 < place < need and k < len(self.cluster.workloads.name):
                on_new = int(_fitting(self._new_capacity()[None, :], self.request[item], self.limited)[0])
                more = -(-(need - place) // on_new) if on_new else 0
                yield Proof(
                    f"{place:,} of {count(need, 'container')} of {self.cluster.workloads.name[k]} fit on what is left", more
                )

    def _places(self, kind: int, item: int, emptied: bool) -> int:
        """How many items of a kind fit on what is left, if they were the only ones: by allow, capacity and anti-affinity rules.

        `emptied`: whether anything fits at all, were the machines emptied.
        """
        can = self.remains & (self.failed.allowed[self.row[item]] != 0)
        fitting = np.where(can, _fitting(self.failed.limit if emptied else self.free, self.request[item], self.limited), 0)
        if emptied:
            return MANY if fitting.any() else 0
        rules = self.failed.anti_affinities.get(kind, [])
        groups = [self.cluster.levels[rule.level].group_of for rule in rules]
        places = [np.maximum(0, rule.limit - self._count(rule.workloads, rule.level)) for rule in rules]
        rows = list(zip(groups, places, strict=True))
        for group_of, place in rows:
            fitting = np.minimum(fitting, place[group_of])
        totals = [np.minimum(np.bincount(group_of, fitting, len(place)), place).sum() for group_of, place in rows]
        return int(min([fitting.sum(), *totals]))

    def _count(self, workloads: tuple[int, ...], level: int) -> IntArray:
        """(group,) containers of workloads that run on what is left."""
        of = self.cluster.levels[level]
        machine = self.failed.machines_of(self._containers(workloads))
        return np.bincount(of.group_of[machine[machine != UNPLACED]], minlength=len(of.group))

    def _containers(self, workloads: tuple[int, ...]) -> IntArray:
        owner = self.cluster.containers.workload
        spans = [np.arange(*np.searchsorted(owner, [w, w + 1])) for w in dict.fromkeys(workloads)]
        return np.concatenate(spans) if spans else np.zeros(0, dtype=np.int64)

    def _anti_affinity(self) -> Iterator[Proof]:
        """Rules that have fewer places left than containers need."""
        lifted = np.zeros(len(self.cluster.containers.name), dtype=np.bool_)
        lifted[self.failed.containers_of(self.failed.items)] = True
        touched = np.unique(self.cluster.containers.workload[lifted]).tolist()
        for rule in dict.fromkeys(rule for w in touched for rule in self.failed.anti_affinities.get(w, ())):
            level = self.cluster.levels[rule.level]
            usable = np.bincount(level.group_of[self.remains], minlength=len(level.group)) > 0
            places = int(np.maximum(0, rule.limit - self._count(rule.workloads, rule.level))[usable].sum())
            need = int(lifted[self._containers(rule.workloads)].sum())
            if need > places:
                names = ", ".join(self.cluster.workloads.name[w] for w in rule.workloads[:3])
                more = -(-(need - places) // max(1, rule.limit)) if rule.level == 0 and rule.limit else 0
                yield Proof(f"anti-affinity leaves {count(places, 'place')} for {count(need, 'container')} of {names}", more)

    def _total(self, may_move: bool) -> Iterator[Proof]:
        """More requested than there is: on all machines, or on those that allow lists name."""
        for row in [None, *np.unique(self.row).tolist()]:
            mine = np.ones(len(self.row), dtype=np.bool_) if row is None else self.row == row
            on = self.remains if row is None else self.remains & (self.failed.allowed[row] != 0)
            if may_move and row is not None:
                continue  # others in the list could leave it
            wanted = self.request[mine].sum(axis=0)
            free = self.free[on].sum(axis=0, dtype=np.float64)
            missing = np.where(self.limited, np.maximum(0, wanted - free), 0)
            if missing.any():
                r = int(np.argmax(missing / np.maximum(1, wanted)))
                which = "" if row is None else " where it may run"
                yield Proof(
                    f"more {self.cluster.resources[r].name} is requested than is free{which}", self._machines_for(missing)
                )


def spread_rules_lost(failed: FailoverState, may_move: bool) -> Iterator[str]:
    """Services that have to use more groups than they can, and lacked none before: no capacity helps."""
    cluster = failed.cluster
    containers = np.r_[failed.containers_of(failed.items), failed.containers_of(failed.pinned)]
    for service in np.unique(cluster.workloads.service[cluster.containers.workload[containers]]).tolist():
        for rule in failed.spreads.get(service, ()):
            level, members = cluster.levels[rule.level], cluster.containers_of_service(service)
            home, now = failed.homes_of(members), failed.machines_of(members)
            lifted = np.isin(members, failed.containers_of(failed.items))
            then = int((lifted | (now != UNPLACED)).sum())  # that run afterwards
            lacked = max(0, _groups_needed(rule.minimum, home, len(members)) - _groups_used(level.group_of, home))
            groups = len(np.unique(level.group_of[failed.opened]))
            can = groups if may_move else min(groups, _groups_used(level.group_of, now) + int(lifted.sum()))
            if (rule.minimum if then == len(members) else min(rule.minimum, then)) - lacked > can:
                asks = f"{rule.minimum} {plural(level.name)}"
                yield f"service {cluster.services.name[service]} has to use {asks}, and can use {can}"


def _groups_used(group_of: IntArray, machine: IntArray) -> int:
    return len(np.unique(group_of[machine[machine != UNPLACED]]))


def _groups_needed(minimum: int, machine: IntArray, size: int) -> int:
    """While containers of a service have no machine, as many groups as it has placed containers are enough."""
    placed = int((machine != UNPLACED).sum())
    return minimum if placed == size else min(minimum, placed)


def _fitting(free: IntArray | FloatArray, request: IntArray, limited: BoolArray) -> IntArray:
    """(machine,) how many items fit into what is free."""
    asks = (request > 0) & limited
    if not asks.any():
        return np.full(len(free), MANY, dtype=np.int64)
    return ints(np.minimum(MANY, (free[:, asks] // request[asks]).min(axis=1)))
