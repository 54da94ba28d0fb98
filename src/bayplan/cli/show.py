"""`bayplan show`"""

from bayplan.cli import screen
from bayplan.cli.options import File, GroupBy, Json, Out, Quiet, Report, Start
from bayplan.cli.outputs import a_file, spare
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

    With --start, moves and their costs are counted from the input's own placement.

    Example: [cyan]bayplan show shop.yaml --report shop.html[/cyan]
    """
    a_file(report, "--report")
    spare(report, "--report", file, start)
    spare(out, "--out", file, start)
    if group_by is not None and report is None:
        raise UsageError(f"--group-by '{group_by}' is for the report; expected --report FILE too")
    with working(f"reading {file}", quiet=quiet):
        from bayplan.flows.inspect import inspect, load, started_from
        from bayplan.flows.report import write_report

        original = load(file)
        inspection = inspect(started_from(original, start), None if start is None else original.placement)
        note(inspection.snapshot.notes, quiet=quiet)
        if report is not None:
            write_report(report, inspection, command=f"bayplan show {file}", group_by=group_by)
    screen.show(inspection, as_json=json, out=out)
