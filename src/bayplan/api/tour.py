"""Place what waits, rebalance or collocate everything, find a safe order of moves, admit a stream: one after the other."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bayplan.api.admit import AdmissionAnswer, admit
from bayplan.api.collocate import collocate
from bayplan.api.inspect import grouping
from bayplan.api.migrate import MigrationAnswer, migrate
from bayplan.api.placement import PlacementAnswer
from bayplan.formats.document.text import write_text_atomically
from bayplan.formats.streams import json_lines
from bayplan.model import Budget, ClusterRequests, Snapshot
from bayplan.report.pictures import before_after

ATTEMPTS = Budget(iterations=4)
BOUND_SECONDS = 2.0  # for the proof of what a stream can be worth
ALIVE = 0.6  # of three databases two, so that they can change places


@dataclass(frozen=True, slots=True, kw_only=True)
class Collocated:
    """A cluster that was collocated, and the order of moves to get there."""

    answer: PlacementAnswer
    route: MigrationAnswer


def collocated(snapshot: Snapshot, *, seconds: float, seed: int, max_moves: str | None = None) -> Collocated:
    """Workloads that talk on the same machines, and a safe order of moves from where the snapshot has them."""
    answer = collocate(snapshot, seconds=seconds, seed=seed, max_moves=max_moves, engine="here")
    return Collocated(answer=answer, route=plan_moves(snapshot, answer.after, seed=seed))


def plan_moves(snapshot: Snapshot, after: Snapshot, *, seed: int) -> MigrationAnswer:
    """The order of moves that leads from where a snapshot's containers run to where `after` has them."""
    return migrate(snapshot, after.placement, seed=seed, alive=ALIVE, delete_missing=True, budget=ATTEMPTS)


def write_collocated(folder: Path, name: str, made: Collocated, *, command: str) -> Mapping[str, str]:
    """Write placement, plan, picture and pages; what was written, by what it is."""
    answer, cluster = made.answer, made.answer.snapshot.cluster
    file = {
        part: folder / f"{name}-{part}" for part in ("together.json", "together.html", "together.svg", "plan.json", "plan.html")
    }
    answer.save(file["together.json"])
    answer.report(file["together.html"], command=command)
    picture = before_after(cluster, answer.snapshot.placement, answer.placement, group_by=grouping(cluster, None))
    write_text_atomically(file["together.svg"], picture)
    made.route.save(file["plan.json"])
    made.route.report(file["plan.html"], command=command)
    pages = ("html", "svg")
    return {f"{name}: {part}": str(path.resolve() if part.endswith(pages) else path) for part, path in file.items()}


def let_in(stream: ClusterRequests, *, seed: int) -> AdmissionAnswer:
    """Groups of containers as they arrive, by prices, beside what is proven to be possible."""
    return admit(stream, bound=True, budget=Budget(seconds=BOUND_SECONDS), seed=seed)


def write_let_in(folder: Path, admitted: AdmissionAnswer, *, command: str) -> Mapping[str, str]:
    """Write a stream, who was accepted, and the page; what was written, by what it is."""
    stream, accepted, page = folder / "stream.jsonl", folder / "accepted.json", folder / "admitted.html"
    write_text_atomically(stream, json_lines(admitted.stream))
    admitted.save(accepted)
    admitted.report(page, command=command)
    return {"stream of requests": str(stream), "accepted": str(accepted), "prices over time": str(page.resolve())}
