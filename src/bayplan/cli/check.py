"""`bayplan check`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from bayplan.cli.console import clock
from bayplan.cli.console.exits import ANSWER_IS_NO
from bayplan.cli.console.outputs import expect_outputs
from bayplan.cli.console.screen import print_lines, print_object
from bayplan.cli.console.terminal import note, warn, working
from bayplan.cli.options.schedule import Capacity, FleetFile, Horizon, Machines
from bayplan.cli.options.schedule_input import read_input, text_pairs
from bayplan.cli.options.shared import File, Json, Out, Quiet, Report, Start
from bayplan.errors import UsageError

if TYPE_CHECKING:
    from bayplan.api.check import CheckResult

Checked: TypeAlias = "tuple[CheckResult, tuple[str, ...]]"  # and notes about the input
PlacementFile = Annotated[
    Path | None,
    typer.Option(
        "--placement", metavar="FILE", help="Check this placement; the input's own is then where containers ran before."
    ),
]
Accepted = Annotated[
    Path | None,
    typer.Option("--accepted", metavar="FILE", help="Check this answer of `admit`; the input holds zones and requests."),
]
ZonesFile = Annotated[
    Path | None,
    typer.Option("--zones", metavar="FILE", help="With --accepted: the zones of a stream that has none of its own."),
]
Served = Annotated[
    Path | None,
    typer.Option("--served", metavar="FILE", help="Check this answer of `schedule`; the input holds timed requests."),
]


def check(
    file: File,
    placement: PlacementFile = None,
    accepted: Accepted = None,
    zones: ZonesFile = None,
    served: Served = None,
    machines: Machines = None,
    fleet: FleetFile = None,
    capacity: Capacity = None,
    horizon: Horizon = None,
    start: Start = None,
    report: Report = None,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a placement: every violated rule, one sentence each. Exit code 3 if there is any.

    With --placement, the rules about moves (transient, pinned, nothing lost) are checked too, and --report shows
    before and after side by side. With --accepted, an answer of `admit` is checked: does it fit zones and links at all times?

    With --served, one of `schedule`, on the machines that are stated as there: is no machine over capacity at any time?

    Example: [cyan]bayplan check shop.yaml --placement placement.json[/cyan]

    Example: [cyan]bayplan check requests.json --served served.json --machines 1[/cyan]

    Example: [cyan]bayplan check stream.jsonl --accepted accepted.json[/cyan]
    """
    expect_outputs({"--report": report}, file, start, placement)
    expect_outputs({"--out": out}, file, start, placement, accepted, zones, served, fleet, stdout=True)
    of_placements = {"--placement": placement, "--start": start, "--report": report}
    of_streams, of_schedules = {"--zones": zones}, {"--machines": machines, "--fleet": fleet, "--capacity": capacity}
    with working(f"checking {file}", quiet=quiet):
        if served is not None:
            _expect_none("--served", **of_placements, **of_streams, **{"--accepted": accepted})
            stated = {"machines": machines, "fleet": fleet, "horizon": horizon}
            result, notes = _served(file, served, text_pairs(capacity, "--capacity", "NAME=AMOUNT"), stated)
        elif accepted is not None:
            _expect_none("--accepted", **of_placements, **of_schedules, **{"--horizon": horizon})
            result, notes = _accepted(file, accepted, zones)
        else:
            _expect_with("--accepted", **of_streams)
            _expect_with("--served", **of_schedules, **{"--horizon": horizon})
            result, notes = _placement(file, placement, start, report)
    note(notes, quiet=quiet)
    if json:
        print_object(result.to_dict(), out)
    else:
        print_lines(result.lines(), out)
    if not result:
        raise typer.Exit(ANSWER_IS_NO)


def _placement(file: Path, placement: Path | None, start: Path | None, report: Path | None) -> Checked:
    import bayplan as bp
    from bayplan.api.files import started_from
    from bayplan.api.inspect import inspect, write_comparison, write_report

    snapshot = bp.read(file, start)
    after = started_from(snapshot, placement)
    before = None if placement is None else snapshot.placement
    if report is not None and placement is None:
        write_report(report, inspect(after), command=clock.command())
    elif report is not None:
        write_comparison(report, snapshot, inspect(after, before=before), command=clock.command())
    return bp.check(after, before=before), snapshot.notes


def _accepted(file: Path, answer: Path, zones: Path | None) -> Checked:
    """Requests with faults are left out: they cannot have been accepted."""
    import bayplan as bp
    from bayplan.api.check import check_accepted
    from bayplan.api.files import read_accepted

    stream = bp.read_stream(file, zones, keep_going=True)
    result = check_accepted(stream, read_accepted(answer, stream), name=file.name)
    if result.skipped:
        warn(f"{result.skipped} requests left out because of their faults")
    return result, ()


def _served(file: Path, answer: Path, capacity: dict[str, str], stated: dict[str, Any]) -> Checked:
    from bayplan.api.check import check_served
    from bayplan.api.files import read_served
    from bayplan.api.requests.timed_problem import timed_problem

    timed = read_input(file, **stated)
    problem = timed_problem(timed, stated["machines"], capacity=capacity)
    schedule = read_served(answer, problem.requests)
    return check_served(problem.requests, schedule, problem.fleet, name=file.name), timed.notes


def _expect_none(option: str, **others: object) -> None:
    """UsageError if an option was given that `option` makes no sense with."""
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise UsageError(f"{option} and {' and '.join(given)} exclude each other; expected one of them")


def _expect_with(option: str, **others: object) -> None:
    """UsageError if an option was given that needs `option`."""
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise UsageError(f"{' and '.join(given)} goes with {option} FILE; expected both")
