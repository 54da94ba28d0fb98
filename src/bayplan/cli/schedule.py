"""`bayplan schedule`"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bayplan.cli import clock, schedule_screen
from bayplan.cli import schedule_options as wish
from bayplan.cli.decision import Seconds, Threads
from bayplan.cli.exits import ANSWER_IS_NO
from bayplan.cli.options import Json, Quiet, Seed
from bayplan.cli.outputs import command_line, expect_files
from bayplan.cli.terminal import note, warn, working
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.api.schedule import Scheduling
    from bayplan.api.schedule_sweep import Sweep
    from bayplan.api.schedule_wishes import ScheduleWishes

BEST_SO_FAR = "interrupted: this is the best so far"


def schedule(
    file: wish.Requests,
    machines: wish.Machines = None,
    fleet: wish.FleetFile = None,
    method: wish.Method = "cradle+",
    capacity: wish.Capacity = None,
    weights: wish.Weights = "given",
    profit: wish.Profit = None,
    horizon: wish.Horizon = None,
    forecast: wish.Forecast = None,
    sweep: wish.SweepOver = None,
    serve: wish.Serve = None,
    resume: wish.Resume = None,
    no_bound: wish.NoBound = False,
    seconds: Seconds = 30.0,
    seed: Seed = 0,
    threads: Threads = 1,
    out: wish.Out = None,
    report: wish.Report = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Choose which timed requests to serve, and on which machine, when there is not room for all.

    Each request needs a part of one machine from its start to its end and is worth something if it is served. No machine is
    over capacity at any time; the value of what is served is as high as possible. Ctrl-C keeps the best so far.

    Methods:

    - cradle+: Cradle, then whatever still fits; a million requests in seconds

    - cradle: by local ratio; worth at least a twelfth of the best for cpu and memory, usually far more

    - cradle-dp: the same with an exact programme for wide requests; at least a ninth, for few machines

    - local: Cradle's answer, improved by exchanges as long as there is time

    - ilp: an integer program; the best there is, for small inputs

    - online: each request is decided when it starts, by prices learnt from a forecast or from the stream

    - bin-packing, spread: in order of arrival, as schedulers of clusters do it

    With --sweep or --serve it plans capacity: what so many machines are good for, how few are enough, what one more is worth.

    Example: [cyan]bayplan schedule requests.json --machines 2 --out served.json --report day.html[/cyan]

    Example: [cyan]bayplan schedule requests.csv --fleet fleet.json --profit prod=10 --profit batch=1[/cyan]

    Example: [cyan]bayplan schedule requests.json --sweep 1:4 --serve 0.95 --report plan.html[/cyan]
    """
    from bayplan.api.schedule_wishes import ScheduleWishes

    planning = sweep is not None or serve is not None
    expect_files(out, report, file, fleet, forecast)
    _expect(planning=planning, serve=serve, resume=resume, method=method, forecast=forecast)
    wishes = ScheduleWishes(
        file=file,
        machines=machines,
        fleet=fleet,
        capacity=capacity or (),
        weights=weights,
        profit=profit or (),
        horizon=horizon,
        forecast=forecast,
        bound=not no_bound,
        any_number=planning,
    )
    given: dict[str, object] = {
        "machines": machines,
        "fleet": fleet,
        "capacity": " --capacity ".join(capacity) if capacity else None,
        "weights": weights if weights != "given" else None,
        "profit": " --profit ".join(profit) if profit else None,
        "horizon": horizon,
        "forecast": forecast,
        "sweep": sweep,
        "serve": serve,
        "method": method,
        "seed": seed,
    }
    run = _Run(method=method, seconds=seconds, seed=seed, threads=threads, out=out, report=report, quiet=quiet)
    made = {"command": command_line(f"schedule {file}", **given)}
    if planning:
        plan = _plan(wishes, run, sweep, serve, resume, made)
        schedule_screen.sweep(plan, wall=clock.seconds(), as_json=json)
        if plan.smallest is not None and plan.smallest.machines is None:
            raise typer.Exit(ANSWER_IS_NO)
        return
    answer = _decide(wishes, run, made)
    schedule_screen.scheduling(answer, method=method, seed=seed, wall=clock.seconds(), as_json=json)
    if answer.result.solution is None:
        raise typer.Exit(ANSWER_IS_NO)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """How to run, and where to write."""

    method: str
    seconds: float
    seed: int
    threads: int
    out: Path | None
    report: Path | None
    quiet: bool


