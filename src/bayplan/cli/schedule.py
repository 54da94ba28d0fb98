"""`bayplan schedule`"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from bayplan.cli.console import clock
from bayplan.cli.console.decision import Engine, Seconds, Threads, finish
from bayplan.cli.console.exits import ANSWER_IS_NO
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.terminal import note, warn, working
from bayplan.cli.options import schedule as option
from bayplan.cli.options.schedule_input import profits, read_input, read_requests_until, sweep_range, text_pairs
from bayplan.cli.options.shared import Json, Quiet, SearchSeed, file_stem
from bayplan.errors import UsageError


def schedule(
    file: option.Requests,
    machines: option.Machines = None,
    fleet: option.FleetFile = None,
    method: option.Method = "cradle+",
    capacity: option.Capacity = None,
    weights: option.Weights = "given",
    profit: option.Profit = None,
    horizon: option.Horizon = None,
    forecast: option.Forecast = None,
    sweep: option.SweepOver = None,
    serve: option.Serve = None,
    resume: option.Resume = None,
    no_bound: option.NoBound = False,
    seconds: Seconds = 30.0,
    seed: SearchSeed = 0,
    threads: Threads = 1,
    engine: Engine = "pool",
    out: option.Out = None,
    report: option.Report = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Choose which timed requests to serve, and on which machine, when not all of them fit.

    Each request needs a part of one machine from its start to its end and is worth something if it is served. No machine is
    over capacity at any time; what is served is worth as much as possible. Ctrl-C keeps the best so far.

    Methods:

    - cradle+: Cradle, then all others that still fit; a million requests in seconds

    - cradle: by local ratio; worth at least a twelfth of the best for cpu and memory, usually far more

    - cradle-dp: the same with an exact program for wide requests; at least a ninth, for few machines

    - local: Cradle's answer, improved by exchanges as long as there is time

    - ilp: an integer program; the best schedule, for small inputs

    - online: each request is decided when it starts, by prices learnt from a forecast or from the stream

    - bin-packing, spread: in order of arrival, as cluster schedulers do it

    With --sweep or --serve it plans capacity: what each number of machines is good for, how few are enough, and what one
    more is worth. Numbers of machines of a sweep are independent of each other: --engine says where they are answered, --threads
    how many at a time. Ctrl-C keeps those that came.

    Example: [cyan]bayplan schedule requests.json --machines 2 --out served.json --report day.html[/cyan]

    Example: [cyan]bayplan schedule requests.csv --fleet fleet.json --profit prod=10 --profit batch=1[/cyan]

    Example: [cyan]bayplan schedule requests.json --sweep 1:4 --serve 0.95 --report plan.html[/cyan]
    """
    planning = sweep is not None or serve is not None
    expect_outputs({"--out": out, "--report": report}, file, fleet, forecast)
    _expect(planning=planning, resume=resume, machines=machines, fleet=fleet, method=method, forecast=forecast)
    given: dict[str, Any] = {
        "method": method,
        "seed": seed,
        "weights": weights,
        "profit": profits(profit),
        "bound": not no_bound,
        "capacity": text_pairs(capacity, "--capacity", "NAME=AMOUNT"),
        "threads": threads,
    }
    with working(f"{'planning' if planning else 'scheduling'} {file}", quiet=quiet) as progress:
        import bayplan as bp
        from bayplan.api.requests.sweep import sweep_machines

        given["forecast"] = None if forecast is None else bp.read_requests(forecast).requests
        if planning:
            requests = read_requests_until(file, horizon)
            note(requests.notes, quiet=quiet)
            given |= {"resume": resume, "checkpoint": out, "seconds": clock.left(seconds), "progress": progress, "engine": engine}
            plan = sweep_machines(requests, sweep_range(sweep), serve=serve, **given)
        else:
            bp.engine(engine)  # a name that is none is said, although one schedule needs no engine
            requests = read_input(file, machines=machines, fleet=fleet, horizon=horizon)
            note(requests.notes, quiet=quiet)
            answer = bp.schedule(requests, machines, seconds=clock.left(seconds), progress=progress, **given)
    name = file_stem(file, "requests")
    if not planning:
        finish(replace(answer, name=name), file=file, out=out, report=report, json=json)
        return
    if not plan.complete:
        left = f"{plan.not_tried:,} numbers of machines not tried" if plan.not_tried else "the fewest machines not found"
        warn(f"cut short: {left}; --resume goes on from --out, --seconds gives more time")
    finish(replace(plan, name=name), file=file, out=out, report=report, json=json)
    if plan.fewest is not None and plan.fewest.machines is None:
        raise typer.Exit(ANSWER_IS_NO)


def _expect(
    *, planning: bool, resume: Path | None, machines: int | None, fleet: Path | None, method: str, forecast: Path | None
) -> None:
    """UsageError for options that do not go together."""
    if planning and (fleet is not None or machines is not None):
        raise UsageError("a sweep is over the number of machines that are alike; expected neither --machines nor --fleet")
    if resume is not None and not planning:
        raise UsageError("--resume goes on with a sweep; expected --sweep or --serve too")
    if forecast is not None and method != "online":
        raise UsageError(f"--forecast is for the method online, not {method}; expected --method online")
