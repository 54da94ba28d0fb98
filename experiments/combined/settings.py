"""What is measured: clusters, methods, how many containers may move, seeds, seconds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

M3, M1, TIANCHI, TINY = "M3", "rasa-m1", "tianchi", "boutique"
START = "start"
PLANS: Mapping[str, str] = {"plan": "steady", "plan-local": "local-traffic", "plan-balance": "balance"}  # method -> goal
LOCAL = "search-local"
BEST, RASA, SWEEP, PACK, REBALANCER = "collocate-best", "rasa", "sweep-search", "pack", "rebalancer"
ALL = "all"  # as many moves as a method likes
CAPS = ("5%", "10%", "20%")
UNCAPPED = (RASA, PACK)  # methods that know no limit of moves; what is kept of RASA's answer is measured, too
CONFIDENCE = 0.999  # of `pack`
ALIVE = 0.75
SECONDS = {M3: 10.0, M1: 20.0, TIANCHI: 10.0, TINY: 1.0}  # of one core, for each answer
ORDERING = 20.0  # seconds for the order of moves of an answer that has none


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A question to a method."""

    cluster: str
    method: str
    cap: str = ALL
    seed: int = 0
    seconds: float = 10.0  # of one core

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes it from other rows."""
        return (self.cluster, self.method, self.cap, str(self.seed), f"{self.seconds:g}")


KEY = ("cluster", "method", "cap", "seed", "seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which cells there are, the most telling first."""

    rounds: tuple[tuple[str, int], ...] = ((M3, 0), (M1, 0), (TIANCHI, 0), (M3, 1), (M3, 2))  # cluster and seed
    methods: tuple[str, ...] = (START, "plan", BEST, SWEEP, RASA, REBALANCER, PACK)
    rules: tuple[str, ...] = (TIANCHI,)  # clusters whose rules `collocate` does not know
    later: tuple[str, ...] = ("plan-local", "plan-balance")  # once all others are measured
    caps: tuple[str, ...] = CAPS

    def cells(self) -> Iterator[Cell]:
        """Every cell."""
        for methods in (self.methods, self.later):
            for cluster, seed in self.rounds:
                for method in (*methods, *((LOCAL,) if cluster in self.rules and methods is self.methods else ())):
                    yield from (
                        Cell(cluster=cluster, method=method, cap=cap, seed=seed, seconds=SECONDS[cluster])
                        for cap in self._caps(method, seed)
                    )

    def _caps(self, method: str, seed: int) -> tuple[str, ...]:
        if method in (START, PACK):
            return (ALL,) if seed == 0 else ()
        return (ALL, *self.caps) if method == RASA else self.caps


QUICK = Scope(rounds=((TINY, 0),), later=(), caps=("10%",))