def _expect(*, planning: bool, serve: float | None, resume: Path | None, method: str, forecast: Path | None) -> None:
    """UsageError for options that do not go together."""
    if serve is not None and not 0 < serve <= 1:
        raise UsageError(f"--serve {serve}: expected a share above 0 and at most 1, such as 0.95")
    if resume is not None and not planning:
        raise UsageError("--resume goes on with a sweep; expected --sweep or --serve too")
    if forecast is not None and method != "online":
        raise UsageError(f"--forecast is for the method online, not {method}; expected --method online")


def _decide(wishes: "ScheduleWishes", run: _Run, made: Mapping[str, str]) -> "Scheduling":
    """The answer, written to its files."""
    with working(f"scheduling {wishes.file}", quiet=run.quiet) as progress:
        from bayplan.api.compiling import compiled
        from bayplan.api.decide import chosen
        from bayplan.api.schedule import schedule as schedule_it
        from bayplan.api.schedule import schedule_budget, write_scheduling
        from bayplan.api.schedule_wishes import schedule_question
        from bayplan.decide.schedule import SCHEDULERS
        from bayplan.kernels.schedule.warmup import warm_up

        scheduler = chosen(SCHEDULERS, run.method)
        question = schedule_question(wishes)
        note(question.notes, quiet=run.quiet)
        many, compiling = len(question.problem.requests.name), compiled(warm_up)
        budget = schedule_budget(many, seconds=run.seconds, used=clock.seconds() - compiling, threads=run.threads)
        answer = schedule_it(question, scheduler, budget=budget, seed=run.seed, progress=progress)
        write_scheduling(answer, out=run.out, report=run.report, made=made)
    if answer.interrupted:
        warn(BEST_SO_FAR)
    return answer


def _plan(
    wishes: "ScheduleWishes", run: _Run, over: str | None, serve: float | None, resume: Path | None, made: Mapping[str, str]
) -> "Sweep":
    """What several numbers of machines are good for, written to files."""
    with working(f"planning {wishes.file}", quiet=run.quiet) as progress:
        from bayplan.api.compiling import compiled
        from bayplan.api.decide import chosen
        from bayplan.api.schedule_sweep import SweepRange, sweep, sweep_budget, write_sweep_page
        from bayplan.api.schedule_sweep_files import resumed
        from bayplan.api.schedule_sweeper import Sweeper
        from bayplan.api.schedule_wishes import schedule_question
        from bayplan.decide.schedule import SCHEDULERS
        from bayplan.kernels.schedule.warmup import warm_up

        scheduler = chosen(SCHEDULERS, run.method)
        compiling = compiled(warm_up)
        numbers = [] if over is None else SweepRange.read(over).machines
        question = schedule_question(wishes)
        note(question.notes, quiet=run.quiet)
        sweeper = Sweeper(
            question=question,
            method=run.method,
            scheduler=scheduler,
            seed=run.seed,
            known={} if resume is None else resumed(resume, question, run.method, run.seed),
            clock=sweep_budget(run.seconds, clock.seconds() - compiling, run.threads).clock(),
            progress=progress,
        )
        found = sweep(sweeper, numbers, serve=serve, out=run.out)
        if run.report is not None:
            write_sweep_page(found, run.report, made)
    if found.interrupted:
        what = f"{found.left:,} numbers of machines not tried" if found.left else "the fewest machines that are enough not found"
        warn(f"cut short: {what}; --resume goes on from --out, --seconds gives more time")
    return found
