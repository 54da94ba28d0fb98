"""`bayplan check`"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli import screen
from bayplan.cli.exits import ANSWER_IS_NO
from bayplan.cli.options import File, Json, Out, Quiet, Report, Start
from bayplan.cli.outputs import a_file, command_line, spare
from bayplan.cli.terminal import note, working

PlacementFile = Annotated[
    Path | None,
    typer.Option(
        "--placement", metavar="FILE", help="Judge this placement; the input's own is then where containers ran before."
    ),
]


def check(
    file: File,
    placement: PlacementFile = None,
    start: Start = None,
    report: Report = None,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Judge a placement: every broken rule, one sentence each. Exit code 3 if there is any.

    With --placement, the rules about moves (transient, pinned, nothing lost) are judged too, and --report shows
    before and after side by side.

    Example: [cyan]bayplan check shop.yaml --placement new.json[/cyan]
    """
    a_file(report, "--report")
    spare(report, "--report", file, start, placement)
    spare(out, "--out", file, start, placement)
    with working(f"checking {file}", quiet=quiet):
        from bayplan.collect import read_placement
        from bayplan.flows.inspect import inspect, load
        from bayplan.flows.report import write_comparison, write_report

        before = load(file, start)
        note(before.notes, quiet=quiet)
        if placement is None:
            inspection = inspect(before)
        else:
            after = replace(before, placement=read_placement(placement, before.cluster))
            inspection = inspect(after, before.placement)
        command = command_line(f"check {file}", start=start, placement=placement)
        if report is not None and placement is None:
            write_report(report, inspection, command=command)
        elif report is not None:
            write_comparison(report, before, inspection, command=command)
    screen.check(inspection, as_json=json, out=out)
    if inspection.violations:
        raise typer.Exit(ANSWER_IS_NO)
