"""The data centres as they are placed into and rebalanced.

The paper gives no distances: within a data centre "the nearest servers" are better than others. DISTANCE counts the switches
between two servers in a tree of three levels: 1 within a rack, 3 within a zone, 5 between zones.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from bayplan.decide.place import PLACERS, PlaceOptions
from bayplan.generate.freecontainer import DataCentre, data_centre
from bayplan.model import Budget, Placement, Snapshot, floats, silent
from bayplan.model.problem import Problem

ANY_OTHER = (1.0,)  # the distance to every other server
DISTANCE = (1.0, 3.0, 5.0)  # to another server of the rack, of the zone, of another zone


@lru_cache(maxsize=1)
def new_service(centre: DataCentre, seed: int, transient: str = "joint", distance: tuple[float, ...] = ANY_OTHER) -> Snapshot:
    """The generated data centre: all services run but the new one, which is unplaced."""
    snapshot = data_centre(centre, transient, seed, silent)
    beyond = len(snapshot.cluster.levels) - len(distance)  # levels that make no difference
    hop = floats(np.diff([0.0, *distance, *[distance[-1]] * beyond]))
    return replace(snapshot, objective=replace(snapshot.objective, hop=hop))


@lru_cache(maxsize=1)
def running(centre: DataCentre, seed: int, transient: str = "joint", distance: tuple[float, ...] = ANY_OTHER) -> Snapshot:
    """The start of rebalancing: the generated layout, with the new service placed by CA-WFD."""
    before = new_service(centre, seed, transient, distance)
    placed = PLACERS["ca-wfd"](Problem.of(before), PlaceOptions(), budget=Budget(), seed=seed, progress=silent).solution
    assert isinstance(placed, Placement)
    return replace(before, placement=placed)
