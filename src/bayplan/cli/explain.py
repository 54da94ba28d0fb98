"""`bayplan explain`"""

from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.screen import print_object, print_report
from bayplan.cli.console.terminal import note, working
from bayplan.cli.options.shared import File, Json, Out, Quiet, Start

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a container or of a workload.", show_default=False)]
PlanFile = Annotated[
    Path | None,
    typer.Option("--plan", metavar="PLAN", help="A plan for this cluster: say what it does, and why.", show_default=False),
]


def explain(
    file: File,
    name: Name,
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
    """
    expect_outputs({"--out": out}, file, start, plan, stdout=True)
    with working(f"reading {file}", quiet=quiet):
        import bayplan as bp

        snapshot = bp.read(file, start)
        note(snapshot.notes, quiet=quiet)
        if plan is None:
            explanation = bp.explain(snapshot, name)
        else:
            from bayplan.formats.targets import read_plan_of, reasons_in_plan

            snapshot, steps = read_plan_of(plan, snapshot)
            explanation = bp.explain(snapshot, name, plan=steps, why=reasons_in_plan(plan))
    if json:
        from bayplan.report.json import explain_object

        print_object(explain_object(explanation), out)
    else:
        from bayplan.report.answers.explain_tables import explain_report

        print_report(explain_report(explanation), out)
