"""What is to be migrated, as a caller says it: to a target, on from a partial run, or back to where a plan began."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from bayplan.api.partial_run import PartialRun, first_batches, reachable_target, state_after
from bayplan.api.problem import matching, matching_any, not_negative
from bayplan.check import check_migration
from bayplan.errors import ModelError, UsageError, did_you_mean, expect_one_of
from bayplan.formats.targets import MigrationTarget, new_containers, snapshot_target
from bayplan.migrate import MigrateOptions
from bayplan.model import (
    UNPLACED,
    Cluster,
    FloatArray,
    Migration,
    MigrationPolicy,
    Pinned,
    Placement,
    Plan,
    Reason,
    Running,
    Snapshot,
    StepLimits,
    Way,
    floats,
    ints,
    relabelled,
    singled_out,
)
from bayplan.score.duration import StepCosts
from bayplan.words import count

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MigrationSettings:
    """What a caller may say about the way, beside the alive share."""

    way: str = Way.AUTO.value
    replace: Sequence[str] = ()  # names or patterns of workloads whose containers are deleted, then created
    surge: Sequence[str] = ()  # names or patterns of workloads whose containers are created, then deleted
    needed: Mapping[str, int] = field(default_factory=dict)  # workload -> containers that run at any time, such as by a budget
    limits: StepLimits = field(default_factory=StepLimits)
    late: Mapping[str, float] = field(default_factory=dict)  # name or pattern -> weight: the heavier, the later
    never: Sequence[str] = ()  # names or patterns of containers or workloads that stay where they run
    stopovers: bool = True  # may a container go by way of a third machine?
    costs: StepCosts | Mapping[str, float] = field(default_factory=StepCosts)  # for the estimate of the duration
    resume: PartialRun | None = None  # start where an earlier plan to the same target was left

    @property
    def step_costs(self) -> StepCosts:
        """Seconds to pull, start and stop; UsageError for a name of something else."""
        if isinstance(self.costs, StepCosts):
            return self.costs
        for name in self.costs:
            expect_one_of(name, [known.name for known in fields(StepCosts)], "cost")
        return StepCosts(**self.costs)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MigrationRequest:
    """A migration, and the snapshot it is about with the containers of both ends."""

    snapshot: Snapshot  # its placement is where the input says that containers run
    migration: Migration
    options: MigrateOptions = field(default_factory=MigrateOptions)
    new: Mapping[str, str] = field(default_factory=dict)  # container -> workload, of those that the input does not have
    notes: tuple[str, ...] = ()
    unreachable: tuple[Reason, ...] = ()  # containers whose target cannot be reached any more


def request_to(
    snapshot: Snapshot,
    target: MigrationTarget | Snapshot | Placement,
    settings: MigrationSettings,
    *,
    alive: float,
    relabel: bool = False,
    delete_missing: bool = False,
) -> MigrationRequest:
    """From where containers run to a target, or on to it from a partial run."""
    given = target_value(snapshot, target)
    whole, cluster = given.snapshot, given.snapshot.cluster
    reached, notes = completed_target(given, relabel=relabel, delete_missing=delete_missing)
    migration = Migration(
        cluster=cluster, start=Running.of(whole.placement), target=reached, policy=policy_of(cluster, alive, settings)
    )
    request = MigrationRequest(
        snapshot=whole,
        migration=migration,
        options=method_options(cluster, settings),
        new=new_containers(snapshot, whole),
        notes=(*given.notes, *notes),
    )
    return request if settings.resume is None else _resumed(request, settings.resume)


def request_back(
    snapshot: Snapshot, plan: Plan, settings: MigrationSettings, *, alive: float, done: int | None
) -> tuple[MigrationRequest, Plan]:
    """Back to where the snapshot has its containers from where the first batches of a plan lead, and the plan for it."""
    part, cluster, start = first_batches(plan, done), snapshot.cluster, Running.of(snapshot.placement)
    policy = policy_of(cluster, alive, settings)
    forth = Migration(cluster=cluster, start=start, target=snapshot.placement, policy=policy)
    impossible = [str(violation) for violation in check_migration(forth, part).violations if violation.rule == "step"]
    if impossible:
        others = f" (and {len(impossible) - 1:,} more)" if len(impossible) > 1 else ""
        raise UsageError(f"the plan does not start from here: {impossible[0]}{others}; expected the placement it was made for")
    whole = replace(forth, target=check_migration(forth, plan).running.placement)
    here = _pinned_where_it_ran(cluster, snapshot.placement)
    back = replace(forth, cluster=here, start=start.after(part), full_size=whole.size)  # alive shares as on the way there
    return MigrationRequest(snapshot=snapshot, migration=back), part.inverse()


def _pinned_where_it_ran(cluster: Cluster, before: Placement) -> Cluster:
    """The cluster in which what never ran before a plan is not pinned: the way back deletes it."""
    ran = set(before.placed.tolist())
    rules = tuple(
        replace(rule, containers=tuple(c for c in rule.containers if c in ran)) if isinstance(rule, Pinned) else rule
        for rule in cluster.rules
    )
    return replace(cluster, rules=rules)


def target_value(snapshot: Snapshot, target: MigrationTarget | Snapshot | Placement) -> MigrationTarget:
    """The target with the snapshot as it is now, grown by the containers that only the target has."""
    if isinstance(target, MigrationTarget):
        return target
    if isinstance(target, Snapshot):
        return snapshot_target(snapshot, target)
    if len(target.machine_of) != len(snapshot.cluster.containers.name):
        raise UsageError(
            f"the target places {len(target.machine_of)} containers, the snapshot has {len(snapshot.cluster.containers.name)}; "
            "expected a placement of this cluster, or a snapshot"
        )
    return MigrationTarget(snapshot=snapshot, placement=target)


def completed_target(given: MigrationTarget, *, relabel: bool, delete_missing: bool) -> tuple[Placement, tuple[str, ...]]:
    """The target with a machine for what runs and is not stated in it, unless that is to be deleted; and notes for the user."""
    before, cluster, target = given.snapshot.placement, given.snapshot.cluster, given.placement
    without = (before.machine_of != UNPLACED) & (target.machine_of == UNPLACED)
    missing = without & np.array([name not in given.named for name in cluster.containers.name], dtype=np.bool_)
    deleted, left = (int(without.sum()), 0) if delete_missing else (int((without & ~missing).sum()), int(missing.sum()))
    notes = [f"{count(deleted, 'running container')} without a machine in the target: to be deleted"] if deleted else []
    if left:
        stays = (
            "left where it is (--delete-missing deletes it)"
            if left == 1
            else "left where they are (--delete-missing deletes them)"
        )
        notes.append(f"{count(left, 'running container')} not in the target: {stays}")
        target = Placement(machine_of=ints(np.where(missing, before.machine_of, target.machine_of)))
    renamed = relabelled(target, before, cluster.containers.workload, singled_out(cluster))
    saved = int((target.machine_of != before.machine_of).sum() - (renamed.machine_of != before.machine_of).sum())
    if saved > 0 and not relabel:
        notes.append(f"{saved:,} fewer containers would move if replicas were interchangeable: --relabel")
    return renamed if relabel else target, tuple(notes)


def _resumed(request: MigrationRequest, partial: PartialRun) -> MigrationRequest:
    """On to the target from where a plan was left; what cannot be reached any more is left out, with a reason."""
    migration, cluster = request.migration, request.migration.cluster
    running, dead, notes = state_after(cluster, migration.start, partial)
    remaining, stays = migration.remaining(running, dead), dict[int, str]()
    if dead:
        remaining, stays = reachable_target(remaining)
    why = {c: f"stays for what is left of the target: {sentence}" for c, sentence in stays.items()}
    machine = cluster.machines.name
    for c in migration.stranded(dead).tolist():
        why[c] = f"its machine '{machine[migration.target.machine_of[c]]}' is dead"
    return replace(
        request,
        snapshot=replace(request.snapshot, cluster=remaining.cluster),
        migration=remaining,
        notes=(*request.notes, *notes),
        unreachable=tuple(Reason(subject=cluster.containers.name[c], text=why[c]) for c in sorted(why)),
    )


# ---- the words of a caller -----------------------------------------------------------------------------------------------------


def policy_of(cluster: Cluster, alive: float, settings: MigrationSettings) -> MigrationPolicy:
    """What must hold on the way."""
    try:
        needed = _needed(cluster, settings.needed)
        return MigrationPolicy(alive=alive, needed=needed, way=_ways(cluster, settings), limits=settings.limits)
    except ModelError as error:
        raise UsageError(str(error)) from error


def _needed(cluster: Cluster, stated: Mapping[str, int]) -> tuple[int, ...]:
    """(workload,) or empty if nothing is stated."""
    if not stated:
        return ()
    known = {name: w for w, name in enumerate(cluster.workloads.name)}
    needed = [0] * len(known)
    for name, number in stated.items():
        expect_one_of(name, known, "workload")
        needed[known[name]] = number
    return tuple(needed)


def method_options(cluster: Cluster, settings: MigrationSettings) -> MigrateOptions:
    """What is preferred beside that."""
    return MigrateOptions(
        weight=_weights(cluster, settings.late) if settings.late else None,
        never=matching_any(cluster, settings.never, "to leave alone") if settings.never else None,
        stopovers=settings.stopovers,
    )


def _ways(cluster: Cluster, settings: MigrationSettings) -> tuple[Way, ...]:
    """(workload,) or empty if all are AUTO."""
    expect_one_of(settings.way, (way.value for way in Way), "way")
    ways = [Way(settings.way)] * len(cluster.workloads.name)
    stated: dict[int, Way] = {}
    for way, patterns in ((Way.REPLACE, settings.replace), (Way.SURGE, settings.surge)):
        for w in (w for pattern in patterns for w in _workloads(cluster, pattern, way)):
            if stated.setdefault(w, way) is not way:
                raise UsageError(f"workload '{cluster.workloads.name[w]}' is both to replace and to surge; expected one of them")
            ways[w] = way
    return tuple(ways) if set(ways) != {Way.AUTO} else ()


def _workloads(cluster: Cluster, pattern: str, way: Way) -> "Iterator[int]":
    names = cluster.workloads.name
    if not any(fnmatchcase(name, pattern) for name in names):
        hint = did_you_mean(pattern, names)
        raise UsageError(f"no workload to {way} is called '{pattern}'; expected a workload, or a pattern of names{hint}")
    return (w for w, name in enumerate(names) if fnmatchcase(name, pattern))


def _weights(cluster: Cluster, late: Mapping[str, float]) -> FloatArray:
    """(container,) 1 unless stated; the largest of what is stated."""
    weight, stated = np.ones(len(cluster.containers.name)), np.zeros(len(cluster.containers.name))
    for name, value in late.items():
        chosen = matching(cluster, name, "to move late")
        weight[chosen] = np.maximum(stated[chosen], not_negative(value, f"late '{name}={value}'"))
        stated[chosen] = weight[chosen]
    return floats(weight)
