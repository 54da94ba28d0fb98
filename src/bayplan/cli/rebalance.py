"""`bayplan rebalance`"""

from typing import Annotated

import typer

from bayplan.cli.console import clock
from bayplan.cli.console.decision import Engine, Out, Parts, Report, Seconds, Starts, Threads, finish, method_option
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.terminal import note, working
from bayplan.cli.options.shared import File, Json, ObjectiveName, Quiet, SearchSeed, Start, pairs

Method = Annotated[str, method_option("rebalance")]
Weights = Annotated[
    list[str] | None,
    typer.Option("--weight", metavar="TERM=VALUE", help="Change the weight of a term; the others keep theirs; repeatable."),
]
MaxMoves = Annotated[
    str | None,
    typer.Option("--max-moves", metavar="N|P%", help="Move at most N containers, or this share of them.", show_default=False),
]
Freeze = Annotated[
    list[str] | None,
    typer.Option(
        "--freeze", metavar="NAME", help="Leave a container or workload where it is; patterns such as 'web-*'; repeatable."
    ),
]
Delta = Annotated[
    float, typer.Option("--delta", help="sweep-search: share of the machines at either end that it works on, above 0 to 0.5.")
]
Safety = Annotated[float, typer.Option("--safety", help="sweep-search: a machine above this utilisation is hot, 0 to 1.")]
SafetyOverMean = Annotated[
    float | None,
    typer.Option(
        "--safety-over-mean",
        metavar="FACTOR",
        help="sweep-search: a machine above this many times the mean utilisation is hot; replaces --safety.",
        show_default=False,
    ),
]
Target = Annotated[
    float | None,
    typer.Option("--target", metavar="COST", help="Stop once the objective is no more than this.", show_default=False),
]


def rebalance(
    file: File,
    method: Method = "search",
    seconds: Seconds = 10.0,
    seed: SearchSeed = 0,
    start: Start = None,
    objective: ObjectiveName = "file",
    weight: Weights = None,
    max_moves: MaxMoves = None,
    freeze: Freeze = None,
    delta: Delta = 0.02,
    safety: Safety = 0.6,
    safety_over_mean: SafetyOverMean = None,
    target: Target = None,
    threads: Threads = 1,
    parts: Parts = None,
    starts: Starts = 1,
    engine: Engine = "pool",
    out: Out = None,
    report: Report = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Move running containers to where they are better off, and say what that gains.

    No rule is violated that was not violated before. Ctrl-C stops the search and keeps the best so far.
    Moves are counted from the placement in the input, or from --start.

    Methods:

    - search: the one search over all terms and rules; shifts, swaps, replaces, ejections

    - sweep-search: FreeContainer's Sweep&Search

    - nls: noisy local search

    - greedy: from the fullest machine to the emptiest

    Example: [cyan]bayplan rebalance shop.yaml --seconds 10 --max-moves 5% --out new.json[/cyan]

    Example: [cyan]bayplan rebalance shop.yaml --seconds 30 --starts 8 --threads 8[/cyan]

    Example: [cyan]bayplan rebalance gmrp/model_tiny.txt --start gmrp/assignment_tiny.txt --objective gmrp --out new.txt[/cyan]
    """
    expect_outputs({"--out": out, "--report": report}, file, start)
    with working(f"rebalancing {file}", quiet=quiet) as progress:
        import bayplan as bp

        snapshot = bp.read(file, start)
        note(snapshot.notes, quiet=quiet)
        answer = bp.rebalance(
            snapshot,
            method=method,
            seconds=clock.left(seconds),
            seed=seed,
            objective=objective,
            weights=pairs(weight, "--weight", "TERM=VALUE"),
            max_moves=max_moves,
            freeze=freeze or (),
            delta=delta,
            safety=safety,
            safety_over_mean=safety_over_mean,
            target=target,
            threads=threads,
            parts=parts,
            starts=starts,
            engine=engine,
            progress=progress,
        )
    finish(answer, file=file, out=out, report=report, json=json)
