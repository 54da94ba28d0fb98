"""`bayplan status`, `approve`, `pause`, `resume`, `rollback` and `history`: what people say to a running loop, and what it did"""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayplan.cli.console import clock
from bayplan.cli.console.exits import ANSWER_IS_NO
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.screen import print_object, print_report
from bayplan.cli.options import cluster as where
from bayplan.cli.options import controller as live
from bayplan.cli.options import operate as option
from bayplan.cli.options.migrate import Alive
from bayplan.cli.options.shared import Json
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.operate.store import Store

Trust = Annotated[
    bool, typer.Option("--trust", help="Also trust an observation that has less than half of what there was before.")
]
Last = Annotated[str | None, typer.Option("--last", metavar="TIME", help="Only the last 7d, 12h, ...", show_default=False)]
HistoryReport = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Also write the page of the history.", show_default=False)
]


def _open(store: str) -> "Store":
    """The record; UsageError if there is none: only a loop begins one."""
    from bayplan.operate.store import Store

    if "://" not in store and not Path(store).exists():
        raise UsageError(f"no record '{store}'; expected one that bayplan run or bayplan apply has begun (--store)")
    return Store.open(store)


def _now(store: "Store") -> float:
    """The time for the record: a simulated cluster has its own, and the record must never go back."""
    last = store.last_time()
    return time.time() if last is None or abs(time.time() - last) < 7 * 86400 else last


def plan_named(store: "Store", plan: str) -> str:
    """The id of a plan; `latest` is the newest."""
    if plan != "latest":
        return store.plan(plan).id
    newest = store.plans(last=1)
    if not newest:
        raise UsageError("there is no plan in the record yet")
    return newest[0].id


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
    from bayplan.operate.status import status_of

    with _open(store) as record:
        answer = status_of(record, _now(record))
    print_object(answer.to_dict()) if json else print_report(answer.content())


def approve(plan: option.PlanId, store: option.Record = option.RECORD, by: option.By = None, json: Json = False) -> None:
    """Approve a plan that waits for it; the loop carries it out, if it is not out of date by then.

    Example: [cyan]bayplan run --simulate boutique --turns 1 --mode approve --store shop.db[/cyan]

    Example: [cyan]bayplan approve latest --store shop.db[/cyan]
    """
    with _open(store) as record:
        approved = record.approve(plan_named(record, plan), option.person(by), _now(record))
    _said(json, f"approved plan {approved.id}: {approved.summary[0] if approved.summary else ''}", plan=approved.id)


def pause(store: option.Record = option.RECORD, by: option.By = None, why: option.Why = "", json: Json = False) -> None:
    """Stop all acting: moves that have begun are brought to their end, and none is begun until bayplan resume.

    Example: [cyan]bayplan run --simulate boutique --turns 1 --store shop.db[/cyan]

    Example: [cyan]bayplan pause --store shop.db --why 'release night'[/cyan]
    """
    with _open(store) as record:
        record.pause(option.person(by), _now(record), why)
    _said(json, "paused; next: bayplan resume", paused=True)


def resume(store: option.Record = option.RECORD, by: option.By = None, trust: Trust = False, json: Json = False) -> None:
    """Let the loop act again; a plan that was under way goes on.

    Example: [cyan]bayplan run --simulate boutique --turns 1 --store shop.db[/cyan]

    Example: [cyan]bayplan resume --store shop.db[/cyan]
    """
    from bayplan.model.record import Event

    with _open(store) as record:
        who, now = option.person(by), _now(record)
        record.resume(who, now)
        if trust:
            record.log(Event(at=now, kind="trust", text=f"{who} trusts what is observed, however little it is"))
    _said(json, "resumed; next: bayplan status", paused=False)


def rollback(
    plan: option.PlanId,
    context: live.LiveContext = None,
    kubeconfig: where.Kubeconfig = None,
    namespace: where.Namespaces = None,
    all_namespaces: where.AllNamespaces = False,
    lease: live.LeaseName = None,
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
    with _open(store) as record:
        name = plan_named(record, plan)
        record.ask_rollback(name, option.person(by), _now(record))
        cluster = live.live_cluster(context, kubeconfig, namespace, all_namespaces, lease=lease)
        if cluster.named:
            _taken_back(record, name, cluster, alive, json)
            return
    _said(json, f"plan {name} will be taken back by the loop; next: bayplan status", plan=name)


def _taken_back(record: "Store", name: str, cluster: live.LiveClusterOptions, alive: float, json: bool) -> None:
    """Take a plan back on a live cluster, and say how far that came."""
    from bayplan.kubernetes.by_hand import acting
    from bayplan.model.record import PlanStatus
    from bayplan.operate.loop import Loop
    from bayplan.operate.settings import LoopSettings

    with acting(cluster.target(), LoopSettings(alive=alive), record) as context:
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
    expect_outputs({"--report": report})
    from bayplan.operate.run import RunAnswer

    with _open(store) as record:
        now = _now(record)
        start = None if last is None else now - option.seconds_of(last, "--last")
        told = record.history(start)
    answer = RunAnswer(history=told, name=Path(store).stem if "://" not in store else "cluster", turns=len(told.turns))
    if report is not None:
        answer.report(report, command=clock.command())
    print_object(answer.to_dict()) if json else print_report(answer.content())
