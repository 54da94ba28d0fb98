"""Containers that come and go: the snapshot with other numbers of replicas, and its rules about single containers rewritten."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from bayplan.errors import UsageError, did_you_mean
from bayplan.model import (
    UNPLACED,
    BoolArray,
    Cluster,
    CoLocate,
    Containers,
    FloatArray,
    IntArray,
    Pinned,
    Placement,
    Rule,
    Snapshot,
    Spread,
    floats,
    ints,
)
from bayplan.model.allowed_machines import pinned_containers
from bayplan.words import count, first_names, plural

MOST = 1_000_000  # replicas of a workload
NUMBERED = re.compile(r"(?P<prefix>.*?)(?P<number>\d+)", re.DOTALL)


def scaled(snapshot: Snapshot, replicas: Mapping[str, int], reserved: Collection[str] = ()) -> tuple[Snapshot, list[str]]:
    """The snapshot with these numbers of replicas by workload, and a note for each of them. `reserved`: names not to be given.

    New replicas follow the others of their workload, without a machine: web-7 comes after web-6. Where a workload has fewer
    replicas than before, those without a machine go first; then, one by one, those on the machine that is fullest at the time
    (the largest share of a resource), of equals the last one; pinned replicas go when no other is left.
    """
    wanted = {_workload(snapshot.cluster, name): _whole(name, number) for name, number in replicas.items()}
    change = {w: number - int(snapshot.cluster.replicas[w]) for w, number in wanted.items()}
    keep = np.ones(len(snapshot.cluster.containers.name), dtype=np.bool_)
    load, pinned = _load(snapshot), pinned_containers(snapshot.cluster)
    for w, difference in change.items():
        if difference < 0:
            keep[_surplus(snapshot, w, -difference, load, pinned)] = False
    notes = [_note(snapshot, w, difference, keep) for w, difference in change.items()]
    after = with_containers(snapshot, keep=keep, new={w: n for w, n in change.items() if n > 0}, reserved=reserved)
    return after, [*notes, *_spread_notes(after.cluster, change)]


def _workload(cluster: Cluster, name: str) -> int:
    if name not in cluster.workloads.name:
        hint = did_you_mean(name, cluster.workloads.name)
        raise UsageError(f"scale '{name}': no such workload in cluster '{cluster.name}'; expected the name of a workload{hint}")
    return cluster.workloads.name.index(name)


def _whole(name: str, number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or not 0 <= number <= MOST:
        raise UsageError(f"scale '{name}={number}': expected a whole number of replicas from 0 to {MOST:,}, such as {name}=5")
    return int(number)


def _load(snapshot: Snapshot) -> FloatArray:
    """(machine, resource) requests of what runs there; a copy that may be written."""
    cluster, placed = snapshot.cluster, snapshot.placement.placed
    load = np.zeros(cluster.machines.capacity.shape)
    np.add.at(load, snapshot.placement.machine_of[placed], cluster.request_of(placed))
    return load


def _surplus(snapshot: Snapshot, workload: int, number: int, load: FloatArray, pinned: BoolArray) -> list[int]:
    """The replicas of a workload that go first; what they requested is taken off the load."""
    cluster, machine_of = snapshot.cluster, snapshot.placement.machine_of
    left = np.flatnonzero(cluster.containers.workload == workload)
    going: list[int] = []
    for _ in range(number):
        on = machine_of[left]
        full = np.where(on == UNPLACED, np.inf, fullness(cluster.machines.capacity[on], load[on]))
        last = np.lexsort((left, full, ~pinned[left]))[-1]
        going.append(int(left[last]))
        if on[last] != UNPLACED:
            load[on[last]] -= cluster.workloads.request[workload]
        left = np.delete(left, last)
    return going


def fullness(capacity: IntArray, load: FloatArray) -> FloatArray:
    """(machine,) the largest share of a resource that is requested; load of a resource that a machine lacks counts as most."""
    share = np.where(capacity > 0, load / np.maximum(1, capacity), np.where(load > 0, np.finfo(np.float64).max, 0.0))
    return floats(share.max(axis=1, initial=0.0))


def _note(snapshot: Snapshot, workload: int, difference: int, keep: BoolArray) -> str:
    """'cart: 7 replicas instead of 6; 1 new container without a machine'."""
    cluster = snapshot.cluster
    name, before = cluster.workloads.name[workload], int(cluster.replicas[workload])
    if difference == 0:
        return f"{name}: {count(before, 'replica')}, as before"
    head = f"{name}: {count(before + difference, 'replica')} instead of {before:,}"
    if difference > 0:
        return f"{head}; {count(difference, 'new container')} without a machine"
    going = np.flatnonzero(~keep & (cluster.containers.workload == workload)).tolist()
    return f"{head}; removed: {first_names([cluster.containers.name[c] for c in going])}"


def _spread_notes(cluster: Cluster, change: Mapping[int, int]) -> list[str]:
    """Spread rules that a service of fewer containers cannot keep any more."""
    smaller = {int(cluster.workloads.service[w]) for w, difference in change.items() if difference < 0}
    notes = []
    for rule in cluster.rules:
        if isinstance(rule, Spread) and rule.service in smaller:
            left = int(cluster.replicas[cluster.workloads.service == rule.service].sum())
            if left < rule.minimum:
                groups = f"{rule.minimum} {plural(cluster.levels[rule.level].name)}"
                notes.append(
                    f"service {cluster.services.name[rule.service]} must use {groups} and has {count(left, 'container')}"
                )
    return notes


def with_containers(
    snapshot: Snapshot, *, keep: BoolArray, new: Mapping[int, int] | None = None, reserved: Collection[str] = ()
) -> Snapshot:
    """The snapshot with the marked containers, and with new ones by workload, without a machine.

    Replicas of a workload stay side by side, new ones last. Pinned and co-locate rules lose the containers that are gone; those
    that name none any more (of a co-locate rule: fewer than two) go, too.
    """
    new = new or {}
    if keep.all() and not new:
        return snapshot
    cluster, old = snapshot.cluster, np.flatnonzero(keep)
    names = _new_names(cluster, old, new, {*cluster.containers.name, *reserved})
    workload = np.r_[cluster.containers.workload[old], np.repeat(ints([*new]), ints([*new.values()]))]
    order = np.argsort(workload, kind="stable")
    every = [*(cluster.containers.name[c] for c in old.tolist()), *names]
    containers = Containers(name=tuple(every[c] for c in order.tolist()), workload=ints(workload[order]))
    machine_of = np.r_[snapshot.placement.machine_of[old], np.full(len(names), UNPLACED)][order]
    index = np.full(len(keep), UNPLACED, dtype=np.int64)  # old index -> new index
    index[old] = np.argsort(order, kind="stable")[: len(old)]
    rules = tuple(rule for rule in (_rewritten(rule, index) for rule in cluster.rules) if rule is not None)
    return replace(
        snapshot, cluster=replace(cluster, containers=containers, rules=rules), placement=Placement(machine_of=ints(machine_of))
    )


def _rewritten(rule: Rule, index: IntArray) -> Rule | None:
    """The rule with new indices of containers; None if there is nothing left of it."""
    if not isinstance(rule, CoLocate | Pinned):
        return rule
    left = tuple(c for c in index[list(rule.containers)].tolist() if c != UNPLACED)
    least = 2 if isinstance(rule, CoLocate) else 1
    return replace(rule, containers=left) if len(left) >= least else None


def _new_names(cluster: Cluster, old: IntArray, new: Mapping[int, int], taken: set[str]) -> list[str]:
    """Names for the new replicas of each workload, in that order; `taken` grows by them."""
    names: list[str] = []
    of_workload: dict[int, list[str]] = {w: [] for w in new}
    for c in old.tolist():
        if (w := int(cluster.containers.workload[c])) in of_workload:
            of_workload[w].append(cluster.containers.name[c])
    for w, number in new.items():
        added = replica_names(cluster.workloads.name[w], of_workload[w], number, taken)
        taken.update(added)
        names += added
    return names


def replica_names(workload: str, present: Sequence[str], number: int, taken: Collection[str]) -> list[str]:
    """Names that continue the numbers of the replicas present: web-7, web-8 after web-6.

    Where their names are not one text and a number, new ones are called after the workload, counted from the number of replicas.

    >>> replica_names("web", ["web-0", "web-6"], 2, {"web-7"})
    ['web-8', 'web-9']
    >>> replica_names("web", ["web-7f9c-x2lpq"], 1, set())
    ['web-1']
    """
    parts = [NUMBERED.fullmatch(name) for name in present]
    prefixes = {part["prefix"] if part else None for part in parts}
    if len(prefixes) == 1 and None not in prefixes:
        prefix, following = str(prefixes.pop()), max(int(part["number"]) for part in parts if part) + 1
    else:
        prefix, following = f"{workload}-", len(present)
    names: list[str] = []
    while len(names) < number:
        if (name := f"{prefix}{following}") not in taken:
            names.append(name)
        following += 1
    return names
