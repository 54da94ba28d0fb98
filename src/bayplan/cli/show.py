"""`bayplan show`"""

from bayplan.cli import screen
from bayplan.cli.options import File, GroupBy, Json, Out, Quiet, Report, Start
from bayplan.cli.outputs import a_file, command_line, spare
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
    """Show what the cluster looks like now: hot machines, costs, gained affinity, broken rules.

    Of timed requests and of streams for `admit` it shows how much is asked for, and when.

    With --start, moves and their costs are counted from the input's own placement; `check --placement` judges them.

    Example: [cyan]bayplan show shop.yaml --report shop.html[/cyan]
    """
    a_file(report, "--report")
    spare(report, "--report", file, start)
    spare(out, "--out", file, start)
    if group_by is not None and report is None:
        raise UsageError(f"--group-by '{group_by}' is for the report; expected --report FILE too")
    with working(f"reading {file}", quiet=quiet):
        from bayplan.api.inspect import inspect, named, started_from
        from bayplan.api.report import write_report
        from bayplan.formats.files import read_whole
        from bayplan.model import Snapshot

        whole = read_whole(file)
        if not isinstance(whole, Snapshot):
            expect_nothing_else(file, start=start, report=report, group_by=group_by)
            show_requests(whole, file, quiet=quiet, as_json=json, out=out)
            return
        original = named(whole, file)
        counted_from = None if start is None else original.placement
        inspection = inspect(started_from(original, start), counted_from=counted_from)
        note(inspection.snapshot.notes, quiet=quiet)
        if report is not None:
            write_report(
                report, inspection, command=command_line(f"show {file}", start=start, group_by=group_by), group_by=group_by
            )
    screen.show(inspection, as_json=json, out=out)
