"""`bayplan migrate`"""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bayplan.cli.console import clock
from bayplan.cli.console.decision import Seconds, next_step, say
from bayplan.cli.console.exits import ANSWER_IS_NO
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.terminal import note, working
from bayplan.cli.options import migrate as option
from bayplan.cli.options.shared import File, Json, Quiet, SearchSeed, Start
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.api.migrate import MigrationAnswer


def migrate(
    file: File,
    to: option.To = None,
    start: Start = None,
    method: option.Method = "waves",
    alive: option.Alive = 0.75,
    way: option.WayOf = "auto",
    replace: option.Replace = None,
    surge: option.Surge = None,
    max_steps: option.MaxSteps = None,
    max_per_machine: option.MaxPerMachine = None,
    max_per_service: option.MaxPerService = None,
    max_per: option.MaxPer = None,
    late: option.Late = None,
    never: option.Never = None,
    no_stopovers: option.NoStopovers = False,
    relabel: option.Relabel = False,
    delete_missing: option.DeleteMissing = False,
    rollback: option.Rollback = None,
    resume: option.Resume = None,
    done: option.Done = None,
    failed: option.Failed = None,
    dead: option.Dead = None,
    pull_seconds: option.PullSeconds = 20.0,
    start_seconds: option.StartSeconds = 10.0,
    stop_seconds: option.StopSeconds = 5.0,
    seconds: Seconds = 60.0,
    seed: SearchSeed = 0,
    out: option.PlanOut = None,
    rollback_out: option.RollbackOut = None,
    report: option.PlanReport = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find a safe order of moves to a target: batches of creates and deletes in which no rule is violated on the way.

    Steps of one batch may run at the same time. Every state that a batch can pass through is checked by a referee before
    anything is written. Exit code 3 if containers do not arrive (the plan for the others is written), or if the target is
    refused. Containers that run and are not named in the target stay where they are, unless --delete-missing is given.

    Methods:

    - waves: as few batches as it can, each as wide as resources and limits allow

    - rasa: RASA's migration path (Algorithm 2), a delete and a create per machine and round

    Example: [cyan]bayplan migrate shop.yaml --to placement.json --out plan.json --report plan.html[/cyan]

    Example: [cyan]bayplan migrate shop.yaml --to placement.json --resume plan.json --done 1 --failed 'create web-1'[/cyan]

    Example: [cyan]bayplan migrate shop.yaml --rollback plan.json --done 1 --out back.json[/cyan]
    """
    _expect_one_question(to, rollback, resume, about_batches=done is not None, about_failures=bool(failed or dead))
    outputs = {"--out": out, "--rollback-out": rollback_out, "--report": report}
    expect_outputs(outputs, file, start, to, rollback, resume)
    with working(f"planning the migration of {file}", quiet=quiet) as progress:
        import bayplan as bp
        from bayplan.api.migrate import rollback as roll_back
        from bayplan.formats.targets import new_containers, read_plan_of, read_target

        snapshot = bp.read(file, start)
        steps, costs = (max_steps, max_per_machine, max_per_service), (pull_seconds, start_seconds, stop_seconds)
        settings = option.settings(snapshot.cluster, (replace, surge, never), late, max_per, steps, costs)
        if rollback is not None:
            grown, plan = read_plan_of(rollback, snapshot)
            new = new_containers(snapshot, grown)
            answer = roll_back(grown, plan, done=done, alive=alive, way=way, new=new, **settings)
        elif to is not None:
            target = read_target(to, snapshot)
            answer = bp.migrate(
                snapshot,
                target,
                method=method,
                seconds=clock.left(seconds),
                seed=seed,
                alive=alive,
                way=way,
                relabel=relabel,
                delete_missing=delete_missing,
                stopovers=not no_stopovers,
                resume=option.partial_run(resume, target, done, failed or (), dead or ()),
                progress=progress,
                **settings,
            )
    note(answer.input_notes, quiet=quiet)
    write_plans(answer, out=out, rollback_out=rollback_out, report=report)
    files = {"plan": out, "rollback": rollback_out, "report": report}
    say(answer, files=files, json=json, following=next_step("migrate", file, out))
    if not answer.complete:
        raise typer.Exit(ANSWER_IS_NO)


def write_plans(answer: "MigrationAnswer", *, out: Path | None, rollback_out: Path | None, report: Path | None) -> None:
    """Write the plan, the one that leads back, and the page, where they are wanted."""
    for path, write in ((out, answer.save), (rollback_out, answer.save_rollback)):
        if path is not None:
            write(path)
    if report is not None:
        answer.report(report, command=clock.command())


def _expect_one_question(
    to: Path | None, rollback: Path | None, resume: Path | None, *, about_batches: bool, about_failures: bool
) -> None:
    """UsageError if the options do not go together."""
    if (to is None) == (rollback is None):
        raise UsageError("expected either --to PLACEMENT, maybe with --resume PLAN, or --rollback PLAN")
    if rollback is not None and resume is not None:
        raise UsageError("--rollback and --resume: expected one of them")
    if about_batches and rollback is None and resume is None:
        raise UsageError("--done is about batches of a plan: expected --resume PLAN or --rollback PLAN too")
    if about_failures and resume is None:
        raise UsageError("--failed and --dead are about a plan that was carried out in part: expected --resume PLAN too")
