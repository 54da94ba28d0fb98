"""`bayplan admit`"""

from dataclasses import replace
from typing import TYPE_CHECKING

from bayplan.cli.console import clock
from bayplan.cli.console.decision import Seconds, finish
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.terminal import note, warn, working
from bayplan.cli.options import admit as option
from bayplan.cli.options.shared import Json, Quiet, SearchSeed, file_stem

if TYPE_CHECKING:
    from bayplan.formats.streams import Stream


def admit(
    file: option.StreamFile,
    method: option.Method = "learned",
    one_shot: option.OneShot = None,
    value_ratio: option.ValueRatio = None,
    alpha: option.Alpha = None,
    slot: option.Slot = 1.0,
    slots: option.Slots = None,
    epsilon: option.Epsilon = None,
    samples: option.Samples = None,
    literal: option.Literal = False,
    bound: option.Bound = False,
    zones: option.ZonesFile = None,
    keep_going: option.KeepGoing = False,
    seconds: Seconds = 30.0,
    seed: SearchSeed = 0,
    out: option.Out = None,
    report: option.Report = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Accept and place, or refuse, clusters of containers as they arrive, so that the accepted ones are worth most.

    A request is a group of containers that talk, with a start, an end and a value. It is decided when it arrives, without
    knowing those that come later. Zones and links are never over capacity at any time. What was decided before Ctrl-C counts.

    Methods:

    - learned: as primal-dual, with prices on the level that would have earned most so far

    - primal-dual: every zone and link has a price that grows with its load; a request is accepted if it is worth its cost

    - available: every request that fits is accepted, as without prices

    - swmoa: prices of another published method, steeper, and the same for all one-shot methods

    - offline: the best answer if all requests were known from the start, proven where there is time

    One-shot methods, for the members of one request:

    - local: greedy, then members change places while that helps

    - greedy: member by member into the cheapest zone where it fits; microseconds

    - sampling: linear programs around all placements of a few members, rounded; with a guarantee for one resource

    - exact: the cheapest placement, by branch and bound

    - nscd: all members into one zone, the cheapest that holds them

    Example: [cyan]bayplan admit stream.jsonl --out accepted.json --report admitted.html[/cyan]

    Example: [cyan]bayplan admit stream.jsonl --method primal-dual --value-ratio 50 --alpha 2 --bound --json[/cyan]

    Example: [cyan]bayplan admit stream.csv --zones admission.json --method available --keep-going[/cyan]
    """
    expect_outputs({"--out": out, "--report": report}, file, zones)
    with working(f"admitting {file}", quiet=quiet) as progress:
        import bayplan as bp

        stream = bp.read_stream(file, zones, keep_going=keep_going)
        _say_skipped(stream, quiet=quiet)
        answer = bp.admit(
            stream,
            method=method,
            seconds=clock.left(seconds),
            seed=seed,
            one_shot=one_shot,
            value_ratio=value_ratio,
            alpha=alpha,
            slot=slot,
            bound=bound,
            slots=slots,
            epsilon=epsilon,
            samples=samples,
            literal=literal,
            progress=progress,
        )
    finish(replace(answer, name=file_stem(file, "stream")), file=file, out=out, report=report, json=json)


def _say_skipped(stream: "Stream", *, quiet: bool) -> None:
    """How many requests were left out, and what is wrong with them."""
    if not stream.skipped:
        return
    from bayplan.errors import summary

    warn(f"{stream.skipped} requests left out because of their faults")
    note(summary(stream.faults), quiet=quiet)
