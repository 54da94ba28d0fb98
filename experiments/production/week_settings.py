"""What is measured: clusters, how the loop is set, seeds, days."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

M3, GENERATED, M1, TINY = "M3", "rasa-m3", "rasa-m1", "boutique"
ALONE = "default scheduler alone"
STEADY, LOCAL = "steady", "local-traffic"
NO_GATE, LOW_GATE = "without the gate", "gate of 1 point"
FIVE_SECONDS, SIX_SECONDS, A_MINUTE = "5 s for a plan", "6 s for a plan", "60 s for a plan"
BY_WORKLOAD, NO_COOLDOWN, NO_CAP = "cooldown of workloads", "without cooldown", "without the cap on moves"
VARIANTS: Mapping[str, Mapping[str, Any]] = {  # name -> what differs from the defaults of the loop
    STEADY: {"goal": STEADY},
    LOCAL: {"goal": LOCAL},
    NO_GATE: {"goal": LOCAL, "min_gain": 0.0},
    LOW_GATE: {"goal": LOCAL, "min_gain": 0.01},
    FIVE_SECONDS: {"goal": LOCAL, "seconds": 5.0},
    SIX_SECONDS: {"goal": LOCAL, "seconds": 6.0},
    A_MINUTE: {"goal": LOCAL, "seconds": 60.0},
    BY_WORKLOAD: {"goal": LOCAL, "cooldown_of": "workload"},
    NO_COOLDOWN: {"goal": LOCAL, "cooldown": 0.0},
    NO_CAP: {"goal": LOCAL, "max_moves": "100%", "moves_per_hour": "100%", "moves_per_day": "1000%"},
}
SECONDS: Mapping[str, float] = {M3: 1.5, GENERATED: 1.5, M1: 10.0, TINY: 1.0}  # of one core, for a plan
FRESH: Mapping[str, float] = {M3: 10.0, GENERATED: 10.0, M1: 40.0, TINY: 0.2}  # of one core, for a fresh optimisation
EVERY, PER_DAY = 1800.0, 48  # turns
FRESH_EVERY = 48  # turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A simulated cluster with a loop, or without one."""

    cluster: str
    variant: str
    seed: int = 0
    days: float = 7.0

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes it from other cells."""
        return (self.cluster, self.variant, str(self.seed), f"{self.days:g}")

    @property
    def turns(self) -> int:
        """How many times the cluster is looked at."""
        return round(self.days * PER_DAY) + 1


KEY = ("cluster", "variant", "seed", "days")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which cells there are, the most telling first."""

    rounds: tuple[tuple[str, tuple[str, ...], int, float], ...] = field(
        default=(
            (M3, (ALONE, LOCAL, STEADY, FIVE_SECONDS), 0, 7.0),
            (M3, (NO_GATE, NO_CAP, BY_WORKLOAD, LOW_GATE), 0, 1.0),
            (M1, (ALONE, LOCAL), 0, 0.5),
            (M3, (SIX_SECONDS,), 0, 0.5),
            (M3, (A_MINUTE,), 0, 1.0),
            (M3, (ALONE, LOCAL), 2, 7.0),
            (M3, (NO_COOLDOWN,), 0, 1.0),
            (M3, (STEADY,), 2, 7.0),
        )
    )

    def cells(self) -> Iterator[Cell]:
        """Every cell."""
        for cluster, variants, seed, days in self.rounds:
            for variant in variants:
                yield Cell(cluster=cluster, variant=variant, seed=seed, days=days)


QUICK = Scope(rounds=((TINY, (ALONE, LOCAL), 0, 2 / PER_DAY),))
