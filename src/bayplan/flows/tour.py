"""Place what waits, then rebalance everything: the two decisions one after the other."""

from bayplan.decide.place import PLACERS, PlaceOptions
from bayplan.decide.rebalance import REBALANCERS, RebalanceOptions
from bayplan.flows.decide import Decision, decide
from bayplan.model import Budget, Snapshot, silent
from bayplan.search.problem import Problem

STEPS = Budget(iterations=50_000)


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
