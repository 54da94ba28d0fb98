"""`bayplan show`"""

from bayplan.cli import clock, screen
from bayplan.cli.options import File, GroupBy, Json, Out, Quiet, Report, Start
from bayplan.cli.outputs import expect_outputs
from bayplan.cli.screen import print_object
from bayplan.cli.show_requests import expect_nothing_else, show_requests
from bayplan.cli.terminal import note, working
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
        from bayplan.api.inspect import inspect
        from bayplan.model import Snapshot

        value = read_any(file)
        if not isinstance(value, Snapshot):
            expect_nothing_else(file, start=start, report=report, group_by=group_by)
            show_requests(value, file, quiet=quiet, as_json=json, out=out)
            return
        original = named(value, file)
        counted_from = None if start is None else original.placement
        inspection = inspect(started_from(original, start), counted_from=counted_from)
        note(inspection.snapshot.notes, quiet=quiet)
        if report is not None:
            inspection.report(report, command=clock.command(), group_by=group_by)
    if json:
        print_object(inspection.to_dict(), out)
    else:
        screen.show(inspection, out=out)
