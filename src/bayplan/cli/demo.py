"""`bayplan demo`"""

from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli import screen
from bayplan.cli.options import Json, Quiet, Seed
from bayplan.cli.terminal import working

Folder = Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the snapshot, the picture and the report go.")]


def demo(out: Folder = Path("bayplan-demo"), seed: Seed = 0, json: Json = False, quiet: Quiet = False) -> None:
    """Show bayplan on a small web shop: its state, its faults, one explanation, and its bay plan.

    Example: [cyan]bayplan demo --out demo[/cyan]
    """
    with working("preparing the demo", quiet=quiet):
        from bayplan.collect import write
        from bayplan.collect.document.text import make_folder
        from bayplan.flows.inspect import inspect
        from bayplan.flows.report import write_picture, write_report
        from bayplan.generate.boutique import boutique
        from bayplan.score.explain import explain

        snapshot = boutique(seed=seed)
        inspection = inspect(snapshot)
        snapshot_file, picture, page = out / "boutique.json", out / "bay-plan.svg", out / "report.html"
        make_folder(out)
        write(snapshot_file, snapshot)
        write_picture(picture, snapshot)
        write_report(page, inspection, command="bayplan demo")
    files = {"snapshot": str(snapshot_file), "bay plan": str(picture), "report": str(page.resolve())}
    if json:
        screen.say_object({"seed": seed, "valid": not inspection.violations, "files": files})
        return
    screen.show(inspection)
    waiting = snapshot.placement.unplaced
    chosen = int(waiting[0]) if len(waiting) else 0
    screen.explain(explain(snapshot.cluster, snapshot.placement, chosen, objective=snapshot.objective))
    print("\n".join(f"{what:9} {file}" for what, file in files.items()))
