"""`bayplan demo`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayplan.cli import clock, schedule_screen, screen
from bayplan.cli.options import Json, Quiet, Seed
from bayplan.cli.terminal import working

if TYPE_CHECKING:
    from bayplan.flows.admit import Admitted
    from bayplan.flows.decide import Decision
    from bayplan.flows.inspect import Inspection
    from bayplan.flows.migrate import Route
    from bayplan.flows.tour import Stop

MOST_MOVES = "25%"  # of the larger cluster: most of what there is to gain takes few moves

ARRIVALS = {"zones": 3, "members_most": 4, "slots": 24, "count": 60}  # a small stream, more than fits
TIMED, MACHINES = 2000, 10  # timed requests, three times what so many machines have

Folder = Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where snapshot, picture and reports go.")]
Each = Annotated[float, typer.Option("--seconds", min=0, help="How long to search for services that should share machines.")]


def demo(
    out: Folder = Path("bayplan-demo"), seed: Seed = 0, seconds: Each = 6.0, json: Json = False, quiet: Quiet = False
) -> None:
    """Show bayplan on a small web shop: its state, its faults; containers placed, rebalanced, collocated; safe orders of moves.

    Then the same for a generated cluster of 96 machines and 3,485 containers: its services are brought together, a quarter
    of the containers moves at most, and every step on the way is checked. At last, groups of containers that arrive one after
    the other are let in or refused, by prices, and of timed requests those are served that are worth most.

    Example: [cyan]bayplan demo --out demo[/cyan]
    """
    with working("preparing the demo (kernels are compiled the first time)", quiet=quiet):
        from bayplan.collect import write, write_placement
        from bayplan.collect.document.text import make_folder
        from bayplan.flows.inspect import inspect
        from bayplan.flows.migrate import write_route
        from bayplan.flows.migrate_report import write_plan_page
        from bayplan.flows.report import write_comparison, write_picture, write_report
        from bayplan.flows.tour import brought_together, let_in, road, tour, write_let_in, write_stop
        from bayplan.flows.tour_requests import served, write_served_requests
        from bayplan.generate.boutique import boutique
        from bayplan.generate.container_clusters import container_clusters
        from bayplan.generate.rasa import rasa_m3
        from bayplan.generate.requests import requests
        from bayplan.score.duration import StepCosts

        command, snapshot = "bayplan demo", boutique(seed=seed)
        inspection = inspect(snapshot)
        snapshot_file, picture, page = out / "boutique.json", out / "bay-plan.svg", out / "report.html"
        placement_file, after_page = out / "placement.json", out / "before-after.html"
        plan_file, plan_page = out / "plan.json", out / "plan.html"
        make_folder(out)
        write(snapshot_file, snapshot)
        write_picture(picture, snapshot)
        write_report(page, inspection, command=command)
        placed, moved = tour(snapshot, seed=seed)
        after = inspect(moved.after, snapshot.placement)
        write_placement(placement_file, snapshot.cluster, moved.after.placement)
        write_comparison(after_page, snapshot, after, command=command)
        route = road(snapshot, moved.after, seed=seed)
        write_route(route, out=plan_file, back=None)
        write_plan_page(plan_page, route, StepCosts(), command=command)
        large, placed_file = rasa_m3(seed=seed), out / "boutique-placed.json"
        write_placement(placed_file, snapshot.cluster, placed.after.placement)
        write(out / "rasa-m3.json", large)
        stops = {
            "boutique": brought_together(placed.after, seconds=seconds / 3, seed=seed),
            "rasa-m3": brought_together(large, seconds=seconds, seed=seed, max_moves=MOST_MOVES),
        }
        written = [write_stop(out, name, stop, command=command) for name, stop in stops.items()]
        admitted = let_in(container_clusters(**ARRIVALS, seed=seed), seed=seed)  # type: ignore[arg-type]  # whole numbers
        written.append(write_let_in(out, admitted, command=command))
        chosen = served(requests(n=TIMED, machines=MACHINES, load=3.0, weights="random", seed=seed), MACHINES)
        written.append(write_served_requests(out, chosen, command=command))
    files = {
        "snapshot": str(snapshot_file),
        "bay plan": str(picture),
        "report": str(page.resolve()),
        "placement": str(placement_file),
        "before and after": str(after_page.resolve()),
        "plan": str(plan_file),
        "order of moves": str(plan_page.resolve()),
        "placed, not moved": str(placed_file),
        "larger cluster": str(out / "rasa-m3.json"),
        **{what: file for some in written for what, file in some.items()},
    }
    if json:
        gained = {name: [stop.collocation.before, stop.collocation.after] for name, stop in stops.items()}
        accepted = {"accepted": admitted.accepted, "value": admitted.result.score["value"], "bound": admitted.result.bound}
        timed = {"served": chosen.figures.served, "value": chosen.figures.value, "bound": chosen.result.bound}
        answer = {"seed": seed, "valid": not inspection.violations, "affinity": gained, "admitted": accepted}
        screen.say_object({**answer, "scheduled": timed, "files": files})
        return
    _say_shop(inspection, placed, moved, route, seed)
    _say(f"boutique.json --start {placed_file.name}", "", stops["boutique"], seed)
    _say("rasa-m3.json", f" --max-moves {MOST_MOVES}", stops["rasa-m3"], seed)
    _say_admitted(admitted, seed)
    print(f"\nbayplan schedule requests.json --machines {MACHINES}")
    schedule_screen.scheduling(chosen, method="cradle+", seed=seed, wall=clock.seconds(), as_json=False)
    width = max(map(len, files))
    print("\n" + "\n".join(f"{what:{width}} {file}" for what, file in files.items()))


def _say_shop(inspection: "Inspection", placed: "Decision", moved: "Decision", route: "Route", seed: int) -> None:
    """The shop as it is, why a container stands where it does, and what placing, rebalancing and migrating do."""
    from bayplan.flows.tour import ALIVE
    from bayplan.score.explain import explain

    snapshot = inspection.snapshot
    screen.show(inspection)
    waiting = snapshot.placement.unplaced
    chosen = int(waiting[0]) if len(waiting) else 0
    screen.explain(explain(snapshot.cluster, snapshot.placement, chosen, objective=snapshot.objective))
    for title, decision, method in (("place", placed, "best"), ("rebalance", moved, "search")):
        print(f"\nbayplan {title}")
        screen.decision(decision, method=method, seed=seed, placed=decision.placed, wall=clock.seconds())
    print(f"\nbayplan migrate --alive {ALIVE}")
    screen.route(route, method="waves", seed=seed, wall=clock.seconds(), files={})


def _say(given: str, wish: str, stop: "Stop", seed: int) -> None:
    """What collocation gained, before beside after, and whether the way there is safe."""
    name = given.partition(".")[0]
    print(f"\nbayplan collocate {given}{wish}\nbayplan migrate {given} --to {name}-together.json")
    screen.stop(stop, seed=seed)


def _say_admitted(admitted: "Admitted", seed: int) -> None:
    """Who of those that arrived was let in, by which prices, and why others were not."""
    from bayplan.flows.admit import AdmitWishes

    print("\nbayplan admit stream.jsonl --bound")
    screen.admitted(admitted, method=AdmitWishes().method, seed=seed, wall=clock.seconds())
