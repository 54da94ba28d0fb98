"""The day's change of `pack`: how many replicas workloads must have, what is deleted for that, and which machines become free."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bayplan.api.answer import PathLike
from bayplan.api.what_if.replicas import with_containers
from bayplan.check import check
from bayplan.decide.pack.instance import PackInstance
from bayplan.decide.pack.scale_down import containers_to_delete, machines_over
from bayplan.errors import UsageError, did_you_mean
from bayplan.formats.patterns import patterns_of
from bayplan.formats.replica_targets import read_replica_targets, workloads_called
from bayplan.model import UNPLACED, Cluster, IntArray, Placement, Snapshot, ints
from bayplan.score.counts import containers_on, workload_counts

MOST = 1_000_000  # containers of a workload


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplicaChange:
    """What was there before, and which of it is deleted to reach the target numbers."""

    before: PackInstance  # everything that ran, at today's usage
    target: IntArray  # (workload,)
    deleted: tuple[tuple[str, str], ...]  # container, and its machine; "" if it had none

    @property
    def patterns(self) -> IntArray:
        """(pattern, workload) what shared machines on the day before."""
        return patterns_of(self.before.snapshot.cluster, self.before.snapshot.placement)

    def freed(self, after: Snapshot) -> tuple[str, ...]:
        """Machines that ran something and run nothing any more."""
        return self._names(after, ran=True)

    def opened(self, after: Snapshot) -> tuple[str, ...]:
        """Machines that ran nothing and run something now."""
        return self._names(after, ran=False)

    def _names(self, after: Snapshot, *, ran: bool) -> tuple[str, ...]:
        was = containers_on(self.before.snapshot.cluster, self.before.snapshot.placement) > 0
        now = containers_on(after.cluster, after.placement) > 0
        return tuple(after.cluster.machines.name[m] for m in np.flatnonzero((was == ran) & (now != ran)).tolist())


def read_targets(path: PathLike, cluster: Cluster) -> Mapping[str, int]:
    """Target numbers of replicas from a file (JSON or YAML), for `targets` of `pack`."""
    return read_replica_targets(path, cluster)


def change_to(before: PackInstance, targets: Mapping[str, int]) -> tuple[ReplicaChange, Snapshot]:
    """What is deleted to reach the targets, and the snapshot without it, with new containers that have no machine yet.

    Workloads that are not named keep their number.
    """
    snapshot = before.snapshot
    cluster, target = snapshot.cluster, _targets(snapshot.cluster, targets)
    going = containers_to_delete(before.problem, ints(np.maximum(0, cluster.replicas - target)))
    keep = np.ones(len(cluster.containers.name), dtype=np.bool_)
    keep[going] = False
    new = {w: n for w, n in enumerate((target - cluster.replicas).tolist()) if n > 0}
    machine_of = snapshot.placement.machine_of[going].tolist()
    deleted = tuple(
        (cluster.containers.name[c], "" if m == UNPLACED else cluster.machines.name[m])
        for c, m in zip(going.tolist(), machine_of, strict=True)
    )
    return ReplicaChange(before=before, target=target, deleted=deleted), with_containers(snapshot, keep=keep, new=new)


def violated_by_deletions(change: ReplicaChange, snapshot: Snapshot, after: Placement) -> tuple[str, ...]:
    """Rules that were kept before and are violated now: with fewer containers of a service they may be out of reach."""
    before = change.before.snapshot
    known = {(v.rule, v.subject) for v in check(before.cluster, before.placement)}
    now = check(snapshot.cluster, after, snapshot.placement)
    return tuple(f"violated since containers were deleted: {v.sentence}" for v in now if (v.rule, v.subject) not in known)


def over_confidence(instance: PackInstance, placement: Placement) -> int:
    """Machines on which the confidence does not hold."""
    problem = instance.problem
    running = ints(workload_counts(problem.cluster, placement).T.toarray())
    return int(machines_over(replace(problem, running=running)).sum())


def _targets(cluster: Cluster, targets: Mapping[str, int]) -> IntArray:
    """(workload,) the numbers that are stated; as it is where none is."""
    target, number = cluster.replicas.copy(), {name: w for w, name in enumerate(cluster.workloads.name)}
    stated: dict[str, str] = {}
    for name, value in targets.items():
        workloads = workloads_called(cluster, name)
        if len(workloads) != 1:
            expected = f"one of its workloads, such as '{workloads[0]}'" if workloads else "the name of a workload"
            hint = "" if workloads else did_you_mean(name, cluster.workloads.name)
            raise UsageError(f"target '{name}': is not one workload of cluster '{cluster.name}'; expected {expected}{hint}")
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= MOST:
            raise UsageError(f"target '{name}': {value} is no number of containers; expected a whole number from 0 to {MOST:,}")
        if workloads[0] in stated:
            raise UsageError(f"target '{name}': is the same workload as '{stated[workloads[0]]}'; expected each once")
        stated[workloads[0]] = name
        target[number[workloads[0]]] = value
    return ints(target)
