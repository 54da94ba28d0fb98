"""What is to be migrated: from a file and a target, from where a plan was left, or back to where it began."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from bayplan.api.migration_wishes import MigrateWishes, terms_of
from bayplan.api.stopped import Mishaps, left_at
from bayplan.api.within_reach import within_reach
from bayplan.check.migration.referee import check_migration
from bayplan.errors import UsageError
from bayplan.formats.targets import new_containers, read_plan_of, read_target
from bayplan.model import (
    UNPLACED,
    Cluster,
    IntArray,
    Migration,
    Placement,
    Plan,
    Running,
    Snapshot,
    ints,
    relabelled,
    singled_out,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trip:
    """A migration, and the snapshot it is about with the containers of both ends."""

    snapshot: Snapshot  # its placement is where the input says that containers run
    migration: Migration
    new: Mapping[str, str] = field(default_factory=dict)  # container -> workload, of those that the input does not have
    notes: tuple[str, ...] = ()
    lost: tuple[tuple[str, str], ...] = ()  # containers whose target is out of reach, and why


def trip_to(snapshot: Snapshot, target: Path, wishes: MigrateWishes, *, relabel: bool = False) -> Trip:
    """From where containers run to a target in a file."""
    read = read_target(target, snapshot)
    whole, cluster = read.snapshot, read.snapshot.cluster
    after, said = _named(cluster, whole.placement, read.placement, relabel)
    migration = Migration(cluster=cluster, start=Running.of(whole.placement), target=after, policy=terms_of(cluster, wishes))
    notes = (*read.notes, *_end_notes(whole.placement, after), *said)
    return Trip(snapshot=whole, migration=migration, new=new_containers(snapshot, whole), notes=notes)


def trip_on(
    snapshot: Snapshot, target: Path, plan_file: Path, wishes: MigrateWishes, mishaps: Mishaps, *, relabel: bool = False
) -> Trip:
    """On to the target from where a plan was left: some batches have run, except for steps that failed."""
    first = trip_to(snapshot, target, wishes, relabel=relabel)
    whole, plan = read_plan_of(plan_file, first.snapshot)
    if whole is not first.snapshot:
        raise UsageError(f"--resume '{plan_file}' has containers that '{target}' does not name; expected the plan to that target")
    cluster, migration = whole.cluster, first.migration
    running, dead, said = left_at(cluster, migration.start, done_part(plan, mishaps.done), mishaps)
    on, names, machine = migration.remaining(running, dead), cluster.containers.name, cluster.machines.name
    on, stays = within_reach(on) if dead else (on, {})
    why = {c: f"its machine '{machine[migration.target.machine_of[c]]}' is dead" for c in migration.stranded(dead).tolist()}
    why = {**{c: f"stays for what is left of the target: {broken}" for c, broken in stays.items()}, **why}
    alive, lost = replace(whole, cluster=on.cluster), tuple((names[c], why[c]) for c in sorted(why))
    return Trip(snapshot=alive, migration=on, new=first.new, notes=(*first.notes, *said), lost=lost)


def trip_back(snapshot: Snapshot, plan_file: Path, wishes: MigrateWishes, done: int | None) -> tuple[Trip, Plan]:
    """Back to where containers ran from where some batches of a plan lead, and the plan for it."""
    whole, plan = read_plan_of(plan_file, snapshot)
    part, cluster, start = done_part(plan, done), whole.cluster, Running.of(whole.placement)
    terms = terms_of(cluster, wishes)
    there = expect_fit(Migration(cluster=cluster, start=start, target=whole.placement, policy=terms), part, plan_file)
    migration = Migration(
        cluster=cluster,
        start=there,
        target=whole.placement,
        policy=terms,
        full_size=_whole(cluster, whole.placement, there.placement),
    )
    return Trip(snapshot=whole, migration=migration, new=new_containers(snapshot, whole)), part.inverse()


def expect_fit(migration: Migration, plan: Plan, source: Path) -> Running:
    """What runs after a plan; UsageError if a step of it cannot be made."""
    impossible = [str(breach) for breach in check_migration(migration, plan).violations if breach.rule == "step"]
    if impossible:
        more = f" (and {len(impossible) - 1:,} more)" if len(impossible) > 1 else ""
        raise UsageError(
            f"plan '{source}' does not start from here: {impossible[0]}{more}; expected the placement it was made for"
        )
    return migration.start.after(plan)


def done_part(plan: Plan, done: int | None) -> Plan:
    """The first batches of a plan; UsageError if it has fewer."""
    if done is not None and not 0 <= done <= len(plan.batches):
        raise UsageError(f"--done {done}: the plan has {len(plan.batches)} batches; expected 0 to {len(plan.batches)}")
    return plan if done is None else Plan(batches=plan.batches[:done])


def _whole(cluster: Cluster, before: Placement, after: Placement) -> IntArray:
    """(workload,) how many containers run at both ends, at least."""
    counts = [
        np.bincount(cluster.containers.workload[p.machine_of != UNPLACED], minlength=len(cluster.workloads.name))
        for p in (before, after)
    ]
    return ints(np.minimum(*counts))


def _named(cluster: Cluster, before: Placement, after: Placement, relabel: bool) -> tuple[Placement, list[str]]:
    """The target with its replicas renamed if the user wants that, or a word about what it would save."""
    fewer = relabelled(after, before, cluster.containers.workload, singled_out(cluster))
    saved = int((after.machine_of != before.machine_of).sum() - (fewer.machine_of != before.machine_of).sum())
    if relabel:
        return fewer, []
    words = f"{saved:,} fewer containers would move if replicas were interchangeable: --relabel"
    return after, [words] if saved > 0 else []


def _end_notes(before: Placement, after: Placement) -> list[str]:
    ending = int(((before.machine_of != UNPLACED) & (after.machine_of == UNPLACED)).sum())
    if not ending:
        return []
    return [f"{ending:,} running container{'' if ending == 1 else 's'} without a machine in the target: to be deleted"]
