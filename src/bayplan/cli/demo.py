"""`bayplan demo`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from bayplan.cli import screen
from bayplan.cli.options import Json, Quiet, Seed
from bayplan.cli.terminal import working

if TYPE_CHECKING:
    from bayplan.api.admit import AdmissionAnswer
    from bayplan.api.inspect import Inspection
    from bayplan.api.migrate import MigrationAnswer
    from bayplan.api.placement import PlacementAnswer
    from bayplan.api.schedule import ScheduleAnswer
    from bayplan.api.tour import Collocated

MOST_MOVES = "25%"  # of the larger cluster: most of what there is to gain takes few moves

ARRIVALS = {"zones": 3, "members_most": 4, "slots": 24, "count": 60}  # a small stream, more than fits
COMMAND, PLACED = "bayplan demo", "boutique-placed.json"
TIMED, MACHINES = 2000, 10  # timed requests, three times what so many machines have

Folder = Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where snapshot, picture and reports go.")]
Each = Annotated[float, typer.Option("--seconds", min=0, help="How long to search for services that should share machines.")]


def demo(
    out: Folder = Path("bayplan-demo"), seed: Seed = 0, seconds: Each = 6.0, json: Json = False, quiet: Quiet = False
) -> None:
    """Show bayplan on a small web shop: its state, its faults; containers placed, rebalanced, collocated; safe orders of moves.

    Then the same for a generated cluster of 96 machines and 3,485 containers: its services are brought together, a quarter
    of the containers moves at most, and every step on the way is checked. At last, groups of containers that arrive one after
    the other are accepted or refused, by prices, and of timed requests those are served that are worth most.

    Example: [cyan]bayplan demo --out demo[/cyan]
    """
    with working("preparing the demo (kernels are compiled the first time)", quiet=quiet):
        from bayplan.formats.document.text import make_folder

        make_folder(out)
        shop = _shop(out, seed)
        stops, together = _together(out, shop, seconds, seed)
        admitted, chosen, streams = _arrivals(out, seed)
    files = {**shop.files, **together, **streams}
    if json:
        gained = {name: [stop.answer.before["affinity"], stop.answer.score["affinity"]] for name, stop in stops.items()}
        accepted = {"accepted": admitted.accepted, "value": admitted.result.score["value"], "bound": admitted.result.bound}
        timed = {"served": chosen.figures.served, "value": chosen.figures.value, "bound": chosen.result.bound}
        answer = {"seed": seed, "valid": not shop.inspection.violations, "affinity": gained, "admitted": accepted}
        screen.print_object({**answer, "scheduled": timed, "files": files})
        return
    _say_shop(shop, seed)
    _say(f"boutique.json --start {PLACED}", "", stops["boutique"], seed)
    _say("rasa-m3.json", f" --max-moves {MOST_MOVES}", stops["rasa-m3"], seed)
    _say_admitted(admitted)
    print(f"\nbayplan schedule requests.json --machines {MACHINES}")
    screen.print_report(chosen.full_content())
    width = max(map(len, files))
    print("\n" + "\n".join(f"{what:{width}} {file}" for what, file in files.items()))


class Shop(NamedTuple):
    """The web shop: as it was, placed, rebalanced, the way there; and what was written of it."""

    inspection: "Inspection"
    placed: "PlacementAnswer"
    moved: "PlacementAnswer"
    route: "MigrationAnswer"
    files: dict[str, str]


def _shop(out: Path, seed: int) -> Shop:
    import bayplan as bp
    from bayplan.api.inspect import inspect, write_comparison, write_picture, write_report
    from bayplan.api.tour import plan_moves
    from bayplan.formats import write, write_placement
    from bayplan.generate.boutique import boutique

    steps = bp.Budget(iterations=50_000)
    snapshot = boutique(seed=seed)
    inspection = inspect(snapshot)
    write(snapshot, out / "boutique.json")
    write_picture(out / "bay-plan.svg", snapshot)
    write_report(out / "report.html", inspection, command=COMMAND)
    placed = bp.place(snapshot, seed=seed, budget=steps)
    moved = bp.rebalance(placed.after, seed=seed, budget=steps)
    write_placement(out / PLACED, snapshot.cluster, placed.after.placement)
    write_placement(out / "placement.json", snapshot.cluster, moved.after.placement)
    after = inspect(moved.after, before=snapshot.placement)
    write_comparison(out / "before-after.html", snapshot, after, command=COMMAND)
    route = plan_moves(snapshot, moved.after, seed=seed)
    route.save(out / "plan.json")
    route.report(out / "plan.html", command=COMMAND)
    files = {
        "snapshot": str(out / "boutique.json"),
        "bay plan": str(out / "bay-plan.svg"),
        "report": str((out / "report.html").resolve()),
        "placement": str(out / "placement.json"),
        "before and after": str((out / "before-after.html").resolve()),
        "plan": str(out / "plan.json"),
        "order of moves": str((out / "plan.html").resolve()),
        "placed, not moved": str(out / PLACED),
    }
    return Shop(inspection, placed, moved, route, files)


def _together(out: Path, shop: Shop, seconds: float, seed: int) -> tuple[dict[str, "Collocated"], dict[str, str]]:
    """The shop and a larger cluster, their services brought together; and what was written of them."""
    from bayplan.api.tour import collocated, write_collocated
    from bayplan.formats import write
    from bayplan.generate.rasa import rasa_m3

    large = rasa_m3(seed=seed)
    write(large, out / "rasa-m3.json")
    stops = {
        "boutique": collocated(shop.placed.after, seconds=seconds / 3, seed=seed),
        "rasa-m3": collocated(large, seconds=seconds, seed=seed, max_moves=MOST_MOVES),
    }
    files = {"larger cluster": str(out / "rasa-m3.json")}
    for name, stop in stops.items():
        files.update(write_collocated(out, name, stop, command=COMMAND))
    return stops, files


def _arrivals(out: Path, seed: int) -> tuple["AdmissionAnswer", "ScheduleAnswer", dict[str, str]]:
    """Groups that arrive one after the other, and timed requests; and what was written of them."""
    from bayplan.api.tour import let_in, write_let_in
    from bayplan.api.tour_requests import served, write_served_requests
    from bayplan.generate.container_clusters import container_clusters
    from bayplan.generate.requests import requests

    admitted = let_in(container_clusters(**ARRIVALS, seed=seed), seed=seed)  # type: ignore[arg-type]  # whole numbers
    chosen = served(requests(n=TIMED, machines=MACHINES, load=3.0, weights="random", seed=seed), MACHINES)
    files = {**write_let_in(out, admitted, command=COMMAND), **write_served_requests(out, chosen, command=COMMAND)}
    return admitted, chosen, files


def _say_shop(shop: Shop, seed: int) -> None:
    """The shop as it is, why a container stands where it does, and what placing, rebalancing and migrating do."""
    from bayplan.api.tour import ALIVE
    from bayplan.score.explain import explain

    snapshot = shop.inspection.snapshot
    screen.show(shop.inspection)
    waiting = snapshot.placement.unplaced
    chosen = int(waiting[0]) if len(waiting) else 0
    screen.explain(explain(snapshot.cluster, snapshot.placement, chosen, objective=snapshot.objective))
    for answer in (shop.placed, shop.moved):
        print(f"\nbayplan {answer.verb}")
        screen.print_report(answer.full_content())
    print(f"\nbayplan migrate --alive {ALIVE}")
    screen.print_report(shop.route.full_content())


def _say(given: str, wish: str, stop: "Collocated", seed: int) -> None:
    """What collocation gained, before beside after, and whether the way there is safe."""
    name = given.partition(".")[0]
    print(f"\nbayplan collocate {given}{wish}\nbayplan migrate {given} --to {name}-together.json")
    screen.print_report(stop.answer.full_content())
    screen.print_report(stop.route.full_content())


def _say_admitted(admitted: "AdmissionAnswer") -> None:
    """Which of the requests that arrived were accepted, by which prices, and why others were not."""
    print("\nbayplan admit stream.jsonl --bound")
    screen.print_report(admitted.full_content())
