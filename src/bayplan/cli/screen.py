"""The answer of a command: one JSON object or tables for people, on stdout or in a file."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bayplan.api.inspect import Inspection
    from bayplan.api.judge import Judged
    from bayplan.report.table import Report
    from bayplan.score.explain import Explanation, WorkloadExplanation

FILE_WIDTH = 120  # columns of a table that goes to a file


def show(inspection: "Inspection", *, as_json: bool = False, out: Path | None = None) -> None:
    """The state of a cluster in numbers, and whether it is valid."""
    from bayplan.report import json
    from bayplan.report.answers.placement_tables import show_report

    if as_json:
        verdict = {"valid": not inspection.violations, "broken": len(inspection.violations)}
        print_object({**json.show_object(inspection.state), **verdict}, out)
    else:
        print_report(show_report(inspection.state, inspection.snapshot.cluster.resources, inspection.violations), out)


def check(inspection: "Inspection", *, as_json: bool = False, out: Path | None = None) -> None:
    """The verdict, and one sentence per broken rule, each on a line of its own."""
    from bayplan.report import json
    from bayplan.report.names import printable
    from bayplan.report.violations import verdict

    if as_json:
        print_object(json.check_object(inspection.state, inspection.violations), out)
    else:
        lines = [verdict(inspection.violations), *map(str, inspection.violations)]
        _say("".join(f"{printable(line)}\n" for line in lines), out)


def judged(judged: "Judged", *, as_json: bool = False, out: Path | None = None) -> None:
    """The verdict on an answer with requests, its scores, and one sentence per broken rule."""
    from bayplan.report.amounts import score
    from bayplan.report.json import plain
    from bayplan.report.names import printable
    from bayplan.report.violations import verdict

    if as_json:
        answer = {"name": judged.name, "valid": not judged.violations, "broken": len(judged.violations), "score": judged.score}
        print_object({**answer, "violations": plain(judged.violations), "skipped": judged.skipped}, out)
        return
    scores = ", ".join(f"{name} {score(value)}" for name, value in judged.score.items())
    lines = [verdict(judged.violations), *(violation.sentence for violation in judged.violations), scores]
    _say("".join(f"{printable(line)}\n" for line in lines), out)


def explain(explanation: "Explanation | WorkloadExplanation", *, as_json: bool = False, out: Path | None = None) -> None:
    """Why a container is where it is."""
    from bayplan.report import json
    from bayplan.report.answers.explain_tables import explain_report

    if as_json:
        print_object(json.explain_object(explanation), out)
    else:
        print_report(explain_report(explanation), out)


def print_object(answer: Mapping[str, object], out: Path | None = None) -> None:
    """One JSON object on one line."""
    from bayplan.report.json import to_json

    _say(f"{to_json(answer)}\n", out)


def print_report(report: "Report", out: Path | None = None) -> None:
    """Facts and tables for people."""
    from bayplan.report.terminal import rendered

    _say_tables(rendered(report), out)


def _say_tables(renderables: Iterable["RenderableType"], out: Path | None) -> None:
    from rich.console import Console

    console = Console() if out is None else Console(width=FILE_WIDTH, color_system=None)
    with console.capture() as capture:
        for renderable in renderables:
            console.print(renderable)
    _say(capture.get(), out)


def _say(text: str, out: Path | None) -> None:
    if out is None:
        sys.stdout.write(text)
    else:
        from bayplan.formats.document.text import write_text_atomically

        write_text_atomically(out, text)
