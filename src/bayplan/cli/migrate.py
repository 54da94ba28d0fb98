"""`bayplan migrate`"""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bayplan.cli import clock, screen
from bayplan.cli import migrate_options as wish
from bayplan.cli.decision import Seconds
from bayplan.cli.exits import ANSWER_IS_NO
from bayplan.cli.options import File, Json, Quiet, Seed, Start
from bayplan.cli.outputs import a_file, command_line, spare
from bayplan.cli.terminal import note, warn, working
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.api.migration_wishes import MigrateWishes
    from bayplan.api.stopped import Mishaps
    from bayplan.api.trip import Trip
    from bayplan.model import Plan, Snapshot


def migrate(
    file: File,
    to: wish.To = None,
    start: Start = None,
    method: wish.Method = "waves",
    alive: wish.Alive = 0.75,
    way: wish.WayOf = "auto",
    replace: wish.Replace = None,
    surge: wish.Surge = None,
    max_steps: wish.MaxSteps = None,
    max_per_machine: wish.MaxPerMachine = None,
    max_per_service: wish.MaxPerService = None,
    max_per: wish.MaxPer = None,
    late: wish.Late = None,
    never: wish.Never = None,
    no_stopovers: wish.NoStopovers = False,
    relabel: wish.Relabel = False,
    rollback: wish.Rollback = None,
    resume: wish.Resume = None,
    done: wish.Done = None,
    failed: wish.Failed = None,
    dead: wish.Dead = None,
    pull_seconds: wish.PullSeconds = 20.0,
    start_seconds: wish.StartSeconds = 10.0,
    stop_seconds: wish.StopSeconds = 5.0,
    seconds: Seconds = 60.0,
    seed: Seed = 0,
    out: wish.PlanOut = None,
    rollback_out: wish.RollbackOut = None,
    report: wish.PlanReport = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find a safe order of moves to a target: batches of creates and deletes in which nothing breaks on the way.

    Steps of one batch may run at the same time. Every state that a batch can pass through is judged by a referee before
    anything is written. Exit code 3 if containers are stuck (the plan for the others is written), or if the target is refused.

    Methods:

    - waves: as few batches as it can, each as wide as resources and limits allow

    - rasa: RASA's migration path (Algorithm 2), a delete and a create per machine and round

    Example: [cyan]bayplan migrate shop.yaml --to placement.json --out plan.json --report plan.html[/cyan]

    Example: [cyan]bayplan migrate shop.yaml --to placement.json --resume plan.json --done 1 --failed 'create web-1'[/cyan]

    Example: [cyan]bayplan migrate shop.yaml --rollback plan.json --done 1 --out back.json[/cyan]
    """
    source = _expect_one_question(to, rollback, resume, (done, failed, dead))
    for output, option in ((out, "--out"), (rollback_out, "--rollback-out"), (report, "--report")):
        a_file(output, option)
        spare(output, option, file, start, to, rollback, resume)
    with working(f"planning the migration of {file}", quiet=quiet) as progress:
        from bayplan.api.decide import budget_for, chosen
        from bayplan.api.files import read as load
        from bayplan.api.migrate import find_route, way_back, write_route
        from bayplan.api.migrate_report import write_plan_page
        from bayplan.api.migration_wishes import MigrateWishes, options_of
        from bayplan.api.stopped import Mishaps
        from bayplan.migrate import MIGRATORS
        from bayplan.score.duration import StepCosts

        wishes = MigrateWishes(
            alive=alive,
            way=way,
            replace=replace or (),
            surge=surge or (),
            max_steps=max_steps,
            max_per_machine=max_per_machine,
            max_per_service=max_per_service,
            max_per=max_per,
            late=late or (),
            never=never or (),
            stopovers=not no_stopovers,
        )
        migrator, costs = chosen(MIGRATORS, method), StepCosts(pull=pull_seconds, start=start_seconds, stop=stop_seconds)
        snapshot = load(file, start)
        mishaps = Mishaps(done=done, failed=failed or (), dead=dead or ())
        trip, back = _trip(snapshot, source, wishes, mishaps, to=to, relabel=relabel)
        note((*snapshot.notes, *trip.notes), quiet=quiet)
        if back is not None:
            method, route = "rollback", way_back(trip, back, costs)
        else:
            options = options_of(trip.migration.cluster, wishes)
            budget = budget_for(trip.snapshot, seconds=seconds, used=clock.seconds(), threads=1)
            route = find_route(
                trip, lambda: migrator(trip.migration, options, budget=budget, seed=seed, progress=progress), options, costs
            )
        write_route(route, out=out, back=rollback_out)
        if report is not None:
            given = {"to": to, "start": start, "rollback": rollback, "resume": resume, "done": done}
            line = command_line(f"migrate {file}", **given, method=method, alive=alive, seed=seed)
            write_plan_page(report, route, costs, command=line)
    if route.interrupted:
        warn("interrupted: this is the best so far")
    files = {"plan": out, "way back": rollback_out, "report": report}
    written = {what: str(path) for what, path in files.items() if path is not None and route.plan is not None}
    screen.route(route, method=method, seed=seed, wall=clock.seconds(), files=written, as_json=json)
    if not route.complete:
        raise typer.Exit(ANSWER_IS_NO)


def _expect_one_question(
    to: Path | None, rollback: Path | None, resume: Path | None, left: tuple[object, object, object]
) -> Path | None:
    """The plan that --rollback or --resume names, if any; UsageError if the options do not go together."""
    if (to is None) == (rollback is None):
        raise UsageError("expected either --to PLACEMENT, maybe with --resume PLAN, or --rollback PLAN")
    if rollback is not None and resume is not None:
        raise UsageError("--rollback and --resume: expected one of them")
    done, failed, dead = left
    if done is not None and rollback is None and resume is None:
        raise UsageError("--done is about batches of a plan: expected --resume PLAN or --rollback PLAN, too")
    if (failed or dead) and resume is None:
        raise UsageError("--failed and --dead are about a plan that was left: expected --resume PLAN, too")
    return rollback or resume


def _trip(
    snapshot: "Snapshot", plan: Path | None, wishes: "MigrateWishes", mishaps: "Mishaps", *, to: Path | None, relabel: bool
) -> tuple["Trip", "Plan | None"]:
    """What is asked, and the plan for it where there is one already: the way back."""
    from bayplan.api.trip import trip_back, trip_on, trip_to

    if to is None:
        assert plan is not None
        return trip_back(snapshot, plan, wishes, mishaps.done)
    if plan is not None:
        return trip_on(snapshot, to, plan, wishes, mishaps, relabel=relabel), None
    return trip_to(snapshot, to, wishes, relabel=relabel), None
