"""`bayplan admit`"""

from typing import TYPE_CHECKING

from bayplan.cli import admit_options as wish
from bayplan.cli import clock, screen
from bayplan.cli.decision import Seconds
from bayplan.cli.options import Json, Quiet, Seed
from bayplan.cli.outputs import command_line, expect_files
from bayplan.cli.terminal import note, warn, working

if TYPE_CHECKING:
    from bayplan.formats.streams import Stream


def admit(
    file: wish.StreamFile,
    method: wish.Method = "learned",
    oneshot: wish.OneShot = None,
    value_ratio: wish.ValueRatio = None,
    alpha: wish.Alpha = None,
    slot: wish.Slot = 1.0,
    slots: wish.Slots = None,
    epsilon: wish.Epsilon = None,
    samples: wish.Samples = None,
    literal: wish.Literal = False,
    bound: wish.Bound = False,
    zones: wish.ZonesFile = None,
    keep_going: wish.KeepGoing = False,
    seconds: Seconds = 30.0,
    seed: Seed = 0,
    out: wish.Out = None,
    report: wish.Report = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Accept and place, or refuse, clusters of containers as they arrive, so that what is accepted is worth most.

    A request is a group of containers that talk, with a start, an end and a value. It is decided when it arrives, without a look
    at those that come later. Zones and links are never over capacity at any time. What was decided before Ctrl-C counts.

    Methods:

    - learned: as primal-dual, with prices on the level that would have earned most so far

    - primal-dual: every zone and link has a price that grows with its load; a request is let in if it is worth its cost

    - available: whatever fits is let in, as one does without prices

    - swmoa: prices of another published method, steeper and without a look at the one-shot ratio

    - offline: the best answer if all requests were known from the start, proven where the seconds suffice

    One-shot methods, for the members of one request:

    - local: greedy, then members change places while that helps

    - greedy: member by member into the cheapest zone that has room; microseconds

    - sampling: linear programs around all placements of a few members, rounded; with a guarantee for one resource

    - exact: the cheapest placement, by branch and bound

    - nscd: all members into one zone, the cheapest that holds them

    Example: [cyan]bayplan admit stream.jsonl --out accepted.json --report admitted.html[/cyan]

    Example: [cyan]bayplan admit stream.jsonl --method primal-dual --value-ratio 50 --alpha 2 --bound --json[/cyan]

    Example: [cyan]bayplan admit stream.csv --zones admission.json --method available --keep-going[/cyan]
    """
    expect_files(out, report, file, zones)
    with working(f"admitting {file}", quiet=quiet) as progress:
        from bayplan.api import admit as flow
        from bayplan.api.admit_report import write_admit_page
        from bayplan.api.compiling import compiled
        from bayplan.kernels.admit.warmup import warm_up

        wishes = flow.AdmitWishes(
            method=method,
            oneshot=oneshot,
            value_ratio=value_ratio,
            alpha=alpha,
            slot=slot,
            slots=slots,
            epsilon=epsilon,
            samples=samples,
            literal=literal,
            bound=bound,
        )
        options = flow.options_of(wishes)
        stream = flow.load(file, zones, keep_going=keep_going)
        _say_skipped(stream, quiet=quiet)
        compiling = compiled(warm_up)
        budget = flow.budget_for(stream, seconds=seconds, used=clock.seconds() - compiling)
        admitted = flow.admit(stream, wishes, options, budget=budget, seed=seed, progress=progress)
        flow.write_acceptance(admitted, out)
        if report is not None:
            given = {"oneshot": oneshot, "value_ratio": value_ratio, "alpha": alpha, "slots": slots, "zones": zones}
            sampled = {"epsilon": epsilon, "samples": samples}
            flags = {"literal": literal, "bound": bound, "keep-going": keep_going}
            line = command_line(f"admit {file}", method=method, slot=slot, seconds=seconds, seed=seed, **given, **sampled)
            line = " ".join([line, *(f"--{flag}" for flag, said in flags.items() if said)])
            write_admit_page(report, admitted, name=file.name, method=method, command=line)
    if admitted.interrupted:
        warn("interrupted: what was decided before counts")
    screen.admitted(admitted, method=method, seed=seed, wall=clock.seconds(), as_json=json)


def _say_skipped(stream: "Stream", *, quiet: bool) -> None:
    """How many requests were left out, and what is wrong with them."""
    if not stream.skipped:
        return
    from bayplan.errors import summary

    warn(f"{stream.skipped} requests left out because of their faults")
    note(summary(stream.faults), quiet=quiet)
