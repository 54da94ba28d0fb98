"""One-shot cells: a method places one random cluster ([Online clusters] Figures 2 to 5)."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from bayplan.decide.admit.one_shot import ONE_SHOTS as METHODS
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotPlacement, OneShotProblem
from bayplan.generate.one_shot_problems import random_case
from experiments.online_clusters.listing import listing, one_by_one
from experiments.online_clusters.settings import (
    LISTING,
    ONE_BY_ONE,
    ONE_BY_ONE_MOST,
    ONE_SHOTS,
    READINGS,
    Scope,
    one_shot_options,
)

KEY = ("members", "zones", "resources", "inside", "trial", "method")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A random cluster, and the method that places it."""

    members: int
    zones: int
    resources: int
    inside: str  # how traffic within a zone is read
    trial: int
    method: str

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its row."""
        sizes = (str(n) for n in (self.members, self.zones, self.resources))
        return (*sizes, self.inside, str(self.trial), self.method)

    @property
    def problem(self) -> OneShotProblem:
        """The same for every method."""
        rng = np.random.default_rng([self.trial, self.members, self.zones, self.resources])
        return random_case(rng, self.members, self.zones, self.resources, READINGS[self.inside])


def cells(scope: Scope) -> Iterator[Cell]:
    """All cells, those of one cluster side by side, `exact` first."""
    for trial in scope.trials:
        for inside in READINGS:
            for members, zones, resources in sizes(scope):
                for method in (*ONE_SHOTS, *_listed(scope, members, zones, resources)):
                    yield Cell(members=members, zones=zones, resources=resources, inside=inside, trial=trial, method=method)


def sizes(scope: Scope) -> Iterator[tuple[int, int, int]]:
    """(V, S, K)."""
    for members in scope.members:
        for zones in scope.zones:
            yield members, zones, scope.resources[0]
        for resources in scope.resources[1:]:
            yield members, max(scope.zones), resources


def _listed(scope: Scope, members: int, zones: int, resources: int) -> tuple[str, ...]:
    """All placements are listed for Figure 5 alone: the largest number of zones, one resource."""
    if (zones, resources) != (max(scope.zones), scope.resources[0]):
        return ()
    return (LISTING, ONE_BY_ONE) if members <= ONE_BY_ONE_MOST else (LISTING,)


def measured(cell: Cell) -> dict[str, str]:
    """What came out, as text. `optimum` is the best that is known, `proven` whether nothing costs less; `n` of Algorithm 1."""
    problem, samples = cell.problem, one_shot_options(cell.method, cell.members, cell.zones)[1].samples
    best = METHODS["exact"](problem, one_shot_options("exact", cell.members, cell.zones)[1], seed=cell.trial)
    _compile(cell.method)
    started, cpu = time.perf_counter(), time.process_time()
    found = _placed(cell, problem)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    return {
        "n": str(samples or ""),
        "cost": f"{found.cost:.9g}",
        "optimum": f"{best.cost:.9g}",
        "proven": "yes" if best.complete else "no",
        "seconds": f"{seconds:.6f}",
        "cpu": f"{cpu:.6f}",
    }


def _placed(cell: Cell, problem: OneShotProblem) -> OneShotPlacement:
    if cell.method in (LISTING, ONE_BY_ONE):
        return (listing if cell.method == LISTING else one_by_one)(problem)
    method, options = one_shot_options(cell.method, cell.members, cell.zones)
    return METHODS[method](problem, options, seed=cell.trial)


@cache
def _compile(method: str) -> None:
    """Run it once on a tiny cluster: compiling is not what is measured."""
    tiny = Cell(members=2, zones=2, resources=1, inside="priced", trial=0, method=method)
    _placed(tiny, tiny.problem)
