"""The answer of `plan` for a fleet of clusters: its files, its words, its exit code."""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import typer

from bayplan.cli.console import clock
from bayplan.cli.console.decision import say
from bayplan.cli.console.exits import ANSWER_IS_NO, FAILED
from bayplan.cli.console.outputs import STDOUT, expect_outputs
from bayplan.cli.console.terminal import warn, working
from bayplan.cli.options.fleet import FleetCommand
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.api.fleet.answer import FleetAnswer
    from bayplan.formats.clusters import ClusterFleet
    from bayplan.model import Progress, Snapshot


def plan_clusters(file: Path, typed: typer.Context) -> None:
    """Plan all clusters of a fleet, write what is wanted, and say it; exit code 1 if a cluster has no plan."""
    command = FleetCommand.typed(file, typed)
    _expect_folder(command.out)
    expect_outputs({"--report": command.report}, file)
    with working(f"planning for {file}", quiet=command.stated["quiet"]) as progress:
        import bayplan as bp

        with collected_clusters(file, progress) as fleet:
            answer = bp.plan_fleet(fleet, **command.keywords(progress))
    _write(answer, command)
    files = {"plans": command.out, "report": command.report}
    try:
        say(answer, files=files, json=command.stated["json"], following=_next(answer, command))
    except typer.Exit:  # no cluster was planned
        raise typer.Exit(FAILED) from None
    if not answer.complete:
        for failure in answer.failures():
            warn(f"no plan for {failure}")
        raise typer.Exit(FAILED)
    if not answer.worth_it:
        raise typer.Exit(ANSWER_IS_NO)


@contextmanager
def collected_clusters(file: Path, progress: "Progress | None" = None) -> Iterator["ClusterFleet"]:
    """The fleet in a file; its Kubernetes contexts are collected into snapshots in a temporary folder."""
    from bayplan.formats.clusters import read_clusters

    fleet = read_clusters(file)
    if not any(cluster.context for cluster in fleet.clusters):
        yield fleet
        return
    from bayplan.kubernetes.fleet import collected_fleet
    from bayplan.model import silent

    with TemporaryDirectory(prefix="bayplan-fleet-") as folder:
        yield collected_fleet(fleet, folder, progress=progress or silent)


def free_machines(snapshot: "Snapshot", file: Path) -> "Snapshot":
    """The workloads of a snapshot, and as machines what is free in the clusters of a fleet."""
    from bayplan.api.fleet.free_capacity import on_fleet

    with collected_clusters(file) as fleet:
        return on_fleet(snapshot, fleet)


def _expect_folder(out: Path | None) -> None:
    if out is not None and (out == STDOUT or (out.exists() and not out.is_dir())):
        raise UsageError(f"--out '{out}' is not a folder; expected one for the plans of the clusters, which is made if need be")


def _write(answer: "FleetAnswer", command: FleetCommand) -> None:
    """The plans, the pages and the report."""
    out, report = command.out, command.report
    if out is not None:
        answer.save(out)
        if command.pages:
            answer.save_pages(out)
    if report is not None:
        pages = "" if out is None else Path(os.path.relpath(out, report.resolve().parent)).as_posix()
        answer.report(report, command=clock.command(), pages=pages)


def _next(answer: "FleetAnswer", command: FleetCommand) -> str:
    """What to type next."""
    first = next((plan.row for plan in answer.plans if plan.plan_text), None)
    if first is None:
        return f"next: bayplan show {_named(answer, answer.rows[0].name)}"
    if command.out is None:
        return "nothing was written: --out DIR keeps the plans, --report fleet.html shows them"
    plan = shlex.quote(str(command.out / f"{first.name}.plan.json"))
    look = f"open {command.report}, then " if command.report is not None else ""
    where = _named(answer, first.name)
    simulate = "" if where.startswith("--context") else "--simulate "
    return f"next: {look}for each cluster, such as {first.name}: bayplan apply {plan} {simulate}{where}"


def _named(answer: "FleetAnswer", name: str) -> str:
    """How to name a cluster in a further command."""
    cluster = next(each for each in answer.fleet.clusters if each.name == name)
    return shlex.join(["--context", cluster.context] if cluster.context else [cluster.file])
