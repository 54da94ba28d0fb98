"""`bayplan plan`"""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bayplan.cli.console import clock
from bayplan.cli.console.decision import Parts, PlanEngine, Starts, say
from bayplan.cli.console.exits import ANSWER_IS_NO
from bayplan.cli.console.fleet import plan_clusters
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.terminal import note, working
from bayplan.cli.options import cluster as running
from bayplan.cli.options import measurements as measuring
from bayplan.cli.options import migrate as way_option
from bayplan.cli.options import plan as option
from bayplan.cli.options.fleet import FleetOptions, is_fleet
from bayplan.cli.options.shared import Json, Quiet, SearchSeed, Start, pairs, share
from bayplan.cli.rebalance import Freeze

if TYPE_CHECKING:
    from bayplan.api.in_parts import PartKeywords
    from bayplan.api.planning.answer import PlanAnswer

OPTIONS = {"plan": "--out", "placement": "--placement-out", "rollback": "--rollback-out", "report": "--report"}  # of each file


def plan(
    typed: typer.Context,
    file: running.OptionalFile = None,
    cluster: running.ClusterOptions = running.ClusterOptions(),
    young: running.Young = "10m",
    measured: measuring.MeasurementOptions = measuring.MeasurementOptions(),
    goal: option.GoalName = "steady",
    max_moves: option.MaxMoves = None,
    weight: option.Weights = None,
    freeze: Freeze = None,
    min_gain: option.MinGain = "0%",
    front: option.Front = False,
    at: option.At = None,
    drain: option.Drain = None,
    add_machines: option.AddMachines = None,
    remove_machines: option.RemoveMachines = None,
    scale: option.Scale = None,
    fail_zone: option.FailZone = None,
    traffic_times: option.TrafficTimes = 1.0,
    assume: option.Assume = None,
    alive: way_option.Alive = 0.75,
    way: way_option.UsualWay = None,
    replace: way_option.Replace = None,
    surge: way_option.Surge = None,
    max_steps: way_option.MaxSteps = None,
    max_per_machine: way_option.MaxPerMachine = None,
    max_per_service: way_option.MaxPerService = None,
    max_per: way_option.MaxPer = None,
    no_stopovers: way_option.NoStopovers = False,
    start: Start = None,
    seconds: option.PlanSeconds = None,
    seed: SearchSeed = 0,
    threads: option.PlanThreads = None,
    parts: Parts = None,
    starts: Starts = 1,
    engine: PlanEngine = None,
    out: way_option.PlanOut = None,
    placement_out: option.PlacementOut = None,
    rollback_out: way_option.RollbackOut = None,
    report: way_option.PlanReport = None,
    fleet: FleetOptions = FleetOptions(),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say what should move, what that gains at what price, and how to get there safely.

    Every goal has three ranks: repair violated rules and violate none further; no machine above safety; the weighted rest, less
    a price for each move. A move that does not pay is not made, and the plan can be carried out as it is: every state on the
    way has been checked by a referee.

    Goals:

    - steady: hot machines first, then local traffic and balance, with few moves

    - local-traffic: as much traffic as possible stays on one machine

    - balance: all machines equally full

    - fewer-machines: empty the machines that can go, and name them

    - spread-risk: usage within capacity, and no zone with too many replicas of one workload

    Example: [cyan]bayplan plan shop.yaml --out plan.json --report plan.html[/cyan]

    Example: [cyan]bayplan plan shop.yaml --goal balance --max-moves 10% --front[/cyan]

    Example: [cyan]bayplan plan shop.yaml --drain m-0 --alive 0.5[/cyan]

    Example: [cyan]bayplan plan shop.yaml --front --engine pool[/cyan]

    A file of clusters (a fleet) is planned at once: a plan for each cluster into the folder --out, one report, and --max-moves of
    all clusters together, shared where they bring most. Exit code 1 if a cluster has no plan.

    Example: [cyan]bayplan plan clusters.yaml --max-moves 10 --out plans --report fleet.html[/cyan]

    Example: [cyan]bayplan plan --context prod -n shop --prometheus discover --traffic istio --out plan.json[/cyan]
    """
    if file is not None and is_fleet(file):
        plan_clusters(file, typed)
        return
    fleet.expect_none()
    source = running.cluster_source(file, cluster, measured.request(), young)
    files = {"plan": out, "placement": placement_out, "rollback": rollback_out, "report": report}
    expect_outputs({OPTIONS[kind]: path for kind, path in files.items()}, file, start)
    with working(f"planning for {source.label}", quiet=quiet) as progress:
        import bayplan as bp

        snapshot, collected = source.read(start, draining=drain or ())
        run: PartKeywords = {"parts": parts, "starts": starts, "engine": engine, "progress": progress}
        run["threads"] = option.search_threads(threads)
        resting = () if collected is None else tuple(collected.resting)
        note(snapshot.notes, quiet=quiet)
        answer = bp.plan(
            snapshot,
            goal=option.goal_named(goal),
            seconds=None if seconds is None else clock.left(seconds),
            seed=seed,
            weights=pairs(weight, "--weight", "NAME=VALUE"),
            max_moves=max_moves,
            freeze=(*(freeze or ()), *resting),
            never=resting,
            alive=alive,
            needed={} if collected is None else collected.needed,
            way=way or ("replace" if source.replaces_pods else "auto"),
            replace=replace or (),
            surge=surge or (),
            limits=way_option.step_limits(snapshot.cluster, max_per, (max_steps, max_per_machine, max_per_service)),
            stopovers=not no_stopovers,
            what_if=option.scenario((drain, add_machines, remove_machines), scale, fail_zone, traffic_times),
            min_gain=share(min_gain, "--min-gain"),
            front=front or at is not None,
            at=at,
            assume=option.assumed(assume),
            **run,
        )
    _finish(answer, files, json=json, following=_next(answer, source, out, report))


def _finish(answer: "PlanAnswer", files: dict[str, Path | None], *, json: bool, following: str) -> None:
    """Write and say what is worth it; exit code 3 if nothing is."""
    if answer.worth_it:
        _write(answer, files)
    say(answer, files=files if answer.worth_it else {}, json=json, following=following)
    if not answer.worth_it:
        raise typer.Exit(ANSWER_IS_NO)


def _write(answer: "PlanAnswer", files: dict[str, Path | None]) -> None:
    """Write the files that are wanted."""
    for kind, write in (("plan", answer.save), ("placement", answer.save_placement), ("rollback", answer.save_rollback)):
        path = files[kind]
        if path is not None:
            write(path)
    page = files["report"]
    if page is not None:
        answer.report(page, command=clock.command())


def _next(answer: "PlanAnswer", source: running.ClusterSource, out: Path | None, report: Path | None) -> str:
    """What to type next."""
    if answer.replaced and not answer.moved:
        surge = f"a second instance for a while (--way auto{', then bayplan apply --surge' if source.replaces_pods else ''})"
        return f"next: let more be down at a time (--alive 0.5), or {surge}"
    if not answer.worth_it or not (answer.moved or answer.placed):
        return f"next: bayplan show {source.again}"
    if out is None:
        return "nothing was written: --out plan.json keeps the plan, --report plan.html shows it"
    look = f"open {report}, then " if report is not None else ""
    where = f"--simulate {source.again}" if source.file is not None else source.again
    return f"next: {look}bayplan apply {shlex.quote(str(out))} {where}"
