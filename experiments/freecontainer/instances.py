"""The data centres as they are placed into and rebalanced."""

from dataclasses import replace
from functools import lru_cache

from bayplan.decide.place import PLACERS, PlaceOptions
from bayplan.generate.freecontainer import DataCentre, data_centre
from bayplan.model import Budget, Placement, Snapshot, silent
from bayplan.model.problem import Problem


@lru_cache(maxsize=1)
def new_service(centre: DataCentre, seed: int) -> Snapshot:
    """The generated data centre: all services run but the new one, which is unplaced."""
    return data_centre(centre, "joint", seed, silent)


@lru_cache(maxsize=1)
def running(centre: DataCentre, seed: int) -> Snapshot:
    """The start of rebalancing: the generated layout, with the new service placed by CA-WFD."""
    before = new_service(centre, seed)
    placed = PLACERS["ca-wfd"](Problem.of(before), PlaceOptions(), budget=Budget(), seed=seed, progress=silent).solution
    assert isinstance(placed, Placement)
    return replace(before, placement=placed)
