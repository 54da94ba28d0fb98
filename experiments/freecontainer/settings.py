"""What is measured: data centres, methods, seeds, seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bayplan.decide.place import PLACERS
from bayplan.decide.rebalance import (
    REBALANCERS,
    RebalanceOptions,
    Rebalancer,
    literal_greedy,
    search_only,
    sweep_only,
)
from bayplan.generate.freecontainer import DC_A, DC_B, DataCentre
from bayplan.generate.freecontainer_services import LARGEST, Shape

A, B = "DC_A", "DC_B"
START = "start"  # the layout before rebalancing, as if it were a method
SEQUENTIAL, JOINT = "sequential", "joint"  # what leaves frees its capacity on the way (Figure 2), or only at the end: (11)

TABLE_4 = ("ca-wfd", "random", "ha", "enf", "binpack", "best")
TABLE_5 = ("ws-dp", "c-c")  # dr-ws is ca-wfd: measured for Table IV
TABLE_6 = (START, "sweep-search", "greedy", "literal-greedy", "nls", "search")
ABLATION = ("sweep-only", "search-only")  # both stages: measured for Table VI
MINUTE = ("search", "nls", "sweep-search")  # in a minute instead of 10 s
DELTAS = (0.10, 0.20)  # 2 %: measured for Table VI
DELTA = 0.02

SWEEPS = ("sweep-search", "sweep-only")  # methods with a threshold: above it a server is hot
THRESHOLD, NO_THRESHOLD = "0.8", "-"
THRESHOLDS: Mapping[str, RebalanceOptions] = {  # the paper names none; x: times the mean of U(h)
    THRESHOLD: RebalanceOptions(safety=0.8),
    "0.6": RebalanceOptions(safety=0.6),
    "1.25x": RebalanceOptions(safety_over_mean=1.25),
}

REBALANCE: Mapping[str, Rebalancer] = {
    **REBALANCERS,
    "sweep-only": sweep_only,
    "search-only": search_only,
    "literal-greedy": literal_greedy,
}
LAYOUTS = ("prelimB", "semi_a", "semi_b", "semi_c")  # of the Tianchi trace

PLACED = ("table4", "table5")
PHASES = (  # in the order of their weight: tables that are measured together on each instance of a data centre
    (("table6", "table8", "ablation"), A),
    (PLACED, A),
    (PLACED, B),
    (("table6",), B),
    (("joint",), A),
    (("joint",), B),
    (("minute",), B),
)
TABLES = ("table4", "table5", "table6", "table8", "ablation", "joint", "minute", "real")  # VII and figures: with 4 and 6

assert set(TABLE_4) | set(TABLE_5) == set(PLACERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much is measured."""

    centres: Mapping[str, DataCentre]
    seeds: tuple[int, ...]
    place_seconds: float  # for `best`; the others take what they need
    seconds: float  # for each method to rebalance, of CPU time
    minute: float  # for the methods that are compared in a minute
    real_seconds: float
    layouts: tuple[str, ...]
    only: tuple[str, ...] = TABLES


SMALL = DataCentre(name="freecontainer-small", servers=60, shape=Shape(services=5, containers=240, new=48), types=DC_A.types)


HIGHEST = 0.52  # [FreeContainer] §VI-B1: the highest CPU utilisation after Sweep&Search


def as_stated(centre: DataCentre) -> DataCentre:
    """A data centre in which what [FreeContainer] §VI-B1 states is possible.

    51.16 % of the CPU are requested when rebalancing begins, so with the new service. And no container takes more than 52 % of
    the smallest server: with the generator's own limit, 45 % of the largest, the largest containers alone fill three fifths of
    most servers and fit on none of the smallest.
    """
    cpu = HIGHEST * min(kind.cpu for kind in centre.types)
    return replace(centre, shape=replace(centre.shape, largest=(cpu, *LARGEST[1:]), new_counts=True))


FULL = Scope(
    centres={A: as_stated(DC_A), B: as_stated(DC_B)},
    seeds=tuple(range(1, 11)),  # settings were chosen on seed 0
    place_seconds=5.0,
    seconds=10.0,
    minute=60.0,
    real_seconds=30.0,
    layouts=LAYOUTS,
)
QUICK = Scope(
    centres={A: as_stated(SMALL), B: as_stated(replace(SMALL, types=DC_B.types))},
    seeds=(0,),
    place_seconds=0.1,
    seconds=0.1,
    minute=0.2,
    real_seconds=0.1,
    layouts=(),
)
