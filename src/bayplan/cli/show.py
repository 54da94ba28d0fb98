"""`bayplan show`"""

from pathlib import Path

from bayplan.cli.console import clock
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.screen import Printable, print_value
from bayplan.cli.console.terminal import note, working
from bayplan.cli.options import cluster as running
from bayplan.cli.options import measurements as measuring
from bayplan.cli.options.shared import GroupBy, Json, Out, Quiet, Report, Start
from bayplan.errors import UsageError


def show(
    file: running.OptionalFile = None,
    cluster: running.ClusterOptions = running.ClusterOptions(),
    young: running.Young = "10m",
    measured: measuring.MeasurementOptions = measuring.MeasurementOptions(),
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

    Of a running cluster (or of what `kubectl get nodes,pods,... -A -o json` printed) it also says how many pods may move, and why
    the others stay.

    Example: [cyan]bayplan show shop.yaml --report shop.html[/cyan]

    With --prometheus it measures traffic and usage, and says how much of the traffic could be attributed to workloads.

    Example: [cyan]bayplan show --context prod -A --prometheus http://prometheus.example.org:9090[/cyan]
    """
    source = running.cluster_source(file, cluster, measured.request(), young)
    expect_outputs({"--report": report}, file, start)
    expect_outputs({"--out": out}, file, start, stdout=True)
    if group_by is not None and report is None:
        raise UsageError(f"--group-by '{group_by}' is for the report; expected --report FILE too")
    with working(f"reading {source.label}", quiet=quiet):
        from bayplan.api.files import named, read_any, started_from
        from bayplan.api.inspect import inspect, inspect_requests
        from bayplan.model import Snapshot

        collected = source.collected()
        value = collected.snapshot if collected is not None else read_any(file or Path())
        inspected: Printable
        note(getattr(value, "notes", ()), quiet=quiet)
        if isinstance(value, Snapshot):
            original = named(value, file or Path())
            counted_from = None if start is None else original.placement
            inspection = inspected = inspect(started_from(original, start), counted_from=counted_from)
            if report is not None:
                inspection.report(report, command=clock.command(), group_by=group_by)
            if collected is not None:
                from bayplan.kubernetes.collect.inspection import CollectedInspection

                inspected = CollectedInspection(inspection=inspection, collected=collected)
        elif file is not None:
            _expect_nothing_else(file, start=start, report=report, group_by=group_by)
            inspected = inspect_requests(value, name=file.name)
    print_value(inspected, json=json, out=out)


def _expect_nothing_else(file: Path, **options: object) -> None:
    """UsageError for options that are about clusters."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    if given:
        raise UsageError(f"'{file}' holds requests, not a cluster; expected no {' and no '.join(given)}")
