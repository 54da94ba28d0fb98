"""`bayplan apply`, `bayplan uninstall` and `bayplan sandbox`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayplan.cli.console.exits import ANSWER_IS_NO
from bayplan.cli.console.screen import print_object, print_report
from bayplan.cli.console.terminal import note
from bayplan.cli.options import controller as live
from bayplan.cli.options import operate as option
from bayplan.cli.options.cluster import ClusterOptions, Context, Kubeconfig
from bayplan.cli.options.measurements import MeasurementOptions
from bayplan.cli.options.migrate import Alive
from bayplan.cli.options.shared import Json, Seed
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.operate.apply import ApplyAnswer
    from bayplan.operate.settings import LoopSettings

PlanOrFile = Annotated[
    str,
    typer.Argument(metavar="PLAN", help="A file that bayplan plan wrote, or the id of a plan in the record.", show_default=False),
]
SandboxCluster = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A generator's name (boutique, rasa-m3, ...) or a file.", show_default=False)
]
Socket = Annotated[
    Path, typer.Option("--socket", metavar="PATH", help="Where it listens: a path for a Unix socket; the key is beside it.")
]


def apply(
    plan: PlanOrFile,
    cluster: ClusterOptions = ClusterOptions(),
    simulate: option.Simulate = None,
    sandbox: option.Sandbox = None,
    yes: option.Yes = False,
    alive: Alive = 0.75,
    settle: option.Settle = "10m",
    measured: MeasurementOptions = MeasurementOptions(),
    acting: live.ActingOptions = live.ActingOptions(),
    store: option.MaybeRecord = None,
    json: Json = False,
) -> None:
    """Carry out one plan, batch by batch, safely: one pass of the executing half of bayplan run.

    Without --yes it only says whether the plan is safe on what runs now. Each batch is checked against a fresh observation; what
    changed meanwhile is planned anew. After a settling time the result is verified, and taken back if it turned out badly.
    bayplan status, pause, resume and rollback work meanwhile, from another terminal. Exit code 3 if the plan is not safe or was
    not kept.

    On a live cluster (--context) pods are evicted, never deleted, and their replacements are led to the planned nodes. Only
    one process acts at a time: the one that holds the lease.

    Example: [cyan]bayplan apply plan.json --context prod -n shop --yes[/cyan]

    Example: [cyan]bayplan generate boutique --out shop.json[/cyan]

    Example: [cyan]bayplan plan shop.json --out plan.json[/cyan]

    Example: [cyan]bayplan apply plan.json --simulate shop.json --yes[/cyan]
    """
    running = live.RunningCluster(cluster=cluster, acting=acting, measure=measured.request()).expect_sense()
    option.expect_one_cluster(simulate, sandbox, running.named)
    from bayplan.operate.apply import apply as carry_out
    from bayplan.operate.run import opened_context
    from bayplan.operate.settings import LoopSettings

    settings = LoopSettings(alive=alive, settle=option.seconds_of(settle, "--settle"))
    record = store or (":memory:" if simulate is not None else option.RECORD)
    if running.named:
        answer = _applied(running, plan, settings, record, yes=yes)
    else:
        simulated = option.simulated_snapshot(simulate) if simulate is not None else option.connected(sandbox or "")
        answer = carry_out(opened_context(simulated, settings, record), plan, yes=yes)
    print_object(answer.to_dict()) if json else print_report(answer.content())
    if not answer.succeeded:
        raise typer.Exit(ANSWER_IS_NO)


def _applied(options: live.RunningCluster, plan: str, settings: "LoopSettings", record: str, *, yes: bool) -> "ApplyAnswer":
    """Carry a plan out on a live cluster, or only look."""
    from bayplan.kubernetes.by_hand import acting, looking
    from bayplan.operate.apply import apply as carry_out
    from bayplan.operate.store import Store

    with Store.open(record) as store, options.target(_quietly) as target:
        if not yes:
            return carry_out(looking(target, settings, store), plan, yes=False)
        with acting(target, settings, store) as context:
            return carry_out(context, plan, yes=True)


def _quietly(what: str, fields: object) -> None:
    """What is asked of a webhook is of no interest to a person who applies a plan."""


def uninstall(
    context: Context = None,
    kubeconfig: Kubeconfig = None,
    yes: option.Yes = False,
    json: Json = False,
) -> None:
    """Take everything off a live cluster that bayplan has put there: policies, gates, leases, annotations. Pods go on running.

    Stop all loops first. Without --yes it only says what is there.

    Example: [cyan]bayplan uninstall --context prod --yes[/cyan]
    """
    cluster = live.RunningCluster(cluster=ClusterOptions(context=context, kubeconfig=kubeconfig))
    if not cluster.named:
        raise UsageError("which cluster? expected --context NAME or --kubeconfig FILE")
    from bayplan.kubernetes.execute.uninstall import left_on_cluster
    from bayplan.kubernetes.execute.uninstall import uninstall as take_off

    client = cluster.client()
    found = take_off(client) if yes else left_on_cluster(client)
    words = "removed" if yes else "would remove; --yes does it"
    print_object({"done": yes, **found.to_dict()}) if json else typer.echo(f"{words}: {found.sentence}")


def sandbox(
    cluster: SandboxCluster,
    socket: Socket = Path("cluster.sock"),
    churn: option.ChurnName = "calm",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Serve a simulated cluster from a process of its own, to practise on: it lives on when a loop is killed.

    Then, in other terminals: bayplan run --sandbox cluster.sock --mode auto, or bayplan
    apply. Time goes on while a loop waits. Ctrl-C ends it.

    Example: [cyan]bayplan sandbox boutique --socket shop.sock[/cyan]
    """
    from bayplan.errors import expect_one_of
    from bayplan.operate.simulated import SimulatedOrchestrator
    from bayplan.operate.simulated.served import serve
    from bayplan.operate.simulated.settings import CHURN, preset

    expect_one_of(churn, CHURN, "churn")
    orchestrator = SimulatedOrchestrator(option.simulated_snapshot(cluster), settings=preset(churn), seed=seed)
    following = f"bayplan run --sandbox {socket} --mode auto --store shop.db"
    print_object({"address": str(socket), "next": following}) if json else note([f"next: {following}"], quiet=False)
    serve(orchestrator, str(socket))
