"""Look at a cluster: its state in numbers, the rules it breaks, and a report of both."""

from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from bayplan.check import Violation, violations
from bayplan.errors import UsageError
from bayplan.formats import read, read_placement
from bayplan.model import Cluster, Placement, Snapshot
from bayplan.score.summary import Summary, summarise


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What there is to say about one placement of one cluster."""

    snapshot: Snapshot
    summary: Summary
    violations: tuple[Violation, ...]


def load(file: Path, start: Path | None = None) -> Snapshot:
    """The snapshot in `file`, called after it if it has no name, with the placement of `start` if that is given."""
    return started_from(named(read(file) if start is None else read(file, start), file), start)


def named(snapshot: Snapshot, file: Path) -> Snapshot:
    """The snapshot, called after its file if it has no name."""
    if snapshot.cluster.name:
        return snapshot
    name = file.name.split(".")[0] if file.name != "-" else "cluster"
    return replace(snapshot, cluster=replace(snapshot.cluster, name=name))


def started_from(snapshot: Snapshot, start: Path | None) -> Snapshot:
    """The snapshot with the placement in the file `start`, or as it is."""
    return snapshot if start is None else replace(snapshot, placement=read_placement(start, snapshot.cluster))


def inspect(snapshot: Snapshot, before: Placement | None = None, counted_from: Placement | None = None) -> Inspection:
    """Score and check a snapshot; `before` is where the containers ran, for costs and rules of moves.

    `counted_from` is for the costs alone: the snapshot's placement is taken as it is, not as the end of moves.
    """
    return Inspection(
        snapshot=snapshot,
        summary=summarise(snapshot, counted_from if before is None else before),
        violations=tuple(violations(snapshot.cluster, snapshot.placement, before)),
    )


def container_index(cluster: Cluster, name: str) -> int:
    """Where the container called `name` stands; a usage fault with the nearest names if there is none."""
    if name in cluster.containers.name:
        return cluster.containers.name.index(name)
    near = get_close_matches(name, cluster.containers.name, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise UsageError(f"no container '{name}' in cluster '{cluster.name}'{hint}")
