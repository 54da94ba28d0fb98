"""What is measured: data centres, methods, seeds, seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bayplan.decide.place import PLACERS
from bayplan.decide.rebalance import REBALANCERS, Rebalancer, search_only, sweep_only
from bayplan.generate.freecontainer import DC_A, DC_B, DataCentre
from bayplan.generate.freecontainer_services import Shape

A, B = "DC_A", "DC_B"
TABLES = ("table4", "table5", "table6", "table8", "ablation", "real")  # Table VII and the figures come with 4 and 6
START = "start"  # the layout before rebalancing, as if it were a method

TABLE_4 = ("ca-wfd", "random", "ha", "enf", "binpack", "best")
TABLE_5 = ("ws-dp", "c-c")  # dr-ws is ca-wfd: measured for Table IV
TABLE_6 = (START, "sweep-search", "nls", "greedy", "search")
ABLATION = ("sweep-only", "search-only")  # both stages: measured for Table VI
DELTAS = (0.10, 0.20)  # 2 %: measured for Table VI
DELTA = 0.02

REBALANCE: Mapping[str, Rebalancer] = {**REBALANCERS, "sweep-only": sweep_only, "search-only": search_only}
LAYOUTS = ("prelimB", "semi_a", "semi_b", "semi_c")  # of the Tianchi trace

assert set(TABLE_4) | set(TABLE_5) == set(PLACERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much is measured."""

    centres: Mapping[str, DataCentre]
    seeds: tuple[int, ...]
    place_seconds: float  # for `best`; the others take what they need
    seconds: float  # for each method to rebalance
    real_seconds: float
    layouts: tuple[str, ...]
    only: tuple[str, ...] = TABLES


SMALL = DataCentre(name="freecontainer-small", servers=60, shape=Shape(services=5, containers=240, new=48), types=DC_A.types)
SMALL_B = replace(SMALL, types=DC_B.types)

FULL = Scope(
    centres={A: DC_A, B: DC_B}, seeds=tuple(range(10)), place_seconds=5.0, seconds=10.0, real_seconds=30.0, layouts=LAYOUTS
)
QUICK = Scope(centres={A: SMALL, B: SMALL_B}, seeds=(0,), place_seconds=0.1, seconds=0.1, real_seconds=0.1, layouts=())
