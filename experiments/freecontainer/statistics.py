"""Numbers over seeds, from the rows of costs.csv."""

from collections.abc import Sequence
from typing import NamedTuple

from experiments.freecontainer.settings import DELTA, NO_THRESHOLD, SEQUENTIAL, SWEEPS, THRESHOLD
from experiments.results import Row
from experiments.verdicts import Claim, about, above, judged, percent

NORMALISED = {"U": "utilisation_normalised", "B": "balance_normalised", "C": "communication_normalised", "total": "total"}


class Setting(NamedTuple):
    """How a method was run."""

    delta: float = DELTA
    transient: str = SEQUENTIAL
    threshold: str = THRESHOLD  # of methods that have one


USUAL = Setting()


class Series:
    """The measured runs, by method."""

    def __init__(self, measured: Sequence[Row]) -> None:
        self.row = {(r["centre"], r["method"], setting_of(r), int(r["seed"])): r for r in measured}

    def of(self, centre: str, method: str, quantity: str, setting: Setting = USUAL) -> dict[int, float]:
        """A quantity of a method, by seed."""
        if method not in SWEEPS:
            setting = setting._replace(threshold=NO_THRESHOLD)
        by_seed = (
            (seed, float(row[quantity]))
            for (at, name, how, seed), row in self.row.items()
            if (at, name, how) == (centre, method, setting) and row[quantity]
        )
        return dict(sorted(by_seed))

    def mean(self, centre: str, method: str, quantity: str, setting: Setting = USUAL) -> float:
        """Over all its seeds; nan if there are none."""
        return mean(list(self.of(centre, method, quantity, setting).values()))

    def has(self, centre: str, *methods: str, setting: Setting = USUAL) -> bool:
        """Was each of them measured in some seed?"""
        return all(self.of(centre, method, "total", setting) for method in methods)


def setting_of(row: Row) -> Setting:
    """How the method of a row was run."""
    return Setting(float(row["delta"]), row["transient"], row["threshold"])


def mean(values: Sequence[float]) -> float:
    """nan of nothing."""
    return sum(values) / len(values) if values else float("nan")


def gains(better: dict[int, float], worse: dict[int, float]) -> dict[int, float]:
    """By how much the first is below the second, relative to the second, in each seed that both have."""
    return {seed: 1 - better[seed] / worse[seed] if worse[seed] else 0.0 for seed in better if seed in worse}


def ratios(larger: dict[int, float], smaller: dict[int, float]) -> dict[int, float]:
    """By how much the first is above the second, relative to the second, in each seed that both have."""
    return {seed: larger[seed] / smaller[seed] - 1 for seed in larger if smaller.get(seed)}


def gain_claim(where: str, text: str, paper: float | None, by_seed: dict[int, float]) -> Claim:
    """A claim that something is above 0, by about `paper` if that is stated."""
    figure = "-" if paper is None else percent(paper)
    measured = {str(seed): value for seed, value in by_seed.items()}
    return judged(where, text, above() if paper is None else about(paper), measured, paper=figure)
