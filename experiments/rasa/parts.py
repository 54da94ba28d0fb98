"""What is measured: the cells of every part, in the order in which they are run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.rasa.cells import Cell
from experiments.rasa.clusters import CLUSTERS, M3

BASELINES = ("pop", "k8s-plus", "applsci19", "original")
METHODS = ("best", "rasa", *BASELINES)
CAPS = ("4%", "11%", "22.5%", "34%")
PRICES = (3.0, 1.5, 0.75, 0.4, 0.2)
PARTITIONERS = ("multi-stage", "random", "min-cut", "none")
SELECTORS = ("gcn", "mlp", "heuristic", "cg", "mip")
RATIOS = ("0.25", "1", "4")  # of 45 ln^0.66 N
TIMES = (2.0, 5.0, 15.0, 60.0)
SLOW_TO_READ = {"rasa-m2": 75.0}  # seconds with reading, of which a method has a minute at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much is to be measured."""

    real: str = M3
    clusters: tuple[str, ...] = CLUSTERS
    two: tuple[str, ...] = (M3, "rasa-m1")  # Figure 10
    seeds: int = 5
    fewer: int = 2  # seeds, where a part has many cells
    threads: int = 2
    hurry: float = 1.0  # of the seconds of every cell
    most: int | None = None  # values of an option that are tried

    def cell(self, cluster: str, method: str, seconds: float = 60.0, **other: Any) -> Cell:
        """A question within so many seconds of a whole run."""
        return Cell(cluster=cluster, method=method, seconds=seconds * self.hurry, **{"threads": self.threads, **other})


QUICK = Scope(real="rasa-m3", clusters=("rasa-m3",), two=("rasa-m3",), seeds=1, fewer=1, threads=1, hurry=0.005, most=2)


def m3(scope: Scope) -> Iterator[Cell]:
    """Every method on M3."""
    for seed in range(scope.seeds):
        yield scope.cell(scope.real, "best", seed=seed)
    for seed in range(scope.seeds):
        yield scope.cell(scope.real, "best", 10.0, seed=seed, threads=1)
    for seed in range(scope.fewer):
        for trivial in ("refit", "pinned"):
            yield scope.cell(scope.real, "rasa", options=f"trivial={trivial}", seed=seed)
    for seed in range(scope.seeds):
        for method in ("k8s-plus", "applsci19", "original"):
            yield scope.cell(scope.real, method, seed=seed)
    for method in ("mip", "column-generation"):
        yield scope.cell(scope.real, method)
    for seed in range(scope.fewer):
        yield scope.cell(scope.real, "pop", seed=seed)


def front(scope: Scope) -> Iterator[Cell]:
    """Affinity under a cap on moves, and with a price for them."""
    for cap in CAPS[: scope.most]:
        yield scope.cell(scope.real, "best", options=f"cap={cap}")
    yield scope.cell(scope.real, "best")
    for price in PRICES[: scope.most]:
        yield scope.cell(scope.real, "best", 10.0, options=f"price={price:g}")


def clusters(scope: Scope) -> Iterator[Cell]:
    """Figure 9: every method within a minute."""
    for cluster in scope.clusters:
        for method in METHODS:
            yield scope.cell(cluster, method, SLOW_TO_READ.get(cluster, 60.0))


def _rasa(scope: Scope, name: str, values: Sequence[object], seconds: float) -> Iterator[Cell]:
    for cluster in scope.clusters:
        for value in values[: scope.most]:
            yield scope.cell(cluster, "rasa", seconds, options=f"{name}={value}")


def partitions(scope: Scope) -> Iterator[Cell]:
    """Figure 6."""
    return _rasa(scope, "partition", PARTITIONERS, 10.0)


def selection(scope: Scope) -> Iterator[Cell]:
    """Figure 8."""
    return _rasa(scope, "select", SELECTORS, 10.0)


def masters(scope: Scope) -> Iterator[Cell]:
    """Figure 7."""
    return _rasa(scope, "ratio", RATIOS, 10.0)


def over_time(scope: Scope) -> Iterator[Cell]:
    """Figure 10."""
    for cluster in scope.two:
        for seconds in TIMES[: scope.most]:
            for method in ("best", "rasa", "applsci19", "pop"):
                yield scope.cell(cluster, method, seconds)


PARTS: Mapping[str, Callable[[Scope], Iterator[Cell]]] = {
    "m3": m3,
    "front": front,
    "clusters": clusters,
    "partitions": partitions,
    "selection": selection,
    "masters": masters,
    "time": over_time,
}
POWER_LAW, BOUND = "powerlaw", "bound"  # the parts that need no method
