"""`bayplan place`"""

from typing import Annotated

import typer

from bayplan.cli.console import clock
from bayplan.cli.console.decision import Out, Report, Seconds, Threads, finish, method_option
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.terminal import note, working
from bayplan.cli.options.shared import File, Json, ObjectiveName, Quiet, SearchSeed, Start

Method = Annotated[str, method_option("place")]
Candidates = Annotated[
    int,
    typer.Option("--candidates", metavar="D", min=1, help="Machines among which the service decides (ca-wfd, ws-dp, c-c, best)."),
]


def place(
    file: File,
    method: Method = "best",
    seconds: Seconds = 5.0,
    seed: SearchSeed = 0,
    out: Out = None,
    candidates: Candidates = 2,
    start: Start = None,
    objective: ObjectiveName = "file",
    report: Report = None,
    threads: Threads = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Give the containers that have no machine one. What runs stays where it is.

    Every rule is kept. What fits nowhere is left out, with the reason, and the rest is placed.

    Methods:

    - best: ca-wfd, then a search over the new containers until the seconds are used up

    - ca-wfd: largest first; of the D machines with most free capacity, the one with most containers of the service

    - ws-dp, c-c: the same by dot product of request and free capacity; by CPU alone

    - random, ha: any machine; the one with the fewest containers of the service

    - enf, binpack: the one with the fewest containers; the one with the least CPU left

    Only best uses more time if it is given more.

    Example: [cyan]bayplan place shop.yaml --method ca-wfd --out placement.json[/cyan]
    """
    expect_outputs({"--out": out, "--report": report}, file, start)
    with working(f"placing {file}", quiet=quiet) as progress:
        import bayplan as bp

        snapshot = bp.read(file, start)
        note(snapshot.notes, quiet=quiet)
        left = clock.left(seconds)
        answer = bp.place(
            snapshot,
            method=method,
            seconds=left,
            seed=seed,
            objective=objective,
            candidates=candidates,
            threads=threads,
            progress=progress,
        )
    finish(answer, file=file, out=out, report=report, json=json)
