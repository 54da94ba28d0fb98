"""`bayplan status`, `approve`, `pause`, `resume`, `rollback` and `history`: what people say to a running loop, and what it did"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayplan.cli.console import clock
from bayplan.cli.console.exits import ANSWER_IS_NO
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.screen import print_object, print_report
from bayplan.cli.options import controller as live
from bayplan.cli.options import operate as option
from bayplan.cli.options.cluster import ClusterOptions
from bayplan.cli.options.migrate import Alive
from bayplan.cli.options.shared import Json

if TYPE_CHECKING:
    from bayplan.operate.store import Store

Trust = Annotated[
    bool, typer.Option("--trust", help="Also trust an observation that has less than half of what there was before.")
]
Last = Annotated[str | None, typer.Option("--last", metavar="TIME", help="Only the last 7d, 12h, ...", show_default=False)]
HistoryReport = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Also write the page of the history.", show_default=False)
]


def _said(json: bool, sentence: str, **facts: object) -> None:
    """What was done, in a sentence or as one object."""
    if json:
        print_object({"done": sentence, **facts})
    else:
        typer.echo(sentence)


def status(store: option.Record = option.RECORD, json: Json = False) -> None:
    """Say what the loop does now: who acts, what is planned or under way, what is held, whether it is paused.

    Example: [cyan]bayplan run --simulate boutique --turns 1 --mode approve --store shop.db[/cyan]

    Example: [cyan]bayplan status --store shop.db[/cyan]
    """
    from bayplan.operate.instructions import open_record, record_time
    from bayplan.operate.status import status_of

    with open_record(store) as record:
        answer = status_of(record, record_time(record))
    print_object(answer.to_dict()) if json else print_report(answer.content())


def approve(plan: option.PlanOrFile, store: option.Record = option.RECORD, by: option.By = None, json: Json = False) -> None:
    """Approve a plan that waits for it; the loop carries it out, if it is not out of date by then.

    A file of bayplan plan is handed to the loop: what changed since is left out, and with less than half left it is out of date.

    Example: [cyan]bayplan run --simulate boutique --turns 1 --mode approve --store shop.db[/cyan]

    Example: [cyan]bayplan approve latest --store shop.db[/cyan]
    """
    from bayplan.formats.document.lines import document_of
    from bayplan.operate.instructions import hand_in, open_record, plan_named, record_time

    with open_record(store) as record:
        if Path(plan).is_file():
            with document_of(plan) as document:
                approved = hand_in(record, document, plan, option.person(by))
        else:
            approved = record.approve(plan_named(record, plan), option.person(by), record_time(record))
    _said(json, f"approved plan {approved.id}: {approved.summary[0] if approved.summary else ''}", plan=approved.id)


def pause(store: option.Record = option.RECORD, by: option.By = None, why: option.Why = "", json: Json = False) -> None:
    """Stop all acting: moves that have begun are brought to their end, and none is begun until bayplan resume.

    Example: [cyan]bayplan run --simulate boutique --turns 1 --store shop.db[/cyan]

    Example: [cyan]bayplan pause --store shop.db --why 'release night'[/cyan]
    """
    from bayplan.operate.instructions import open_record, record_time

    with open_record(store) as record:
        record.pause(option.person(by), record_time(record), why)
    _said(json, "paused; next: bayplan resume", paused=True)


def resume(store: option.Record = option.RECORD, by: option.By = None, trust: Trust = False, json: Json = False) -> None:
    """Let the loop act again; a plan that was under way goes on.

    Example: [cyan]bayplan run --simulate boutique --turns 1 --store shop.db[/cyan]

    Example: [cyan]bayplan resume --store shop.db[/cyan]
    """
    from bayplan.operate import instructions

    with instructions.open_record(store) as record:
        instructions.resume(record, option.person(by), trust=trust)
    _said(json, "resumed; next: bayplan status", paused=False)


def rollback(
    plan: option.PlanId,
    cluster: ClusterOptions = ClusterOptions(),
    acting: live.ActingOptions = live.ActingOptions(),
    alive: Alive = 0.75,
    store: option.Record = option.RECORD,
    by: option.By = None,
    json: Json = False,
) -> None:
    """Ask the loop to take a plan back: the inverse plan, as far as that is still possible. It does so within a minute.

    With --context, for a plan that bayplan apply has carried out, it is taken back at once, by this command.

    Example: [cyan]bayplan rollback latest --context prod -n shop[/cyan]

    Example: [cyan]bayplan run --simulate boutique --turns 1 --store shop.db[/cyan]

    Example: [cyan]bayplan rollback latest --store shop.db[/cyan]
    """
    from bayplan.operate.instructions import open_record, plan_named, record_time

    running = live.RunningCluster(cluster=cluster, acting=acting).expect_sense()
    with open_record(store) as record:
        name = plan_named(record, plan)
        record.ask_rollback(name, option.person(by), record_time(record))
        if running.named:
            _taken_back(record, name, running, alive, json)
            return
    _said(json, f"plan {name} will be taken back by the loop; next: bayplan status", plan=name)


def _taken_back(record: "Store", name: str, cluster: live.RunningCluster, alive: float, json: bool) -> None:
    """Take a plan back on a live cluster, and say how far that came."""
    from bayplan.kubernetes.by_hand import acting
    from bayplan.model.record import PlanStatus
    from bayplan.operate.loop import Loop
    from bayplan.operate.settings import LoopSettings

    with cluster.target(lambda what, fields: None) as target, acting(target, LoopSettings(alive=alive), record) as context:
        turn = Loop(context).turn()
    plan = record.plan(name)
    why = turn.why if turn is not None else "another process acts on this cluster"
    _said(json, f"plan {name} is {plan.status}: {why}", plan=name, status=str(plan.status))
    if plan.status is not PlanStatus.ROLLED_BACK:
        raise typer.Exit(ANSWER_IS_NO)


def history(store: option.Record = option.RECORD, last: Last = None, report: HistoryReport = None, json: Json = False) -> None:
    """Show what was done, why, and what it brought.

    Example: [cyan]bayplan run --simulate boutique --turns 2 --store shop.db[/cyan]

    Example: [cyan]bayplan history --store shop.db --report week.html[/cyan]
    """
    from bayplan.operate.instructions import open_record, record_time

    expect_outputs({"--report": report})
    from bayplan.operate.run import RunAnswer

    with open_record(store) as record:
        now = record_time(record)
        start = None if last is None else now - option.seconds_of(last, "--last")
        told = record.history(start)
    answer = RunAnswer(history=told, name=Path(store).stem if "://" not in store else "cluster", turns=len(told.turns))
    if report is not None:
        answer.report(report, command=clock.command())
    print_object(answer.to_dict()) if json else print_report(answer.content())
