"""What the commands that decide share: their options, where answers may go, and how they are shown."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from bayplan.cli.console import clock
from bayplan.cli.console.exits import ANSWER_IS_NO
from bayplan.cli.console.screen import print_object, print_report
from bayplan.cli.console.terminal import warn

if TYPE_CHECKING:
    from bayplan.api.answer import Answer

Seconds: TypeAlias = Annotated[
    float, typer.Option("--seconds", min=0, help="Wall time from the start of the command to its answer.")
]
Threads: TypeAlias = Annotated[int, typer.Option("--threads", min=1, help="How many threads may search.")]
Engine: TypeAlias = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Where independent parts run: 'pool' (processes, as many as --threads), 'here' (this one), 'ray' or 'ray:ADDRESS'.",
    ),
]
PlanEngine: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Where parts, starts, points of a front, and tries to empty machines run: 'pool' (processes, as many as --threads), "
        "'here' (this one), 'ray' or 'ray:ADDRESS'. By default 'pool' for parts, starts and fleets, else 'here'.",
        show_default=False,
    ),
]
Parts: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--parts",
        metavar="N",
        min=1,
        help="Solve N parts of the machines by themselves, then over their borders; by default above 200,000 containers.",
        show_default=False,
    ),
]
Starts: TypeAlias = Annotated[
    int,
    typer.Option(
        "--starts",
        metavar="N",
        min=1,
        help="Search by N walks on --engine, --threads of them at a time; they go on from the best few of all in turn.",
    ),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Write the placement, in the form of the input.", show_default=False),
]
Report: TypeAlias = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Also write an HTML report of before and after.", show_default=False),
]


def method_option(verb: str) -> Any:
    """The option `--method` of a verb, with completion."""

    def complete(incomplete: str) -> list[str]:
        from bayplan.api.registry import methods

        return [name for name in methods(verb) if name.startswith(incomplete)]

    return typer.Option("--method", "-m", metavar="NAME", help="How to decide; see above.", autocompletion=complete)


NEXT = {  # verb -> what to do with its answer
    **dict.fromkeys(("place", "rebalance", "collocate", "pack"), "bayplan migrate {file} --to {out}"),
    "pack --targets": "bayplan migrate {file} --to {out} --delete-missing",
    "migrate": "bayplan simulate {file} --plan {out}",
    "admit": "bayplan check {file} --accepted {out}",
}


def finish(
    answer: "Answer[Any]",
    *,
    file: Path,
    out: Path | None = None,
    report: Path | None = None,
    json: bool = False,
    following: str | None = "",
) -> None:
    """Write the files that were asked for, then print the answer; exit code 3 if there is none.

    `following`: which entry of `NEXT` says what to do with it; that of the verb if not given, none if None.
    """
    if answer.result.solution is not None:
        if out is not None:
            answer.save(out)
        if report is not None:
            answer.report(report, command=clock.command())
    after = "" if following is None else next_step(following or answer.verb, file, out)
    say(answer, files={"answer": out, "report": report}, json=json, following=after)


def say(answer: "Answer[Any]", *, files: dict[str, Path | None], json: bool, following: str = "") -> None:
    """The answer on stdout, then what to type next; on stderr whether it was cut short. Exit code 3 if there is none."""
    if answer.interrupted:
        warn("interrupted: this is the best so far")
    there = answer.result.solution is not None
    written = {kind: str(path) for kind, path in files.items() if path is not None and there}
    answer = replace(answer, seconds=clock.seconds(), files={**answer.files, **written})
    if json:
        print_object(answer.to_dict())
    else:
        from bayplan.report.table import Sentence, report

        print_report(answer.full_content() + report(Sentence(following if there else "", "soft")))
    if not there:
        raise typer.Exit(ANSWER_IS_NO)


def next_step(verb: str, file: Path, out: Path | None) -> str:
    """What to do with an answer that was written, or how to keep it."""
    if out is None:
        return "nothing was written: --out FILE keeps the answer, --report FILE shows it"
    command = NEXT.get(verb, "").format(file=shlex.quote(str(file)), out=shlex.quote(str(out)))
    return f"next: {command}" if command else ""
