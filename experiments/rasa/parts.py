"""What is measured: the cells of every part."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.rasa.cells import AGAIN, MINUTE, Cell
from experiments.rasa.clusters import CLUSTERS, M3

WEAK = ("k8s-plus-authors", "applsci19-authors")  # as weak as the authors' code
BASELINES = ("pop", "k8s-plus", "applsci19", *WEAK, "original")
ITERATIVE = ("best", "rasa", "pop")  # take all their seconds; the others end by themselves, mostly within a few
CAPS = ("4%", "11%", "22.5%", "34%")
PRICES = (3.0, 1.5, 0.75, 0.4, 0.2)
PARTITIONERS = ("multi-stage", "random", "min-cut-masters", "min-cut", "none")
SELECTORS = ("gcn", "cg", "mip", "heuristic", "mlp")
RATIOS = ("0.25", "1", "0.5", "0.75", "1.5", "2", "4")  # of 45 ln^0.66 N
MOST_ON_M3 = 1.5  # then all workloads with affinity are masters there
TIMES = (5.0, 15.0, 30.0)  # and a minute
QUICK_SECONDS = 15.0  # about what other methods than `ITERATIVE` take on a large cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much is to be measured."""

    real: str = M3
    clusters: tuple[str, ...] = CLUSTERS
    seeds: int = 3
    more: int = 5  # seeds of our own targets on M3
    fewer: int = 2
    hurry: float = 1.0  # of the seconds of every cell
    most: int | None = None  # values of an option that are tried

    def cell(self, cluster: str, method: str, seconds: float = MINUTE, **other: Any) -> Cell:
        """A question within that many seconds of a whole run."""
        return Cell(cluster=cluster, method=method, seconds=seconds * self.hurry, **other)


QUICK = Scope(real="rasa-m3", clusters=("rasa-m3",), seeds=1, more=1, fewer=1, hurry=0.005, most=2)


def m3(scope: Scope) -> Iterator[Cell]:
    """Our own targets on M3: every method, two threads."""
    two: dict[str, Any] = {"threads": 2}
    for seed in range(scope.more):
        yield scope.cell(scope.real, "best", seed=seed, **two)
    for seed in range(scope.more):
        yield scope.cell(scope.real, "best", 10.0, seed=seed)
    for seed in range(scope.fewer):
        for trivial in ("refit", "pinned"):
            yield scope.cell(scope.real, "rasa", options=f"trivial={trivial}", seed=seed, **two)
    for seed in range(scope.more):
        for method in ("k8s-plus", "applsci19", "original"):
            yield scope.cell(scope.real, method, seed=seed, **two)
    for method in ("mip", "column-generation"):
        yield scope.cell(scope.real, method, **two)
    for seed in range(scope.fewer):
        yield scope.cell(scope.real, "pop", seed=seed, **two)


def front(scope: Scope) -> Iterator[Cell]:
    """Affinity under a cap on moves, and with a price for them."""
    for cap in CAPS[: scope.most]:
        yield scope.cell(scope.real, "best", options=f"cap={cap}", threads=2)
    yield scope.cell(scope.real, "best", threads=2)
    for price in PRICES[: scope.most]:
        yield scope.cell(scope.real, "best", 10.0, options=f"price={price:g}", threads=2)


def clusters(scope: Scope) -> Iterator[Cell]:
    """Figure 9: every method within a minute; `original` draws nothing at random."""
    for seed in range(scope.seeds):
        for method in ("rasa", *BASELINES, "best"):
            for cluster in scope.clusters:
                if method != "original" or not seed:
                    yield scope.cell(cluster, method, seed=seed)


def _rasa(scope: Scope, name: str, values: Sequence[str]) -> Iterator[Cell]:
    for seed in range(scope.seeds):
        for value in values[: scope.most]:
            for cluster in scope.clusters:
                if name != "ratio" or cluster != M3 or float(value) <= MOST_ON_M3:
                    yield scope.cell(cluster, "rasa", options=f"{name}={value}", seed=seed)


def partitions(scope: Scope) -> Iterator[Cell]:
    """Figure 6."""
    return _rasa(scope, "partition", PARTITIONERS)


def selection(scope: Scope) -> Iterator[Cell]:
    """Figure 8."""
    return _rasa(scope, "select", SELECTORS)


def masters(scope: Scope) -> Iterator[Cell]:
    """Figure 7."""
    return _rasa(scope, "ratio", RATIOS)


def over_time(scope: Scope) -> Iterator[Cell]:
    """Figure 10. A run within fewer seconds is a run of its own: `rasa` divides its time among subproblems before it begins."""
    for seed in range(scope.seeds):
        for cluster in scope.clusters:
            for method in ("rasa", "pop"):
                for seconds in (*TIMES[: scope.most], MINUTE):
                    yield scope.cell(cluster, method, seconds, seed=seed)
            for method in ("k8s-plus", "applsci19", *WEAK):
                yield scope.cell(cluster, method, seed=seed)


def again(scope: Scope) -> Iterator[Cell]:
    """`rasa`, and `rasa` once more from its own answer."""
    for seed in range(scope.seeds):
        for options in ("", AGAIN):
            for cluster in scope.clusters:
                yield scope.cell(cluster, "rasa", options=options, seed=seed)


PARTS: Mapping[str, Callable[[Scope], Iterator[Cell]]] = {
    "m3": m3,
    "front": front,
    "clusters": clusters,
    "partitions": partitions,
    "selection": selection,
    "masters": masters,
    "time": over_time,
    "again": again,
}
POWER_LAW, BOUND = "powerlaw", "bound"  # the parts that need no method


def in_order(scope: Scope, parts: Sequence[str]) -> list[tuple[str, Cell]]:
    """The cells with their parts: those of seed 0 of every part first, then those of seed 1, and so on."""
    every = [(part, cell) for part in PARTS if part in parts for cell in PARTS[part](scope)]
    return sorted(every, key=lambda one: one[1].seed)


def seconds_of(cell: Cell) -> float:
    """About how long a cell takes."""
    return cell.seconds if cell.method in ITERATIVE else min(cell.seconds, QUICK_SECONDS)


def share_of(cells: Sequence[Cell], shard: int, shards: int) -> set[tuple[str, ...]]:
    """The questions of one of several runs that share the work: each question is in one of them, and all take about as long."""
    load, owner = [0.0] * shards, dict[tuple[str, ...], int]()
    for cell in cells:
        if cell.question not in owner:
            owner[cell.question] = load.index(min(load))
            load[owner[cell.question]] += seconds_of(cell)
    return {question for question, one in owner.items() if one == shard - 1}
