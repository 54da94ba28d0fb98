"""`bayplan explain`"""

from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.screen import print_object, print_report
from bayplan.cli.console.terminal import note, working
from bayplan.cli.options import cluster as running
from bayplan.cli.options import measurements as measuring
from bayplan.cli.options.shared import Json, Out, Quiet, Start
from bayplan.errors import UsageError

Name = Annotated[str | None, typer.Argument(metavar="NAME", help="The name of a container or of a workload.", show_default=False)]
PlanFile = Annotated[
    Path | None,
    typer.Option("--plan", metavar="PLAN", help="A plan for this cluster: say what it does, and why.", show_default=False),
]


def explain(
    file: running.OptionalFile = None,
    name: Name = None,
    cluster: running.ClusterOptions = running.ClusterOptions(),
    young: running.Young = "10m",
    measured: measuring.MeasurementOptions = measuring.MeasurementOptions(),
    start: Start = None,
    plan: PlanFile = None,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say why a container is where it is, which machines could take it, what blocks the others, and whether a move would pay.

    Of a workload, say it of all its containers, machine by machine. With --plan, say why a plan moves it, or why not.

    Example: [cyan]bayplan explain shop.yaml web-0[/cyan]

    Example: [cyan]bayplan explain shop.yaml web[/cyan]

    Example: [cyan]bayplan explain shop.yaml web-0 --plan moves.json[/cyan]

    Example: [cyan]bayplan explain --context prod -A shop/web[/cyan]
    """
    if name is None and cluster.named:
        file, name = None, None if file is None else str(file)  # what stands alone is the name
    if name is None:
        raise UsageError("nothing to explain: expected the NAME of a container or of a workload")
    source = running.cluster_source(file, cluster, measured.request(), young)
    expect_outputs({"--out": out}, file, start, plan, stdout=True)
    with working(f"reading {source.label}", quiet=quiet):
        import bayplan as bp

        snapshot, collected = source.read(start)
        note(snapshot.notes, quiet=quiet)
        if plan is None:
            explanation = bp.explain(snapshot, name)
        else:
            from bayplan.formats.targets import read_plan_of, reasons_in_plan

            snapshot, steps = read_plan_of(plan, snapshot)
            explanation = bp.explain(snapshot, name, plan=steps, why=reasons_in_plan(plan))
        stays = "" if collected is None else collected.stays(name)
    if json:
        from bayplan.report.json import explain_object

        print_object({**explain_object(explanation), **({"stays": stays} if stays else {})}, out)
    else:
        from bayplan.report.answers.explain_tables import explain_report
        from bayplan.report.table import Sentence, report

        print_report(explain_report(explanation) + report(Sentence(stays, "warn")), out)
