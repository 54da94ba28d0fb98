"""`bayplan explain`"""

from typing import Annotated

import typer

from bayplan.cli import screen
from bayplan.cli.options import File, Json, Out, Quiet, Start
from bayplan.cli.outputs import spare
from bayplan.cli.terminal import note, working

Container = Annotated[str, typer.Argument(metavar="CONTAINER", help="The container's name.", show_default=False)]


def explain(
    file: File, container: Container, start: Start = None, out: Out = None, json: Json = False, quiet: Quiet = False
) -> None:
    """Say why a container is where it is, which machines could take it, and what blocks the others.

    Example: [cyan]bayplan explain shop.yaml frontend-0[/cyan]
    """
    spare(out, "--out", file, start)
    with working(f"reading {file}", quiet=quiet):
        from bayplan.api.inspect import container_index, load
        from bayplan.score.explain import explain as explanation_of

        snapshot = load(file, start)
        note(snapshot.notes, quiet=quiet)
        index = container_index(snapshot.cluster, container)
        explanation = explanation_of(snapshot.cluster, snapshot.placement, index, objective=snapshot.objective)
    screen.explain(explanation, as_json=json, out=out)
