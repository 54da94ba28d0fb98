"""Targets of migrations, and plans: files that may name containers that the snapshot does not have yet.

A whole snapshot says of which workload they are. A plan says it under `new`. In a mere placement, `<workload>-<anything>` is a
new replica of that workload.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from bayplan.formats.document.lines import document_of, faults_with_lines
from bayplan.formats.document.text import PathLike, parse_document, read_bytes, text_in
from bayplan.formats.files import INTEGERS, placement_in, snapshot_in, tables_in
from bayplan.formats.native import placed_as
from bayplan.formats.new_containers import grown, joined
from bayplan.formats.solutions import NEW, expect_made_for, plan_in
from bayplan.model import Cluster, Placement, Plan, Snapshot

SHOWN = 3  # names in a note


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationTarget:
    """A placement to reach, and the snapshot as it is now, with the containers that only the target has."""

    snapshot: Snapshot
    placement: Placement
    named: frozenset[str] = frozenset()  # containers that the target states, also those for which it states no machine
    notes: tuple[str, ...] = ()


def read_target(path: PathLike, snapshot: Snapshot) -> MigrationTarget:
    """The target in a file: all that `read_placement` reads. A container that is not `named` has no machine there."""
    source, data = os.fspath(path), read_bytes(path)
    if (other := tables_in(data, source)) is not None:
        return snapshot_target(snapshot, other, source)
    text = text_in(data, source)
    if INTEGERS.match(text):
        from bayplan.formats.gmrp import read_gmrp_solution

        return MigrationTarget(snapshot=snapshot, placement=read_gmrp_solution(text, snapshot.cluster, source))
    with faults_with_lines(text, source):
        return target_in(parse_document(text, source), snapshot, source)


def snapshot_target(snapshot: Snapshot, other: Snapshot, source: str = "target") -> MigrationTarget:
    """The target that another snapshot states, which may have new containers and workloads."""
    whole = joined(snapshot, other)
    return MigrationTarget(
        snapshot=whole,
        placement=placed_as(other, whole.cluster, source),
        named=frozenset(other.cluster.containers.name),
        notes=_join_notes(snapshot, whole),
    )


def target_in(document: object, snapshot: Snapshot, source: str) -> MigrationTarget:
    """The target that a document states: a snapshot, or a placement."""
    other = snapshot_in(document, source)
    if other is not None:
        return snapshot_target(snapshot, other, source)
    named = frozenset(_named(document))
    new = replicas_by_name(snapshot.cluster, _named(document))
    whole = grown(snapshot, new)
    placement, notes = placement_in(document, whole.cluster, source), _name_notes(snapshot.cluster, new)
    return MigrationTarget(snapshot=whole, placement=placement, named=named, notes=notes)


def read_plan_of(path: PathLike, snapshot: Snapshot) -> tuple[Snapshot, Plan]:
    """The plan in a file, and the snapshot with the containers that only the plan has.

    InputError that names what changed, if the plan was made for another state than the snapshot's.
    """
    with document_of(path) as document:
        whole = grown(snapshot, _new_in_plan(document, snapshot.cluster))
        plan = plan_in(document, whole.cluster, os.fspath(path))
        expect_made_for(plan, snapshot, os.fspath(path))
        return whole, plan


def reasons_in_plan(path: PathLike) -> dict[str, str]:
    """Container -> why a plan moves it, as its file says; empty if it says nothing."""
    with document_of(path) as document:
        return reasons_of(document)


def reasons_of(document: object) -> dict[str, str]:
    """Container -> why the plan of a document moves it; empty if it says nothing."""
    moves = document.get("moves") if isinstance(document, Mapping) else None
    listed = [move for move in moves if isinstance(move, Mapping)] if isinstance(moves, list) else []
    return {str(move["container"]): str(move["why"]) for move in listed if {"container", "why"} <= move.keys()}


def target_and_plan(path: PathLike, target: MigrationTarget) -> tuple[MigrationTarget, Plan]:
    """The plan in a file, and the target with the containers that only the plan has."""
    whole, plan = read_plan_of(path, target.snapshot)
    new = {
        name: whole.cluster.workloads.name.index(workload) for name, workload in new_containers(target.snapshot, whole).items()
    }
    ends = grown(replace(target.snapshot, placement=target.placement), new)
    return replace(target, snapshot=whole, placement=ends.placement), plan


def new_containers(before: Snapshot, after: Snapshot) -> dict[str, str]:
    """Container -> workload, of those that only `after` has: what a plan says under `new`."""
    here = set(before.cluster.containers.name)
    workload = after.cluster.workloads.name
    pairs = zip(after.cluster.containers.name, after.cluster.containers.workload.tolist(), strict=True)
    return {name: workload[w] for name, w in pairs if name not in here}


def replicas_by_name(cluster: Cluster, names: Iterable[str]) -> dict[str, int]:
    """Container -> workload, of the names that are no container's but begin with a workload's and a dash."""
    workload = {name: w for w, name in enumerate(cluster.workloads.name)}
    known, owner_of = set(cluster.containers.name), {}
    for name in dict.fromkeys(names):
        if name not in known:
            owner = next((name[:k] for k in _dashes(name) if name[:k] in workload), None)
            if owner is not None:
                owner_of[name] = workload[owner]
    return owner_of


def _dashes(name: str) -> Iterator[int]:
    """Where a name may be cut: the longest workload's name counts."""
    return (k for k in range(len(name) - 2, 0, -1) if name[k] == "-")


def _named(document: object) -> Iterator[str]:
    """The containers of a native placement or a RASA solution; none of what has another shape, which is refused later."""
    if not isinstance(document, Mapping):
        return
    placement = document.get("placement")
    if isinstance(placement, Mapping):
        yield from (name for name in placement if isinstance(name, str))
    else:
        yield from (name for listed in document.values() if isinstance(listed, list) for name in listed if isinstance(name, str))


def _new_in_plan(document: object, cluster: Cluster) -> dict[str, int]:
    batches = document.get("batches") if isinstance(document, Mapping) else None
    stated = document.get(NEW) if isinstance(document, Mapping) else None
    workload = {name: w for w, name in enumerate(cluster.workloads.name)}
    known = set(cluster.containers.name)
    told = stated.items() if isinstance(stated, Mapping) else ()
    new = {name: workload[w] for name, w in told if isinstance(w, str) and w in workload and name not in known}
    steps = (step for batch in batches if isinstance(batch, list) for step in batch) if isinstance(batches, list) else ()
    names = (step.get("container") for step in steps if isinstance(step, Mapping))
    return {**replicas_by_name(cluster, (name for name in names if isinstance(name, str) and name not in new)), **new}


def _join_notes(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    known = set(before.cluster.workloads.name)
    fresh = [name for name in after.cluster.workloads.name if name not in known]
    new = new_containers(before, after)
    notes = (
        [f"{_counted(len(new), 'container')} of the target {'is' if len(new) == 1 else 'are'} new: {_some(new)}"] if new else []
    )
    return (*notes, *([f"{_counted(len(fresh), 'workload')} only in the target: {_some(fresh)}"] if fresh else []))


def _name_notes(cluster: Cluster, new: Mapping[str, int]) -> tuple[str, ...]:
    if not new:
        return ()
    owners = _some(dict.fromkeys(cluster.workloads.name[w] for w in new.values()))
    return (f"{_counted(len(new), 'container')} unknown here, taken by name as new replicas of {owners}: {_some(new)}",)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join([*listed[:SHOWN], *(["..."] if len(listed) > SHOWN else [])])
