"""`bayplan place`"""

from typing import Annotated

import typer

from bayplan.cli import clock
from bayplan.cli.decision import Out, Report, Seconds, Threads, expect_files, say
from bayplan.cli.options import File, Json, Quiet, Seed, Start
from bayplan.cli.outputs import command_line
from bayplan.cli.terminal import note, working


def _names(incomplete: str) -> list[str]:
    from bayplan.decide.place import PLACERS

    return [name for name in PLACERS if name.startswith(incomplete)]


Method = Annotated[str, typer.Option("--method", "-m", metavar="NAME", help="How to decide; see above.", autocompletion=_names)]
Candidates = Annotated[
    int,
    typer.Option("--candidates", metavar="D", min=1, help="Machines among which the service decides (ca-wfd, ws-dp, c-c, best)."),
]


def place(
    file: File,
    method: Method = "best",
    seconds: Seconds = 5.0,
    seed: Seed = 0,
    out: Out = None,
    candidates: Candidates = 2,
    start: Start = None,
    report: Report = None,
    threads: Threads = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Give the containers that have no machine one. What runs stays where it is.

    Every rule is kept. What fits nowhere is left out, with the reason, and the rest is placed.

    Methods:

    - best: ca-wfd, then a search over the new containers until the seconds are used up

    - ca-wfd: largest first; of the D machines with most room, the one with most containers of the service

    - ws-dp, c-c: the same by dot product of request and room; by CPU alone

    - random, ha: any machine; the one with the fewest containers of the service

    - enf, binpack: the one with the fewest containers; the one with the least CPU left

    Only best uses more time if it is given more.

    Example: [cyan]bayplan place shop.yaml --method ca-wfd --out placement.json[/cyan]
    """
    expect_files(out, report, file, start)
    with working(f"placing {file}", quiet=quiet) as progress:
        from bayplan.api.decide import budget_for, chosen, decide, write_decision
        from bayplan.api.inspect import load
        from bayplan.decide.place import PLACERS, PlaceOptions
        from bayplan.model.problem import Problem

        placer, options = chosen(PLACERS, method), PlaceOptions(candidates=candidates)
        snapshot = load(file, start)
        note(snapshot.notes, quiet=quiet)
        budget = budget_for(snapshot, seconds=seconds, used=clock.seconds(), threads=threads)
        decision = decide(
            snapshot,
            Problem.of(snapshot),
            lambda problem: placer(problem, options, budget=budget, seed=seed, progress=progress),
        )
        command = command_line(f"place {file}", method=method, seconds=seconds, seed=seed, start=start)
        write_decision(decision, out=out, report=report, command=command)
    say(decision, method=method, seed=seed, placed=decision.new, as_json=json)
