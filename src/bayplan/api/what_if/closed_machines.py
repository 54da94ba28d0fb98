"""Machines that take nothing any more: they are gone, or must be emptied. Their names and indices stay."""

from collections.abc import Container, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from bayplan.api.what_if.replicas import with_containers
from bayplan.errors import UsageError, did_you_mean
from bayplan.model import UNPLACED, Allow, BoolArray, Cluster, Level, Machines, Pinned, Placement, Reason, Snapshot, ints
from bayplan.model.allowed_machines import co_located_groups
from bayplan.words import count

OPEN_SET = "machines-that-stay"  # the machine set of the rule that keeps every workload off closed machines


def matching_machines(cluster: Cluster, pattern: str, option: str) -> BoolArray:
    """(machine,) the one of that name, else those that match the pattern; UsageError if none does."""
    names = cluster.machines.name
    if pattern in names:
        return np.array([name == pattern for name in names], dtype=np.bool_)
    marked = np.array([fnmatchcase(name, pattern) for name in names], dtype=np.bool_)
    if not marked.any():
        hint = did_you_mean(pattern, names)
        raise UsageError(f"{option} '{pattern}': no such machine in cluster '{cluster.name}'; expected a name or a pattern{hint}")
    return marked


def members_of_group(cluster: Cluster, option: str) -> tuple[str, str, BoolArray]:
    """The level, the group and the machines that 'west' or 'zone=west' means; UsageError if it is unknown or ambiguous."""
    named = [level for level in cluster.levels if option in level.group]
    if len(named) > 1:
        choice = " or ".join(f"'{level.name}={option}'" for level in named)
        raise UsageError(f"fail_zone '{option}': {len(named)} levels have a group of that name; expected {choice}")
    level_name, _, group = option.partition("=")
    level = named[0] if named else next((level for level in cluster.levels if level.name == level_name), None)
    group = option if named else group
    if level is None or group not in level.group:
        raise UsageError(f"fail_zone '{option}': {_no_group(cluster.levels, level, option, group)}")
    machines = np.asarray(level.group_of == level.group.index(group), dtype=np.bool_)
    if not machines.any():
        raise UsageError(f"fail_zone '{option}': {level.name} {group} has no machines; expected a group that has some")
    return level.name, group, machines


def _no_group(levels: Sequence[Level], level: Level | None, option: str, group: str) -> str:
    """What is wrong with a group that does not exist."""
    if level is not None:
        return f"no {level.name} '{group}'; expected one of {', '.join(level.group[:12])}{did_you_mean(group, level.group)}"
    higher = [level for level in levels if not level.is_machine_level]
    known = [name for level in higher for name in (*level.group, *(f"{level.name}={group}" for group in level.group))]
    names = " or ".join(f"a {level.name}" for level in higher) or "a machine"
    return f"no level has a group of that name; expected {names}, such as '{(known or ['m1'])[0]}'{did_you_mean(option, known)}"


def without_machines(snapshot: Snapshot, machines: BoolArray, label: str) -> tuple[Snapshot, list[Reason], str]:
    """The snapshot in which nothing runs on these machines, what left the cluster with them, and a note.

    A container that is pinned to such a machine cannot run anywhere else: it leaves the cluster, and so does what a co-locate
    rule ties to it there. All others stay without a machine.
    """
    cluster, machine_of = snapshot.cluster, snapshot.placement.machine_of
    runs = (machine_of != UNPLACED) & np.append(machines, False)[machine_of]
    tied = _tied(snapshot, runs)
    pinned = np.zeros(len(runs), dtype=np.bool_)
    pinned[list(tied)] = True
    stopped = replace(snapshot, placement=Placement(machine_of=ints(np.where(runs, UNPLACED, machine_of))))
    reasons = [
        Reason(cluster.containers.name[c], f"{why} machine '{cluster.machines.name[machine_of[c]]}', which is gone")
        for c, why in sorted(tied.items())
    ]
    note = f"{label}: {count(int((runs & ~pinned).sum()), 'container')} without a machine"
    if tied:
        note += f", {count(len(tied), 'pinned container')} gone with {'it' if machines.sum() == 1 else 'them'}"
    return with_containers(stopped, keep=~pinned), reasons, note


def _tied(snapshot: Snapshot, runs: BoolArray) -> dict[int, str]:
    """Of the containers marked: those that are pinned, or co-located with one that is; each with the reason."""
    cluster, machine_of = snapshot.cluster, snapshot.placement.machine_of
    tied = {c: "pinned to" for rule in cluster.rules if isinstance(rule, Pinned) for c in rule.containers if runs[c]}
    for group in co_located_groups(cluster):
        for pin in [c for c in group if tied.get(c) == "pinned to"]:
            for c in group:
                if machine_of[c] == machine_of[pin]:
                    tied.setdefault(c, f"co-located with '{cluster.containers.name[pin]}', which is pinned to")
    return tied


def closed(snapshot: Snapshot, machines: BoolArray) -> Snapshot:
    """The snapshot in which these machines have no capacity and no workload may run on them.

    Several `allow` rules of one workload all hold, so this one only takes machines away.
    """
    if not machines.any():
        return snapshot
    cluster = snapshot.cluster
    stays = ~machines[:, None]
    emptied = Machines(
        name=cluster.machines.name,
        capacity=ints(cluster.machines.capacity * stays),
        safety=ints(cluster.machines.safety * stays),
    )
    name = unused(OPEN_SET, cluster.machine_sets)
    sets = {**cluster.machine_sets, name: ints(np.flatnonzero(~machines))}
    rule = Allow(workloads=tuple(range(len(cluster.workloads.name))), machines=name)
    return replace(snapshot, cluster=replace(cluster, machines=emptied, machine_sets=sets, rules=(*cluster.rules, rule)))


def unused(name: str, taken: Container[str]) -> str:
    """The name, or the first of name-2, name-3, ... that is not taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free
