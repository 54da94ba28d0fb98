"""What goes to stdout: one JSON object, or tables for people."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from bayplan.flows.inspect import Inspection
    from bayplan.score.explain import Explanation


def show(inspection: "Inspection", *, as_json: bool = False) -> None:
    """The state of a cluster in numbers, and whether it is valid."""
    from bayplan.report import json, tables

    if as_json:
        verdict = {"valid": not inspection.violations, "broken": len(inspection.violations)}
        print(json.to_json({**json.show_object(inspection.summary), **verdict}))
    else:
        _print(tables.show_tables(inspection.summary, inspection.snapshot.cluster.resources))
        check(inspection)


def check(inspection: "Inspection", *, as_json: bool = False) -> None:
    """The verdict, and one sentence per broken rule."""
    from bayplan.report import json, tables

    if as_json:
        print(json.to_json(json.check_object(inspection.snapshot.cluster.name, inspection.violations)))
    else:
        _print(tables.check_tables(inspection.violations))


def explain(explanation: "Explanation", *, as_json: bool = False) -> None:
    """Why a container is where it is."""
    from bayplan.report import json, tables

    if as_json:
        print(json.to_json(json.explain_object(explanation)))
    else:
        _print(tables.explain_tables(explanation))


def _print(renderables: Iterable["RenderableType"]) -> None:
    from rich.console import Console

    console = Console()
    for renderable in renderables:
        console.print(renderable)
