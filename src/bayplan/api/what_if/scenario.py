"""A scenario, and the cluster that it makes of a snapshot.

The options are applied in this order: add machines, remove machines, fail groups, scale workloads, drain machines, traffic. So an
added machine may fail with its zone, and replicas that a smaller number leaves over go before machines are drained.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from bayplan.api.what_if.added_machines import with_machines
from bayplan.api.what_if.closed_machines import closed, matching_machines, members_of_group, without_machines
from bayplan.api.what_if.replicas import scaled
from bayplan.errors import UsageError
from bayplan.model import BoolArray, IntArray, Reason, Services, Snapshot, Traffic, floats, ints
from bayplan.model.allowed_machines import pinned_containers
from bayplan.words import count, first_names


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """What is to be changed in a cluster; false if nothing is.

    >>> import bayplan as bp
    >>> bool(bp.WhatIf()), bool(bp.WhatIf(drain=("a1",), scale={"cart": 9}))
    (False, True)
    """

    drain: tuple[str, ...] = ()  # machines, by name or pattern, that must be emptied
    add_machines: tuple[str, ...] = ()  # '2:b1' (two like machine b1) or '2:cpu=16,memory=64Gi,zone=west'
    remove_machines: tuple[str, ...] = ()  # machines, by name or pattern, that are gone: what ran there has no machine
    scale: Mapping[str, int] = field(default_factory=dict)  # workload -> replicas
    fail_zone: tuple[str, ...] = ()  # groups of any level whose machines are gone: 'west' or 'zone=west'
    traffic_times: float = 1.0  # by this much all traffic is multiplied

    @property
    def changes_what_runs(self) -> bool:
        """Has the cluster other machines or containers then? Draining and traffic leave them as they are."""
        return any(map(bool, (self.add_machines, self.remove_machines, self.scale, self.fail_zone)))

    def __bool__(self) -> bool:
        """Is anything changed?"""
        parts = (self.drain, self.add_machines, self.remove_machines, self.scale, self.fail_zone)
        return any(map(bool, parts)) or self.traffic_times != 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChangedCluster:
    """A snapshot as a scenario changes it.

    Machines that are gone or drained keep their names and indices. They have no capacity, and a rule keeps every workload off
    them, also workloads that request nothing. Where all machines stay, there is no such rule.
    """

    snapshot: Snapshot  # the changed cluster and where its containers run in it
    drained: IntArray  # machines to be emptied; their containers still run there
    gone: IntArray  # machines that were removed or failed; what ran there is UNPLACED
    notes: tuple[str, ...] = ()  # what was changed, in words, one line per option
    left_out: tuple[Reason, ...] = ()  # pinned containers whose machine is gone: they are not in the snapshot any more


def what_if(snapshot: Snapshot, scenario: WhatIf) -> ChangedCluster:
    """The cluster as a scenario changes it; UsageError that names the option if it asks for something that does not exist.

    The weights of the objective stay as they are; new containers have no machine; nothing moves.

    >>> import bayplan as bp
    >>> changed = what_if(bp.generate("boutique"), bp.WhatIf(drain=("a1",), scale={"cart": 7}))
    >>> print(*changed.notes, sep="\\n")
    cart: 7 replicas instead of 6; 1 new container without a machine
    machine a1 is drained: 8 containers have to leave it, 1 of them is pinned and cannot
    >>> changed.snapshot.cluster.machines.capacity[0].tolist()
    [0, 0, 0]
    """
    notes: list[str] = []
    for option in scenario.add_machines:
        snapshot, note = with_machines(snapshot, option)
        notes.append(note)
    gone = np.zeros(len(snapshot.cluster.machines.name), dtype=np.bool_)
    left_out: list[Reason] = []
    for label, machines in _leaving(snapshot, scenario):
        snapshot, reasons, note = without_machines(snapshot, machines & ~gone, label)
        gone |= machines
        left_out += reasons
        notes.append(note)
    snapshot, scale_notes = scaled(snapshot, scenario.scale, [reason.subject for reason in left_out])
    drained, drain_notes = _drained(snapshot, scenario.drain, gone)
    snapshot = closed(snapshot, gone | drained)
    snapshot, traffic_notes = _with_traffic(snapshot, scenario.traffic_times)
    return ChangedCluster(
        snapshot=snapshot,
        drained=ints(np.flatnonzero(drained)),
        gone=ints(np.flatnonzero(gone)),
        notes=(*notes, *scale_notes, *drain_notes, *traffic_notes),
        left_out=tuple(left_out),
    )


def _leaving(snapshot: Snapshot, scenario: WhatIf) -> list[tuple[str, BoolArray]]:
    """What is said of the machines that each option removes or lets fail, and which ones they are."""
    cluster, groups = snapshot.cluster, []
    for pattern in scenario.remove_machines:
        machines = matching_machines(cluster, pattern, "remove_machines")
        groups.append((f"{_named(snapshot, machines)} {'is' if machines.sum() == 1 else 'are'} gone", machines))
    for option in scenario.fail_zone:
        level, group, machines = members_of_group(cluster, option)
        groups.append((f"{level} {group} has failed ({count(int(machines.sum()), 'machine')})", machines))
    return groups


def _drained(snapshot: Snapshot, patterns: tuple[str, ...], gone: BoolArray) -> tuple[BoolArray, list[str]]:
    """(machine,) those that must be emptied, and a note for each option. Machines that are gone are not drained, too."""
    cluster, notes = snapshot.cluster, []
    drained, pinned = np.zeros(len(cluster.machines.name), dtype=np.bool_), pinned_containers(cluster)
    for pattern in patterns:
        machines = matching_machines(cluster, pattern, "drain") & ~gone
        if not machines.any():
            raise UsageError(
                f"drain '{pattern}': these machines are gone; expected machines that are not removed and have not failed"
            )
        runs = np.isin(snapshot.placement.machine_of, np.flatnonzero(machines))
        stuck = int((runs & pinned).sum())
        cannot = f", {stuck:,} of them {'is' if stuck == 1 else 'are'} pinned and cannot" if stuck else ""
        one = machines.sum() == 1
        verb = "has" if runs.sum() == 1 else "have"
        leave = f"{count(int(runs.sum()), 'container')} {verb} to leave {'it' if one else 'them'}{cannot}"
        notes.append(f"{_named(snapshot, machines)} {'is' if one else 'are'} drained: {leave}")
        drained |= machines
    return drained, notes


def _named(snapshot: Snapshot, machines: BoolArray) -> str:
    """'machine a1', 'machines a1, a2, a3 and 9 more'."""
    names = [snapshot.cluster.machines.name[m] for m in np.flatnonzero(machines).tolist()]
    return f"machine{'' if len(names) == 1 else 's'} {first_names(names)}"


def _with_traffic(snapshot: Snapshot, times: float) -> tuple[Snapshot, list[str]]:
    """All traffic, of edges and cliques, multiplied; and what that changes."""
    if not (math.isfinite(times) and times > 0):
        raise UsageError(f"traffic_times {times}: expected a number above 0, such as 1.5")
    if times == 1.0:
        return snapshot, []
    cluster = snapshot.cluster
    traffic = Traffic(a=cluster.traffic.a, b=cluster.traffic.b, weight=floats(cluster.traffic.weight * times))
    services = Services(name=cluster.services.name, clique=floats(cluster.services.clique * times))
    note = (
        f"all traffic times {times:g}: communication costs that much more against the other terms; "
        "gained affinity is a share of the traffic and stays as it is"
    )
    return replace(snapshot, cluster=replace(cluster, traffic=traffic, services=services)), [note]
