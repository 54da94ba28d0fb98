"""What is evaluated: two studies, their states, the assumptions of the model, and a grid around them.

The assumptions are the defaults of the model, which were fixed before the studies were run, and what the texts of the papers
state ([FreeContainer]: its measured curve, and about 800 of 6,000 servers above 80 % of CPU under stress). Nothing is fitted to a
result.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bayplan.generate.freecontainer import DC_A, DataCentre
from bayplan.generate.freecontainer_services import Shape

RASA, FREECONTAINER = "rasa", "freecontainer"
BEFORE, AFTER, COLLOCATED = "before", "after", "only-collocated"
STATED, STRESS = "stated", "stress"  # loads: as in the input; as in the paper's stress test
STRESSED_SERVERS, STRESSED_ABOVE = 800 / 6_000, 0.8  # "there are about 800 servers whose utilization exceeds 80%" of 6,000
ROUTERS = ("spill-over", "prefer-local", "random")
PAIRS = 4  # of workloads, those with the most traffic: Figures 11 and 12
SERVICES = 5  # Table IX
NAMED_SIZES = (2_268, 588)  # containers of S2 and S5, all that the text says of the five services
SIMULATED = 200_000  # requests
SEED = 0

CENTRE = (
    DataCentre(  # [FreeContainer] §VII: 6,000 servers, 35 services; the number of containers is not stated: five for a server
        name="freecontainer-production", servers=6_000, shape=Shape(services=34, containers=27_000, new=3_000), types=DC_A.types
    )
)
SMALL = DataCentre(name="freecontainer-small", servers=60, shape=Shape(services=4, containers=240, new=48), types=DC_A.types)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One state of one study under one set of assumptions."""

    study: str
    state: str
    router: str = "spill-over"
    queue: str = "ps"
    network_ms: float = 0.5
    ipc_ms: float = 0.05
    peer_calls: int = 3
    load: str = STATED

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes it from other rows."""
        numbers = (f"{self.network_ms:g}", f"{self.ipc_ms:g}", str(self.peer_calls))
        return (self.study, self.state, self.router, self.queue, *numbers, self.load)


KEY = ("study", "state", "router", "queue", "network_ms", "ipc_ms", "peer_calls", "load")
BASE = {
    RASA: Cell(study=RASA, state=BEFORE),
    FREECONTAINER: Cell(study=FREECONTAINER, state=BEFORE, queue="curve", load=STRESS),
}
STATES = {RASA: (BEFORE, AFTER, COLLOCATED), FREECONTAINER: (BEFORE, AFTER)}


def cells(study: str) -> Iterator[Cell]:
    """The stated assumptions first, then the grid around them; every state of each."""
    for variant in dict.fromkeys((BASE[study], *_grid(study))):
        yield from (replace(variant, state=state) for state in STATES[study])


def _grid(study: str) -> Iterator[Cell]:
    base = BASE[study]
    if study == RASA:
        for router in ROUTERS:
            for network in (0.25, 0.5, 1.0, 2.0):
                yield from (replace(base, router=router, network_ms=network, ipc_ms=ipc) for ipc in (0.05, 0.1))
        yield replace(base, queue="curve")
    else:
        for load in (STRESS, STATED):
            for queue in ("curve", "ps"):
                yield from (replace(base, load=load, queue=queue, peer_calls=calls) for calls in (1, 3, 7))
        yield from (replace(base, network_ms=network) for network in (0.25, 2.0, 5.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How large the instances are, and how long methods search: iterations, so that a second run finds the same."""

    tiny: bool = False
    collocate: int = 40_000_000  # about 20 seconds
    rebalance: int = 200_000  # about 15 seconds; ten times as many gain another 0.1 %
    simulated: int = SIMULATED
    centre: DataCentre = CENTRE


QUICK = Scope(tiny=True, collocate=2_000, rebalance=500, simulated=2_000, centre=SMALL)
