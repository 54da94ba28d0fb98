"""`bayplan show`"""

from pathlib import Path

from bayplan.cli.console import clock
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.screen import print_value
from bayplan.cli.console.terminal import note, working
from bayplan.cli.options.shared import File, GroupBy, Json, Out, Quiet, Report, Start
from bayplan.errors import UsageError


def show(
    file: File,
    start: Start = None,
    report: Report = None,
    group_by: GroupBy = None,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what the cluster looks like now: hot machines, costs, gained affinity, violated rules.

    Of timed requests and of streams for `admit` it shows how much they request, and when.

    With --start, moves and their costs are counted from the input's own placement; `check --placement` judges them.

    Example: [cyan]bayplan show shop.yaml --report shop.html[/cyan]
    """
    expect_outputs({"--report": report}, file, start)
    expect_outputs({"--out": out}, file, start, stdout=True)
    if group_by is not None and report is None:
        raise UsageError(f"--group-by '{group_by}' is for the report; expected --report FILE too")
    with working(f"reading {file}", quiet=quiet):
        from bayplan.api.files import named, read_any, started_from
        from bayplan.api.inspect import Inspection, RequestInspection, inspect, inspect_requests
        from bayplan.model import Snapshot

        value = read_any(file)
        inspected: Inspection | RequestInspection
        note(getattr(value, "notes", ()), quiet=quiet)
        if isinstance(value, Snapshot):
            original = named(value, file)
            counted_from = None if start is None else original.placement
            inspected = inspect(started_from(original, start), counted_from=counted_from)
            if report is not None:
                inspected.report(report, command=clock.command(), group_by=group_by)
        else:
            _expect_nothing_else(file, start=start, report=report, group_by=group_by)
            inspected = inspect_requests(value, name=file.name)
    print_value(inspected, json=json, out=out)


def _expect_nothing_else(file: Path, **options: object) -> None:
    """UsageError for options that are about clusters."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    if given:
        raise UsageError(f"'{file}' holds requests, not a cluster; expected no {' and no '.join(given)}")
