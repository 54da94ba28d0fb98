"""`bayplan collocate`"""

from typing import TYPE_CHECKING

import typer

from bayplan.cli import clock, screen
from bayplan.cli import collocate_options as wish
from bayplan.cli.decision import Out, Report, Seconds, Threads, expect_files
from bayplan.cli.exits import ANSWER_IS_NO
from bayplan.cli.options import File, Json, Quiet, Seed, Start
from bayplan.cli.outputs import command_line
from bayplan.cli.terminal import note, warn, working

if TYPE_CHECKING:
    from bayplan.model import Placement, Result
    from bayplan.model.problem import Problem


def collocate(
    file: File,
    method: wish.Method = "best",
    seconds: Seconds = 60.0,
    seed: Seed = 0,
    start: Start = None,
    threads: Threads = 1,
    partition: wish.Partition = "multi-stage",
    select: wish.Select = "gcn",
    masters: wish.Masters = None,
    trivial: wish.Trivial = "refit",
    move_price: wish.MovePrice = 0.0,
    max_moves: wish.MaxMoves = None,
    min_gain: wish.MinGain = "0",
    freeze: wish.Freeze = None,
    priority: wish.Priority = None,
    weight: wish.Weights = None,
    bound: wish.Bound = False,
    engine: wish.Engine = "pool",
    out: Out = None,
    report: Report = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Bring services that talk to each other onto the same machines, so that their traffic stays there.

    Gained affinity is the share of all traffic that can stay inside of machines. No rule is broken that was not broken before.
    Ctrl-C keeps the best so far. Moves are counted from the placement in the input, or from --start.

    Methods:

    - best: anneals, puts machines of many answers together by an integer program, anneals on; knows prices and caps of moves

    - rasa: parts the services, solves each part by integer program or column generation, puts the answers together

    - mip: the integer program of the whole cluster

    - column-generation: patterns of the whole cluster, machine type by machine type, then whole numbers of them

    - pop: parts of the same size at random, an integer program each

    - k8s-plus: container by container, on the machine where it gains most; as a scheduler does it

    - applsci19: services that talk most are grouped, then groups are packed

    - original: moves nothing; what the placement gains as it is

    Example: [cyan]bayplan collocate shop.yaml --seconds 10 --out new.json --report new.html[/cyan]

    Example: [cyan]bayplan collocate M3.json --max-moves 10% --min-gain 3% --freeze 'db-*' --priority 'checkout*=5'[/cyan]

    Example: [cyan]bayplan collocate M3.json --method rasa --trivial pinned --threads 2 --bound --json[/cyan]
    """
    expect_files(out, report, file, start)
    with working(f"collocating {file}", quiet=quiet) as progress:
        from bayplan.api.collocate import collocate as collocate_it
        from bayplan.api.collocate import shared, with_bound
        from bayplan.api.collocate_wishes import CollocateWishes, collocate_options, question_of, read_gain
        from bayplan.api.decide import budget_for, chosen, write_decision
        from bayplan.api.inspect import load
        from bayplan.decide.collocate import COLLOCATORS, CollocateOptions
        from bayplan.decide.collocate.partition import PARTITIONERS
        from bayplan.decide.collocate.select import SELECTORS
        from bayplan.engine import ENGINES

        collocator = chosen(COLLOCATORS, method)
        options = collocate_options(
            CollocateOptions(
                partition=partition,
                select=select,
                masters=masters,
                trivial=trivial,
                move_price=move_price,
                least_gain=read_gain(min_gain),
                bound=bound,
                engine=engine,
            ),
            {"partition": PARTITIONERS, "select": SELECTORS, "engine": ENGINES},
        )
        wishes = CollocateWishes(
            weights=weight or (),
            max_moves=max_moves,
            freeze=freeze or (),
            priority=priority or (),
            move_price=move_price,
        )
        snapshot = load(file, start)
        question = question_of(snapshot, wishes, method)
        note((*snapshot.notes, *question.notes), quiet=quiet)
        budget = budget_for(snapshot, seconds=seconds, used=clock.seconds(), threads=threads)
        left, part = budget.clock(), shared(budget, bound)

        def ask(problem: "Problem") -> "Result[Placement]":
            found = collocator(problem, options, budget=part, seed=seed, progress=progress)
            return with_bound(problem, found, clock=left, progress=progress) if bound else found

        collocation = collocate_it(question, ask)
        line = command_line(
            f"collocate {file}",
            method=method,
            seconds=seconds,
            seed=seed,
            start=start,
            threads=threads,
            max_moves=max_moves,
            move_price=move_price or None,
        )
        write_decision(collocation.decision, out=out, report=report, command=line)
    if collocation.decision.interrupted:
        warn("interrupted: this is the best so far")
    screen.collocation(collocation, method=method, seed=seed, wall=clock.seconds(), as_json=json)
    if collocation.decision.result.solution is None:
        raise typer.Exit(ANSWER_IS_NO)
