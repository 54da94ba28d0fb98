"""Further machines that could be bought: copies of a stated or of the most common type, outside of what fails."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from bayplan.api.what_if.added_machines import with_machines
from bayplan.decide.capacity import Spare
from bayplan.errors import UsageError, did_you_mean
from bayplan.model import MACHINE, Cluster, IntArray, Machines, Snapshot, ints
from bayplan.model.allowed_machines import pinned_containers
from bayplan.model.failures import Failure

FEWEST, MOST = 4, 2000  # machines of one kind that are tried


def with_further_machines(
    snapshot: Snapshot, failures: Sequence[Failure], like: str | None
) -> tuple[Snapshot, tuple[Spare, ...]]:
    """The snapshot with empty machines of one or more kinds: for each failure one that copies a machine that has not failed.

    What is pinned to the machine that is copied, such as a log agent, is taken off the capacity of its copies.
    """
    cluster = snapshot.cluster
    kinds = _kinds(cluster, failures, like)
    spares = []
    for machine, number in kinds.items():
        first = len(snapshot.cluster.machines.name)
        snapshot, _ = with_machines(snapshot, f"{number}:{cluster.machines.name[machine]}")
        spares.append(Spare(machine, ints(np.arange(first, first + number))))
    pinned = _pinned_load(snapshot, [spare.like for spare in spares])
    capacity, safety = snapshot.cluster.machines.capacity.copy(), snapshot.cluster.machines.safety.copy()
    for spare, load in zip(spares, pinned, strict=True):
        capacity[spare.machines] = np.maximum(0, capacity[spare.machines] - load)
        safety[spare.machines] = np.maximum(0, safety[spare.machines] - load)
    machines = Machines(name=snapshot.cluster.machines.name, capacity=ints(capacity), safety=ints(safety))
    return replace(snapshot, cluster=replace(snapshot.cluster, machines=machines)), tuple(spares)


def _kinds(cluster: Cluster, failures: Sequence[Failure], like: str | None) -> dict[int, int]:
    """Machine to copy -> how many copies are tried: as many as fail at once."""
    if not cluster.machines.name:
        return {}
    types = machine_types(cluster)
    wanted = _stated(cluster, like) if like is not None else int(np.flatnonzero(types == _most_common(types))[0])
    kinds = {wanted: FEWEST}
    for failure in failures:
        if failure.level == MACHINE:
            continue
        failed = np.isin(np.arange(len(types)), failure.machines)
        machine = next((known for known in kinds if not failed[known]), -1)
        if machine < 0 and not failed.all():
            same = np.flatnonzero(~failed & (types == types[wanted]))
            machine = int(same[0]) if len(same) else int(np.flatnonzero(~failed & (types == _most_common(types[~failed])))[0])
        if machine >= 0:
            kinds[machine] = min(MOST, max(kinds.get(machine, FEWEST), len(failure.machines)))
    return kinds


def _stated(cluster: Cluster, like: str) -> int:
    if like not in cluster.machines.name:
        hint = did_you_mean(like, cluster.machines.name)
        raise UsageError(f"like '{like}': no such machine in cluster '{cluster.name}'; expected the name of a machine{hint}")
    return cluster.machines.name.index(like)


def machine_types(cluster: Cluster) -> IntArray:
    """(machine,) a number that machines share that have the same capacity, safety capacity and machine sets."""
    member = np.zeros((len(cluster.machines.name), len(cluster.machine_sets)), dtype=np.int64)
    for column, members in enumerate(cluster.machine_sets.values()):
        member[members, column] = 1
    table = np.concatenate([cluster.machines.capacity, cluster.machines.safety, member], axis=1)
    return ints(np.unique(table, axis=0, return_inverse=True)[1].ravel())


def _most_common(types: IntArray) -> int:
    return int(np.bincount(types).argmax())


def _pinned_load(snapshot: Snapshot, machines: Iterable[int]) -> list[IntArray]:
    """(resource,) what containers request that are pinned to each of these machines."""
    pinned = pinned_containers(snapshot.cluster)
    here = snapshot.placement.machine_of
    return [ints(snapshot.cluster.request_of(np.flatnonzero(pinned & (here == m))).sum(axis=0)) for m in machines]
