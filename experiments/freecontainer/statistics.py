"""Numbers over seeds, from the rows of costs.csv."""

from collections.abc import Sequence

from experiments.freecontainer.settings import DELTA
from experiments.results import Row

NORMALISED = {"U": "utilisation_normalised", "B": "balance_normalised", "C": "communication_normalised", "total": "total"}


class Series:
    """The measured runs, by method."""

    def __init__(self, measured: Sequence[Row]) -> None:
        self.row = {(r["centre"], r["method"], float(r["delta"]), int(r["seed"])): r for r in measured}

    def of(self, centre: str, method: str, quantity: str, delta: float = DELTA) -> dict[int, float]:
        """A quantity of a method, by seed."""
        by_seed = (
            (seed, float(row[quantity]))
            for (at, name, share, seed), row in self.row.items()
            if (at, name, share) == (centre, method, delta)
        )
        return dict(sorted(by_seed))

    def mean(self, centre: str, method: str, quantity: str, delta: float = DELTA) -> float:
        """Over all its seeds; nan if there are none."""
        return mean(list(self.of(centre, method, quantity, delta).values()))

    def has(self, centre: str, *methods: str) -> bool:
        """Was each of them measured in some seed?"""
        return all(self.of(centre, method, "total") for method in methods)


def mean(values: Sequence[float]) -> float:
    """nan of nothing."""
    return sum(values) / len(values) if values else float("nan")


def gains(better: dict[int, float], worse: dict[int, float]) -> dict[int, float]:
    """By how much the first is below the second, relative to the second, in each seed that both have."""
    return {seed: 1 - better[seed] / worse[seed] if worse[seed] else 0.0 for seed in better if seed in worse}
