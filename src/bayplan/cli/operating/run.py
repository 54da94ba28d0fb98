"""`bayplan run`"""

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bayplan.cli.console import clock
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.screen import print_object, print_report
from bayplan.cli.console.terminal import warn, working
from bayplan.cli.operating.controller import run_controller
from bayplan.cli.options import controller as live
from bayplan.cli.options import operate as option
from bayplan.cli.options.cluster import ClusterOptions
from bayplan.cli.options.measurements import MeasurementOptions
from bayplan.cli.options.migrate import Alive
from bayplan.cli.options.plan import GoalName, goal_named
from bayplan.cli.options.shared import Json, Quiet, SearchSeed, share
from bayplan.cli.rebalance import Freeze
from bayplan.errors import expect_one_of

if TYPE_CHECKING:
    from bayplan.model import Snapshot
    from bayplan.model.record import Event
    from bayplan.operate.orchestrator import Orchestrator
    from bayplan.operate.run import RunAnswer
    from bayplan.operate.settings import LoopSettings


def run(
    cluster: ClusterOptions = ClusterOptions(),
    in_cluster: live.InCluster = False,
    simulate: option.Simulate = None,
    sandbox: option.Sandbox = None,
    mode: option.ModeName = None,
    days: option.Days = None,
    turns: option.Turns = None,
    every: option.Every = "30m",
    goal: GoalName = "steady",
    max_moves: option.LoopMoves = None,
    min_gain: option.LoopGain = "3%",
    moves_per_hour: option.PerHour = None,
    moves_per_day: option.PerDay = None,
    executions_per_day: option.ExecutionsPerDay = None,
    window: option.Windows = None,
    timezone: option.TimeZone = "UTC",
    freeze: Freeze = None,
    alive: Alive = 0.75,
    cooldown: option.Cooldown = "2h",
    cooldown_of: option.CooldownOf = "workload",
    hold: option.HoldTime = "3d",
    settle: option.Settle = "10m",
    young: option.Young = "10m",
    churn: option.ChurnName = "calm",
    seconds: option.LoopSeconds = None,
    seed: SearchSeed = 0,
    measured: MeasurementOptions = MeasurementOptions(),
    acting: live.ActingOptions = live.ActingOptions(),
    listen: live.Listen = None,
    grace: live.Grace = "20s",
    log: live.LogFormName = None,
    store: option.MaybeRecord = None,
    report: option.WeekReport = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Keep a cluster in good order: every half hour observe, plan, gate, execute, verify, and roll back what turned out badly.

    What is young, in rollout or held stays where it is. A plan that gains too little is recorded as a dry run. Each batch is
    checked against a fresh observation before it is made, and every step is written down before and after. If a machine gets
    too much load because of it, or the gain does not come, the plan is taken back. Killed at any moment, the next start finds
    out what is true and goes on.

    With --simulate the cluster lives in virtual time: containers are rolled out, scaled and deleted, traffic drifts, machines
    come and go. A referee watches every instant. stdout has the story, --report the page of the week. Ctrl-C brings what has
    begun to its end, and tells the story so far; what is left of a plan waits for the next start.

    On a live cluster (--context, --in-cluster) it is a controller: of several, the one that holds the lease acts. Probes and
    metrics are answered over HTTP, holds and events are written on the objects of the cluster, and SIGTERM ends it in order.

    Example: [cyan]bayplan run --context prod -n shop --mode approve[/cyan]

    Example: [cyan]bayplan run --in-cluster -A --mode auto --prometheus discover --store /data/bayplan.db[/cyan]

    Example: [cyan]bayplan run --simulate boutique --days 2[/cyan]

    Example: [cyan]bayplan run --simulate shop.yaml --churn busy --window 'mon-fri 22:00-06:00' --store shop.db --days 0.2[/cyan]

    Example: [cyan]bayplan history --store shop.db[/cyan]
    """
    running = live.RunningCluster(
        cluster=cluster,
        acting=acting,
        measure=measured.request(),
        in_cluster=in_cluster,
        listen=listen,
        grace=grace,
        log=log,
    )
    option.expect_one_cluster(simulate, sandbox, running.named)
    running.expect_sense()
    page = report or (Path("week.html") if simulate is not None and not json else None)
    expect_outputs({"--report": page})
    from bayplan.operate.settings import LoopSettings, Mode

    snapshot = option.simulated_snapshot(simulate) if simulate is not None else None
    expect_one_of(mode or "auto", [each.value for each in Mode], "mode")
    settings = LoopSettings(
        mode=Mode(mode or "manual"),
        goal=goal_named(goal),
        every=option.seconds_of(every, "--every"),
        max_moves=max_moves,
        min_gain=share(min_gain, "--min-gain"),
        moves_per_hour=moves_per_hour,
        moves_per_day=moves_per_day,
        executions_per_day=executions_per_day,
        windows=option.windows_of(window, timezone),
        freeze=tuple(freeze or ()),
        alive=alive,
        cooldown=option.seconds_of(cooldown, "--cooldown"),
        cooldown_of=cooldown_of,
        hold=option.seconds_of(hold, "--hold"),
        settle=option.seconds_of(settle, "--settle"),
        young=option.seconds_of(young, "--young"),
        seed=seed,
    )
    settings = _fitted(settings, snapshot, mode, seconds)
    record = store or (":memory:" if snapshot is not None else option.RECORD)
    if running.named:
        answer = run_controller(running, settings, store=record, days=days, turns=turns, quiet=quiet)
    else:
        simulated = snapshot if snapshot is not None else option.connected(sandbox or "")
        answer = _looped(simulated, settings, days=days, turns=turns, store=record, churn=churn, quiet=quiet)
    _say(answer, page, json, store)


def _looped(
    simulated: "Snapshot | Orchestrator",
    settings: "LoopSettings",
    *,
    days: float | None,
    turns: int | None,
    store: str,
    churn: str,
    quiet: bool,
) -> "RunAnswer":
    """The loop over a simulated cluster, until its time is over or Ctrl-C."""
    import bayplan as bp
    from bayplan.model.interrupt import stoppable
    from bayplan.operate.run import compile_kernels

    with working("preparing the loop", quiet=quiet) as progress:
        compile_kernels(progress)
    with stoppable() as stopping:
        return bp.run(
            simulated,
            days=days,
            turns=math.inf if turns is None else turns,
            settings=settings,
            store=store,
            churn=churn,
            tell=_silent if quiet else _tell,
            stop=lambda: stopping.requested,
        )


def _fitted(settings: "LoopSettings", snapshot: "Snapshot | None", mode: str | None, seconds: float | None) -> "LoopSettings":
    """A simulation plans quickly, and acts, unless something else is said."""
    from dataclasses import replace

    from bayplan.operate.run import simulated_settings
    from bayplan.operate.settings import Mode

    if snapshot is not None:
        settings = simulated_settings(snapshot, settings)
        settings = settings if mode is None else replace(settings, mode=Mode(mode))
    return settings if seconds is None else replace(settings, seconds=seconds, budget=None)


def _silent(event: "Event") -> None:
    """Say nothing."""


def _tell(event: "Event") -> None:
    """What happens, one line each, on stderr."""
    from datetime import UTC, datetime

    from bayplan.report.names import printable

    if event.kind in ("turn", "rollback", "hold", "recover", "verify"):
        at = datetime.fromtimestamp(event.at, UTC).strftime("%a %H:%M")
        print(f"{at} {event.kind}: {printable(event.text)}", file=sys.stderr)


def _say(answer: "RunAnswer", page: Path | None, json: bool, store: str | None) -> None:
    from bayplan.report.table import Sentence
    from bayplan.report.table import report as shown

    if page is not None:
        answer.report(page, command=clock.command())
    if json:
        print_object(answer.to_dict())
        return
    if not answer.turns:
        warn("no turn was made: another loop holds the lease of this record (bayplan status)")
    look = f"the page of the history: {page}" if page is not None else "--report week.html writes the page"
    keep = f"bayplan history --store {store}" if store else "--store shop.db keeps the record for bayplan history"
    print_report(answer.story() + shown(Sentence(f"next: {look}; {keep}", "soft")))
