"""What the commands that decide share: their options, and how they show their answer."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from bayplan.cli import clock, screen
from bayplan.cli.exits import ANSWER_IS_NO
from bayplan.cli.outputs import a_file, spare
from bayplan.cli.terminal import warn

if TYPE_CHECKING:
    from bayplan.api.decide import Decision

Seconds: TypeAlias = Annotated[
    float, typer.Option("--seconds", min=0, help="Wall time from the start of the command to its answer.")
]
Threads: TypeAlias = Annotated[int, typer.Option("--threads", min=1, help="How many threads may search.")]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Write the placement, in the form of the input.", show_default=False),
]
Report: TypeAlias = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Also write an HTML report of before and after.", show_default=False),
]


def expect_files(out: Path | None, report: Path | None, *inputs: Path | None) -> None:
    """UsageError if an answer would go to stdout, or over an input."""
    for output, option in ((out, "--out"), (report, "--report")):
        a_file(output, option)
        spare(output, option, *inputs)


def say(decision: "Decision", *, method: str, seed: int, placed: int, as_json: bool) -> None:
    """The answer on stdout; on stderr whether it was cut short. Exit code 3 if there is none."""
    if decision.interrupted:
        warn("interrupted: this is the best so far")
    screen.decision(decision, method=method, seed=seed, placed=placed, wall=clock.seconds(), as_json=as_json)
    if decision.result.solution is None:
        raise typer.Exit(ANSWER_IS_NO)
