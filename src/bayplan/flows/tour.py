"""Place what waits, rebalance everything, and find a safe order of moves: one after the other."""

from bayplan.decide.place import PLACERS, PlaceOptions
from bayplan.decide.rebalance import REBALANCERS, RebalanceOptions
from bayplan.flows.decide import Decision, decide
from bayplan.flows.migrate import Route, find_route
from bayplan.flows.trip import Trip
from bayplan.migrate import MIGRATORS, MigrateOptions
from bayplan.model import Budget, Migration, Running, Snapshot, Terms, silent
from bayplan.score.duration import StepCosts
from bayplan.search.problem import Problem

STEPS = Budget(iterations=50_000)
ATTEMPTS = Budget(iterations=4)
ALIVE = 0.6  # of three databases two, so that they can change places


def tour(snapshot: Snapshot, *, seed: int) -> tuple[Decision, Decision]:
    """The decision about new containers, and the one about all of them that follows it."""
    place, rebalance = PLACERS["best"], REBALANCERS["search"]
    placed = decide(
        snapshot, Problem.of(snapshot), lambda asked: place(asked, PlaceOptions(), budget=STEPS, seed=seed, progress=silent)
    )
    then = placed.after
    moved = decide(
        then, Problem.of(then), lambda asked: rebalance(asked, RebalanceOptions(), budget=STEPS, seed=seed, progress=silent)
    )
    return placed, moved


def road(snapshot: Snapshot, after: Snapshot, *, seed: int) -> Route:
    """The order of moves that leads from where a snapshot's containers run to where `after` has them."""
    migration = Migration(
        cluster=snapshot.cluster, start=Running.of(snapshot.placement), after=after.placement, terms=Terms(alive=ALIVE)
    )
    options, planner = MigrateOptions(), MIGRATORS["waves"]
    return find_route(
        Trip(snapshot=snapshot, migration=migration),
        lambda: planner(migration, options, budget=ATTEMPTS, seed=seed, progress=silent),
        options,
        StepCosts(),
    )
