"""`bayplan check`"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from bayplan.cli import screen
from bayplan.cli.exits import ANSWER_IS_NO
from bayplan.cli.options import File, Json, Out, Quiet, Report, Start
from bayplan.cli.outputs import a_file, command_line, spare
from bayplan.cli.schedule_options import Capacity, FleetFile, Horizon, Machines
from bayplan.cli.terminal import note, warn, working
from bayplan.errors import UsageError

PlacementFile = Annotated[
    Path | None,
    typer.Option(
        "--placement", metavar="FILE", help="Judge this placement; the input's own is then where containers ran before."
    ),
]
Accepted = Annotated[
    Path | None,
    typer.Option("--accepted", metavar="FILE", help="Judge this answer of `admit`; the input holds zones and requests."),
]
ZonesFile = Annotated[
    Path | None,
    typer.Option("--zones", metavar="FILE", help="With --accepted: the zones of a stream that has none of its own."),
]
Served = Annotated[
    Path | None,
    typer.Option("--served", metavar="FILE", help="Judge this answer of `schedule`; the input holds timed requests."),
]


def check(
    file: File,
    placement: PlacementFile = None,
    accepted: Accepted = None,
    zones: ZonesFile = None,
    served: Served = None,
    machines: Machines = None,
    fleet: FleetFile = None,
    capacity: Capacity = None,
    horizon: Horizon = None,
    start: Start = None,
    report: Report = None,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Judge a placement: every broken rule, one sentence each. Exit code 3 if there is any.

    With --placement, the rules about moves (transient, pinned, nothing lost) are judged too, and --report shows
    before and after side by side. With --accepted, an answer of `admit` is judged: does it fit zones and links at all times?

    With --served, one of `schedule`, on the machines that are stated as there: is no machine over capacity at any time?

    Example: [cyan]bayplan check shop.yaml --placement placement.json[/cyan]

    Example: [cyan]bayplan check requests.json --served served.json --machines 1[/cyan]

    Example: [cyan]bayplan check stream.jsonl --accepted accepted.json[/cyan]
    """
    a_file(report, "--report")
    spare(report, "--report", file, start, placement)
    spare(out, "--out", file, start, placement, accepted, zones)
    machinery = {"--machines": machines, "--fleet": fleet, "--capacity": capacity, "--horizon": horizon}
    if served is not None:
        if placement or start or report or accepted or zones:
            raise UsageError(
                "--served is about timed requests: expected no --placement, --start, --report, --accepted or --zones"
            )
        spare(out, "--out", served, fleet)
        stated = {"machines": machines, "fleet": fleet, "capacity": capacity, "horizon": horizon}
        _check_served(file, served, stated, out=out, as_json=json, quiet=quiet)
        return
    if any(value is not None for value in machinery.values()):
        given = " and ".join(name for name, value in machinery.items() if value is not None)
        raise UsageError(f"{given} goes with --served FILE; expected both")
    if accepted is not None:
        if placement or start or report:
            raise UsageError("--accepted is about zones and requests: expected neither --placement, --start nor --report")
        _check_accepted(file, accepted, zones, out=out, as_json=json, quiet=quiet)
        return
    if zones is not None:
        raise UsageError(f"--zones '{zones}' goes with --accepted FILE; expected both")
    with working(f"checking {file}", quiet=quiet):
        from bayplan.api.files import read as load
        from bayplan.api.inspect import inspect, write_comparison, write_report
        from bayplan.formats import read_placement

        before = load(file, start)
        note(before.notes, quiet=quiet)
        if placement is None:
            inspection = inspect(before)
        else:
            after = replace(before, placement=read_placement(placement, before.cluster))
            inspection = inspect(after, before=before.placement)
        command = command_line(f"check {file}", start=start, placement=placement)
        if report is not None and placement is None:
            write_report(report, inspection, command=command)
        elif report is not None:
            write_comparison(report, before, inspection, command=command)
    screen.check(inspection, as_json=json, out=out)
    if inspection.violations:
        raise typer.Exit(ANSWER_IS_NO)


def _check_accepted(file: Path, answer: Path, zones: Path | None, *, out: Path | None, as_json: bool, quiet: bool) -> None:
    with working(f"checking {answer}", quiet=quiet):
        from bayplan.api.judge import judge_accepted

        judged = judge_accepted(file, answer, zones)
    if judged.skipped:
        warn(f"{judged.skipped} requests left out because of their faults")
    screen.judged(judged, as_json=as_json, out=out)
    if judged.violations:
        raise typer.Exit(ANSWER_IS_NO)


def _check_served(file: Path, answer: Path, stated: dict[str, Any], *, out: Path | None, as_json: bool, quiet: bool) -> None:
    with working(f"checking {answer}", quiet=quiet):
        from bayplan.api.judge_served import judge_served
        from bayplan.api.timed_problem import timed_problem
        from bayplan.cli.schedule_input import read_input, text_pairs

        capacity = text_pairs(stated.pop("capacity"), "--capacity", "NAME=AMOUNT")
        read = read_input(file, **stated)
        judged = judge_served(timed_problem(read, stated["machines"], capacity=capacity), answer, file.name)
    note(read.notes, quiet=quiet)
    screen.judged(judged, as_json=as_json, out=out)
    if judged.violations:
        raise typer.Exit(ANSWER_IS_NO)
