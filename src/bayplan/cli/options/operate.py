"""The options of the running system: which cluster, which record, how the loop behaves, and what their texts mean."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.model import Snapshot
    from bayplan.operate.orchestrator import Orchestrator
    from bayplan.operate.windows import ActingWindow

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
RECORD = "bayplan.db"

Simulate: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--simulate",
        metavar="NAME|FILE",
        help="A simulated cluster in virtual time, made of a generator's snapshot (boutique, rasa-m3, ...) or of a file.",
        show_default=False,
    ),
]
Sandbox: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--sandbox",
        metavar="ADDRESS",
        help="A simulated cluster in a process of its own: see bayplan sandbox.",
        show_default=False,
    ),
]
Record: TypeAlias = Annotated[
    str,
    typer.Option("--store", metavar="FILE|URL", help="The record: an SQLite file, or postgresql://user@host/database."),
]
MaybeRecord: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE|URL",
        help="The record: an SQLite file, or postgresql://user@host/database. By default bayplan.db; in memory with --simulate.",
        show_default=False,
    ),
]
ModeName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="manual|approve|auto",
        help="manual: plan only; approve: wait for bayplan approve; auto: carry out what passes the gate. "
        "By default manual; auto with --simulate, where nothing can be harmed.",
        show_default=False,
    ),
]
Every: TypeAlias = Annotated[str, typer.Option("--every", metavar="TIME", help="From one turn to the next: 30m, 1h.")]
Days: TypeAlias = Annotated[
    float | None,
    typer.Option("--days", min=0, help="Stop after that many days; 2 with --simulate, else never.", show_default=False),
]
Turns: TypeAlias = Annotated[int | None, typer.Option("--turns", min=1, help="Stop after that many turns.", show_default=False)]
LoopMoves: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--max-moves",
        metavar="N|P%",
        help="Containers that one plan may move; 5%, but ten in any case, by default.",
        show_default=False,
    ),
]
PerHour: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--moves-per-hour", metavar="N|P%", help="Containers moved in an hour; twice --max-moves by default.", show_default=False
    ),
]
PerDay: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--moves-per-day", metavar="N|P%", help="Containers moved on a day; ten times --max-moves by default.", show_default=False
    ),
]
ExecutionsPerDay: TypeAlias = Annotated[
    int | None, typer.Option("--executions-per-day", min=0, help="Plans carried out on a day.", show_default=False)
]
LoopGain: TypeAlias = Annotated[
    str,
    typer.Option(
        "--min-gain",
        metavar="P%",
        help="The gate: with less to gain, the price of moves taken off, a plan is only recorded as a dry run.",
    ),
]
Windows: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--window", metavar="WINDOW", help="Act only then: 'mon-fri 22:00-06:00', 'sat,sun', '01:00-05:00'; repeatable."
    ),
]
TimeZone: TypeAlias = Annotated[str, typer.Option("--timezone", metavar="ZONE", help="Of the windows, such as Europe/Berlin.")]
Cooldown: TypeAlias = Annotated[
    str, typer.Option("--cooldown", metavar="TIME", help="A container that was moved is left alone for as long.")
]
CooldownOf: TypeAlias = Annotated[
    str,
    typer.Option(
        "--cooldown-of",
        metavar="workload|container",
        help="What is left alone then: all replicas, or only those that were moved.",
    ),
]
HoldTime: TypeAlias = Annotated[
    str, typer.Option("--hold", metavar="TIME", help="What made a machine skewed is left alone for as long.")
]
Settle: TypeAlias = Annotated[
    str, typer.Option("--settle", metavar="TIME", help="From the last step of a plan to its verification.")
]
Young: TypeAlias = Annotated[str, typer.Option("--young", metavar="TIME", help="New containers are left alone for as long.")]
ChurnName: TypeAlias = Annotated[
    str, typer.Option("--churn", metavar="quiet|calm|busy", help="What happens to a simulated cluster by itself.")
]
LoopSeconds: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--seconds",
        min=0,
        help="For one plan; 60 by default, with --simulate a few, by iterations, so that a seed tells the same story.",
        show_default=False,
    ),
]
WeekReport: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write the page of the history; week.html by default with --simulate.",
        show_default=False,
    ),
]
PlanId: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="PLAN", help="The id of a plan, or its beginning; 'latest' is the newest.", show_default=False),
]
PlanOrFile: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="PLAN", help="The id of a plan, or its beginning; 'latest'; or a file of bayplan plan.", show_default=False
    ),
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Do it. Without this nothing is changed.")]
By: TypeAlias = Annotated[
    str | None, typer.Option("--by", metavar="NAME", help="Who says so; your login name by default.", show_default=False)
]
Why: TypeAlias = Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason, for the record.", show_default=False)]


def seconds_of(text: str, option: str) -> float:
    """`30m`, `6h`, `3d`, `90s` or a number of seconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text.strip().lower())
    if match is None:
        raise UsageError(f"{option} '{text}': expected a time such as 90s, 30m, 6h or 3d")
    return float(match[1]) * UNITS[match[2] or "s"]


def person(by: str | None) -> str:
    """Who gives the command."""
    import getpass

    if by:
        return by
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def simulated_snapshot(name: str) -> "Snapshot":
    """The snapshot of a generator, or of a file."""
    import bayplan as bp
    from bayplan.generate import GENERATORS

    return bp.generate(name) if name in GENERATORS and not Path(name).exists() else bp.read(name)


def expect_one_cluster(simulate: str | None, sandbox: str | None, live: bool = False) -> None:
    """UsageError unless exactly one cluster is named."""
    if (simulate is not None) + (sandbox is not None) + live != 1:
        raise UsageError(
            "which cluster? expected one of --context NAME, --in-cluster, --simulate NAME|FILE and --sandbox ADDRESS"
        )


def connected(address: str) -> "Orchestrator":
    """The simulated cluster behind an address."""
    from bayplan.operate.simulated.served import connect

    return connect(address)


def windows_of(texts: Sequence[str] | None, timezone: str) -> "tuple[ActingWindow, ...]":
    """The windows that the options state."""
    from bayplan.operate.windows import read_window

    return tuple(read_window(text, timezone) for text in texts or ())
