"""`bayplan simulate`"""

from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli.console.decision import say
from bayplan.cli.console.exits import ANSWER_IS_NO
from bayplan.cli.console.terminal import note, working
from bayplan.cli.options.migrate import Alive, DeleteMissing, Relabel, To
from bayplan.cli.options.shared import File, Json, Quiet, Seed, Start
from bayplan.errors import UsageError

PlanFile = Annotated[Path, typer.Option("--plan", metavar="PLAN", help="The plan to carry out.", show_default=False)]
FailCreate = Annotated[
    list[str] | None, typer.Option("--fail-create", metavar="NAME", help="Creates of this container fail; repeatable.")
]
FailDelete = Annotated[
    list[str] | None, typer.Option("--fail-delete", metavar="NAME", help="Deletes of this container fail; repeatable.")
]
Hang = Annotated[list[str] | None, typer.Option("--hang", metavar="NAME", help="Steps of this container never end; repeatable.")]
Kill = Annotated[
    list[str] | None,
    typer.Option("--kill", metavar="MACHINE@BATCH", help="A machine dies when this batch starts, counted from 1; repeatable."),
]


def simulate(
    file: File,
    plan: PlanFile,
    to: To = None,
    start: Start = None,
    alive: Alive = 0.75,
    relabel: Relabel = False,
    delete_missing: DeleteMissing = False,
    fail_create: FailCreate = None,
    fail_delete: FailDelete = None,
    hang: Hang = None,
    kill: Kill = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a plan, and carry it out on a model of the cluster, with failures where you want them.

    The referee looks at every state that a batch can pass through. The steps of a batch are made in an order that the seed
    decides; when one fails, the others of its batch are still made, and no later batch is begun. Without --to, the target
    is where the plan ends. Exit code 3 if the plan is unsafe or was not carried out to its end.

    Example: [cyan]bayplan simulate rasa.json --plan plan.json --alive 0.5[/cyan]

    Example: [cyan]bayplan simulate rasa.json --plan plan.json --kill 10.0.0.2@1 --fail-create mail-0[/cyan]
    """
    with working(f"simulating {plan}", quiet=quiet) as progress:
        import bayplan as bp
        from bayplan.formats.targets import read_plan_of, read_target, target_and_plan
        from bayplan.operate.plan_simulation.simulate import InjectedFailures

        snapshot, target = bp.read(file, start), None
        if to is None:
            snapshot, steps = read_plan_of(plan, snapshot)
        else:
            target, steps = target_and_plan(plan, read_target(to, snapshot))
        failures = InjectedFailures(
            create=fail_create or (), delete=fail_delete or (), hang=hang or (), kill=[_death(text) for text in kill or ()]
        )
        answer = bp.simulate(
            snapshot,
            steps,
            target,
            failures=failures,
            seed=seed,
            alive=alive,
            relabel=relabel,
            delete_missing=delete_missing,
            progress=progress,
        )
    note(answer.input_notes, quiet=quiet)
    say(answer, files={}, json=json)
    if not answer.succeeded:
        raise typer.Exit(ANSWER_IS_NO)


def _death(text: str) -> tuple[str, int]:
    """`m-2@1` as machine and batch."""
    machine, _, batch = text.rpartition("@")
    if not machine or not batch.isdecimal():
        raise UsageError(f"--kill '{text}': expected MACHINE@BATCH, such as m-2@1; batches count from 1")
    return machine, int(batch)
