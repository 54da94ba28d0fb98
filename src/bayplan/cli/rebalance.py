"""`bayplan rebalance`"""

from typing import Annotated

import typer

from bayplan.cli import clock
from bayplan.cli.decision import Out, Report, Seconds, Threads, expect_files, say
from bayplan.cli.options import File, Json, Quiet, Seed, Start
from bayplan.cli.outputs import command_line
from bayplan.cli.terminal import note, working
from bayplan.errors import UsageError


def _names(incomplete: str) -> list[str]:
    from bayplan.decide.rebalance import REBALANCERS

    return [name for name in REBALANCERS if name.startswith(incomplete)]


Method = Annotated[str, typer.Option("--method", "-m", metavar="NAME", help="How to decide; see above.", autocompletion=_names)]
Goal = Annotated[
    str,
    typer.Option(
        "--objective",
        metavar="NAME",
        help="What is good: 'file' (the input's own), 'default' (equation 6 of FreeContainer), 'gmrp'.",
    ),
]
Weights = Annotated[
    list[str] | None,
    typer.Option("--weight", metavar="TERM=VALUE", help="Change the weight of a term; the others keep theirs; repeatable."),
]
MaxMoves = Annotated[
    str | None,
    typer.Option("--max-moves", metavar="N|P%", help="Move at most so many containers, or this share.", show_default=False),
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
Target = Annotated[
    float | None,
    typer.Option("--target", metavar="COST", help="Stop once the objective is no more than this.", show_default=False),
]


def rebalance(
    file: File,
    method: Method = "search",
    seconds: Seconds = 10.0,
    seed: Seed = 0,
    start: Start = None,
    objective: Goal = "file",
    weight: Weights = None,
    max_moves: MaxMoves = None,
    freeze: Freeze = None,
    delta: Delta = 0.02,
    safety: Safety = 0.6,
    target: Target = None,
    threads: Threads = 1,
    out: Out = None,
    report: Report = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Move running containers to where they are better off, and say what that gains.

    No rule is broken that was not broken before. Ctrl-C stops the search and keeps the best so far.
    Moves are counted from the placement in the input, or from --start.

    Methods:

    - search: the one search over all terms and rules; shifts, swaps, replaces, ejections

    - sweep-search: FreeContainer's Sweep&Search

    - nls: noisy local search

    - greedy: from the hottest machine to the sparest

    Example: [cyan]bayplan rebalance shop.yaml --seconds 10 --max-moves 5% --out new.json[/cyan]

    Example: [cyan]bayplan rebalance model.txt --start assignment.txt --objective gmrp --seconds 60 --out new.txt[/cyan]
    """
    expect_files(out, report, file, start)
    with working(f"rebalancing {file}", quiet=quiet) as progress:
        from bayplan.api.decide import budget_for, chosen, decide, write_decision
        from bayplan.api.inspect import load
        from bayplan.api.wishes import Wishes, problem_of
        from bayplan.decide.rebalance import REBALANCERS, RebalanceOptions

        if not (0 < delta <= 0.5 and 0 <= safety <= 1 and target == target):
            raise UsageError(f"--delta {delta} --safety {safety} --target {target}: expected 0 < delta <= 0.5, 0 <= safety <= 1")
        rebalancer, options = chosen(REBALANCERS, method), RebalanceOptions(delta=delta, safety=safety, target=target)
        wishes = Wishes(objective=objective, weights=weight or (), max_moves=max_moves, freeze=freeze or ())
        snapshot = load(file, start)
        note(snapshot.notes, quiet=quiet)
        problem = problem_of(snapshot, wishes)
        budget = budget_for(snapshot, seconds=seconds, used=clock.seconds(), threads=threads)
        decision = decide(
            snapshot, problem, lambda asked: rebalancer(asked, options, budget=budget, seed=seed, progress=progress)
        )
        command = command_line(f"rebalance {file}", method=method, seconds=seconds, seed=seed, start=start)
        write_decision(decision, out=out, report=report, command=command)
    say(decision, method=method, seed=seed, placed=decision.placed, as_json=json)
