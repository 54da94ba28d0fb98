"""`bayplan apply` and `bayplan sandbox`"""

from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli.console.exits import ANSWER_IS_NO
from bayplan.cli.console.screen import print_object, print_report
from bayplan.cli.console.terminal import note
from bayplan.cli.options import operate as option
from bayplan.cli.options.migrate import Alive
from bayplan.cli.options.shared import Json, Seed

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
    simulate: option.Simulate = None,
    sandbox: option.Sandbox = None,
    yes: option.Yes = False,
    alive: Alive = 0.75,
    settle: option.Settle = "10m",
    store: option.MaybeRecord = None,
    json: Json = False,
) -> None:
    """Carry out one plan, batch by batch, safely: one pass of the executing half of bayplan run.

    Without --yes it only says whether the plan is safe on what runs now. Each batch is checked against a fresh observation; what
    changed meanwhile is planned anew. After a settling time the result is verified, and taken back if it turned out badly.
    bayplan status, pause, resume and rollback work meanwhile, from another terminal. Exit code 3 if the plan is not safe or was
    not kept.

    Example: [cyan]bayplan generate boutique --out shop.json[/cyan]

    Example: [cyan]bayplan plan shop.json --out plan.json[/cyan]

    Example: [cyan]bayplan apply plan.json --simulate shop.json --yes[/cyan]
    """
    option.expect_one_cluster(simulate, sandbox)
    from bayplan.operate.apply import apply as carry_out
    from bayplan.operate.run import opened_context
    from bayplan.operate.settings import LoopSettings

    settings = LoopSettings(alive=alive, settle=option.seconds_of(settle, "--settle"))
    cluster = option.simulated_snapshot(simulate) if simulate is not None else option.connected(sandbox or "")
    record = store or (":memory:" if simulate is not None else option.RECORD)
    answer = carry_out(opened_context(cluster, settings, record), plan, yes=yes)
    print_object(answer.to_dict()) if json else print_report(answer.content())
    if not answer.succeeded:
        raise typer.Exit(ANSWER_IS_NO)


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
