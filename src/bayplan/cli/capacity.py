"""`bayplan capacity`"""

from dataclasses import replace
from typing import Annotated, Any, TypeAlias

import typer

from bayplan.cli.console import clock
from bayplan.cli.console.decision import Threads
from bayplan.cli.console.exits import ANSWER_IS_NO
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.screen import print_value
from bayplan.cli.console.terminal import note, warn, working
from bayplan.cli.options.shared import File, Json, Quiet, Report, Start

Survive: TypeAlias = Annotated[
    str,
    typer.Option("--survive", metavar="LEVEL", help="What must be survived: machine, or a level of the input (rack, zone, ...)."),
]
MayMove: TypeAlias = Annotated[
    bool, typer.Option("--may-move", help="Where there is no place otherwise, containers of other machines may move.")
]
Like: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--like",
        metavar="MACHINE",
        help="Where something has no place: how many more machines like this one would do? One of the most common type if not "
        "given.",
        show_default=False,
    ),
]
Alive: TypeAlias = Annotated[
    int, typer.Option("--alive", min=0, metavar="N", help="Count workloads that are left with fewer running replicas than this.")
]
Top: TypeAlias = Annotated[int, typer.Option("--top", min=1, metavar="N", help="How many failures are listed, worst first.")]
Engine: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Look at failures in jobs: 'pool' (processes, as many as --threads), 'here' (this one), 'ray' or 'ray:ADDRESS'; "
        "without it, all in this process.",
        show_default=False,
    ),
]
Limit: TypeAlias = Annotated[
    float | None,
    typer.Option("--seconds", min=0, help="Wall time at most; no limit if not given.", show_default=False),
]


def capacity(
    file: File,
    survive: Survive = "machine",
    may_move: MayMove = False,
    like: Like = None,
    alive: Alive = 1,
    top: Top = 10,
    start: Start = None,
    seconds: Limit = None,
    threads: Threads = 1,
    engine: Engine = None,
    report: Report = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say which failures the cluster survives: of any single machine, rack, zone. Exit code 3 if not those asked for.

    For every machine and for every group of each level: does everything that ran there fit elsewhere within all rules, while
    nothing else moves? What is lost, what has no place and why, which machines would be above safety, and how many more machines
    would do. Containers that are pinned to a machine are lost with it. "Proven" is proven; "no place found" is not.

    Example: [cyan]bayplan capacity shop.yaml --report capacity.html[/cyan]

    Example: [cyan]bayplan capacity shop.yaml --survive rack --may-move --json[/cyan]

    Example: [cyan]bayplan capacity shop.yaml --engine pool --threads 4[/cyan]
    """
    expect_outputs({"--report": report}, file, start)
    with working(f"reading {file}", quiet=quiet):
        import bayplan as bp
        from bayplan.model.interrupt import stoppable

        snapshot = bp.read(file, start)
    with stoppable():  # from here on the first Ctrl-C loses no file
        with working(f"failing the machines of {file}", quiet=quiet) as progress:
            limit = float("inf") if seconds is None else clock.left(seconds)
            options: dict[str, Any] = {"survive": survive, "may_move": may_move, "like": like, "alive": alive, "top": top}
            answer = bp.capacity(snapshot, seconds=limit, progress=progress, engine=engine, threads=threads, **options)
            if report is not None:
                answer.report(report, command=clock.command())
        note(answer.notes, quiet=quiet)
        if answer.interrupted:
            warn(f"interrupted: {len(answer.outcomes):,} of {answer.failures:,} failures were looked at")
        files = {} if report is None else {"report": str(report)}
        print_value(replace(answer, seconds=clock.seconds(), files=files), json=json)
    if not answer.holds:
        raise typer.Exit(ANSWER_IS_NO)
