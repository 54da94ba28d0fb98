"""`bayplan simulate`"""

from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli import screen
from bayplan.cli.exits import ANSWER_IS_NO
from bayplan.cli.migrate_options import Alive, Relabel, To
from bayplan.cli.options import File, Json, Quiet, Seed, Start
from bayplan.cli.terminal import note, working

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
    fail_create: FailCreate = None,
    fail_delete: FailDelete = None,
    hang: Hang = None,
    kill: Kill = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Judge a plan, and carry it out on a model of the cluster, with failures where you want them.

    The referee looks at every state that a batch can pass through. The steps of a batch are made in an order that the seed
    decides; when one fails, the others of its batch are still made, and no later batch is begun. Without --to, the target
    is where the plan ends. Exit code 3 if the plan is unsafe or was not carried out to its end.

    Example: [cyan]bayplan simulate rasa.json --plan plan.json --alive 0.5[/cyan]

    Example: [cyan]bayplan simulate rasa.json --plan plan.json --kill 10.0.0.2@1 --fail-create mail-0[/cyan]
    """
    with working(f"simulating {plan}", quiet=quiet) as progress:
        from bayplan.api.files import read as load
        from bayplan.api.migration_wishes import MigrateWishes
        from bayplan.operate.simulate import InjectedFailures, check_and_carry_out, question

        snapshot = load(file, start)
        note(snapshot.notes, quiet=quiet)
        migration, read = question(snapshot, plan, to, MigrateWishes(alive=alive), relabel=relabel)
        injected = InjectedFailures(create=fail_create or (), delete=fail_delete or (), hang=hang or (), kill=kill or ())
        run = check_and_carry_out(migration, read, injected, seed=seed, progress=progress)
    screen.run(run, seed=seed, as_json=json)
    if not run.well:
        raise typer.Exit(ANSWER_IS_NO)
