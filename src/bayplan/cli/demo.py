"""`bayplan demo`"""

from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli import clock, screen
from bayplan.cli.options import Json, Quiet, Seed
from bayplan.cli.terminal import working

Folder = Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where snapshot, picture and reports go.")]


def demo(out: Folder = Path("bayplan-demo"), seed: Seed = 0, json: Json = False, quiet: Quiet = False) -> None:
    """Show bayplan on a small web shop: its state, its faults; containers placed and rebalanced, and a safe order to move them.

    Example: [cyan]bayplan demo --out demo[/cyan]
    """
    with working("preparing the demo (kernels are compiled the first time)", quiet=quiet):
        from bayplan.collect import write, write_placement
        from bayplan.collect.document.text import make_folder
        from bayplan.flows.inspect import inspect
        from bayplan.flows.migrate import write_route
        from bayplan.flows.migrate_report import write_plan_page
        from bayplan.flows.report import write_comparison, write_picture, write_report
        from bayplan.flows.tour import ALIVE, road, tour
        from bayplan.generate.boutique import boutique
        from bayplan.score.duration import StepCosts
        from bayplan.score.explain import explain

        snapshot = boutique(seed=seed)
        inspection = inspect(snapshot)
        snapshot_file, picture, page = out / "boutique.json", out / "bay-plan.svg", out / "report.html"
        placement_file, after_page = out / "placement.json", out / "before-after.html"
        plan_file, plan_page = out / "plan.json", out / "plan.html"
        make_folder(out)
        write(snapshot_file, snapshot)
        write_picture(picture, snapshot)
        write_report(page, inspection, command="bayplan demo")
        placed, moved = tour(snapshot, seed=seed)
        after = inspect(moved.after, snapshot.placement)
        write_placement(placement_file, snapshot.cluster, moved.after.placement)
        write_comparison(after_page, snapshot, after, command="bayplan demo")
        route = road(snapshot, moved.after, seed=seed)
        write_route(route, out=plan_file, back=None)
        write_plan_page(plan_page, route, StepCosts(), command="bayplan demo")
    files = {
        "snapshot": str(snapshot_file),
        "bay plan": str(picture),
        "report": str(page.resolve()),
        "placement": str(placement_file),
        "before and after": str(after_page.resolve()),
        "plan": str(plan_file),
        "order of moves": str(plan_page.resolve()),
    }
    if json:
        screen.say_object({"seed": seed, "valid": not inspection.violations, "files": files})
        return
    screen.show(inspection)
    waiting = snapshot.placement.unplaced
    chosen = int(waiting[0]) if len(waiting) else 0
    screen.explain(explain(snapshot.cluster, snapshot.placement, chosen, objective=snapshot.objective))
    for title, decision, method in (("place", placed, "best"), ("rebalance", moved, "search")):
        print(f"\nbayplan {title}")
        screen.decision(decision, method=method, seed=seed, placed=decision.placed, wall=clock.seconds())
    print(f"\nbayplan migrate --alive {ALIVE}")
    screen.route(route, method="waves", seed=seed, wall=clock.seconds(), files={})
    width = max(map(len, files))
    print("\n".join(f"{what:{width}} {file}" for what, file in files.items()))
