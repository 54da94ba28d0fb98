"""`bayplan show`"""

from bayplan.cli import screen
from bayplan.cli.options import File, GroupBy, Json, Out, Quiet, Report, Start
from bayplan.cli.terminal import note, working


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
    with working(f"reading {file}", quiet=quiet):
        from bayplan.collect import read
        from bayplan.flows.inspect import inspect, started_from
        from bayplan.flows.report import write_report

        original = read(file)
        inspection = inspect(started_from(original, start), None if start is None else original.placement)
        note(inspection.snapshot.notes, quiet=quiet)
        if report is not None:
            write_report(report, inspection, command=f"bayplan show {file}", group_by=group_by)
    screen.show(inspection, as_json=json, out=out)
