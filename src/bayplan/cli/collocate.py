"""`bayplan collocate`"""

from bayplan.cli.console import clock
from bayplan.cli.console.decision import Engine, Out, Parts, Report, Seconds, Starts, Threads, finish
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.terminal import note, working
from bayplan.cli.options import collocate as option
from bayplan.cli.options.shared import File, Json, Quiet, SearchSeed, Start, pairs, share


def collocate(
    file: File,
    method: option.Method = "best",
    seconds: Seconds = 60.0,
    seed: SearchSeed = 0,
    start: Start = None,
    threads: Threads = 1,
    parts: Parts = None,
    starts: Starts = 1,
    partition: option.Partition = "multi-stage",
    select: option.Select = "gcn",
    masters: option.Masters = None,
    trivial: option.Trivial = "refit",
    move_price: option.MovePrice = 0.0,
    max_moves: option.MaxMoves = None,
    min_gain: option.MinGain = "0",
    freeze: option.Freeze = None,
    priority: option.Priority = None,
    weight: option.Weights = None,
    ignore_safety: option.IgnoreSafety = False,
    bound: option.Bound = False,
    engine: Engine = "pool",
    out: Out = None,
    report: Report = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Bring workloads that talk to each other onto the same machines, so that their traffic can stay there.

    Gained affinity is the share of all traffic that can stay on one machine. No rule is violated that was not violated before.
    Ctrl-C keeps the best so far. Moves are counted from the placement in the input, or from --start.

    Methods:

    - best: anneals, merges machines of many answers by an integer program, anneals on; knows prices and caps of moves

    - rasa: partitions the workloads, solves each subproblem by integer program or column generation, merges the answers

    - mip: the integer program of the whole cluster

    - column-generation: patterns of the whole cluster, machine type by machine type, then whole numbers of them

    - pop: parts of the same size at random, an integer program each

    - k8s-plus: container by container, on the machine where it gains most; as a scheduler does it

    - applsci19: workloads that talk most are grouped, then groups are packed

    - original: moves nothing; what the placement gains as it is

    Example: [cyan]bayplan collocate shop.yaml --seconds 10 --out new.json --report new.html[/cyan]

    Example: [cyan]bayplan collocate rasa.json --max-moves 50% --min-gain 3% --freeze 'mail*' --priority 'cart*=5'[/cyan]

    Example: [cyan]bayplan collocate rasa.json --method rasa --trivial pinned --threads 2 --bound --json[/cyan]
    """
    expect_outputs({"--out": out, "--report": report}, file, start)
    with working(f"collocating {file}", quiet=quiet) as progress:
        import bayplan as bp

        snapshot = bp.read(file, start)
        answer = bp.collocate(
            snapshot,
            method=method,
            seconds=clock.left(seconds),
            seed=seed,
            weights=pairs(weight, "--weight", "TERM=VALUE"),
            max_moves=max_moves,
            freeze=freeze or (),
            priority=pairs(priority, "--priority", "NAME=X, NAME a workload or a pattern such as 'web-*'"),
            partition=partition,
            select=select,
            masters=masters,
            trivial=trivial,
            move_price=move_price,
            least_gain=share(min_gain, f"--min-gain '{min_gain}'"),
            bound=bound,
            engine=engine,
            safety=not ignore_safety,
            threads=threads,
            parts=parts,
            starts=starts,
            progress=progress,
        )
        note(answer.input_notes, quiet=quiet)
    finish(answer, file=file, out=out, report=report, json=json)
