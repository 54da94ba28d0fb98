"""One-shot cells: a method places one random cluster ([Online clusters] Figures 2 to 5)."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayplan.decide.admit.one_shot import ONE_SHOTS as METHODS
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotProblem
from bayplan.generate.one_shot_problems import random_case
from experiments.online_clusters.settings import ONE_SHOTS, READINGS, Scope

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
                for method in ONE_SHOTS:
                    yield Cell(members=members, zones=zones, resources=resources, inside=inside, trial=trial, method=method)


def sizes(scope: Scope) -> Iterator[tuple[int, int, int]]:
    """(V, S, K)."""
    for members in scope.members:
        for zones in scope.zones:
            yield members, zones, scope.resources[0]
        for resources in scope.resources[1:]:
            yield members, max(scope.zones), resources


def measured(cell: Cell) -> dict[str, str]:
    """What came out, as text. `optimum` is the best that is known, `proven` whether nothing costs less."""
    method, options = ONE_SHOTS[cell.method]
    problem = cell.problem
    best = METHODS["exact"](problem, ONE_SHOTS["exact"][1], seed=cell.trial)
    started = time.perf_counter()
    found = METHODS[method](problem, options, seed=cell.trial)
    seconds = time.perf_counter() - started
    return {
        "cost": f"{found.cost:.9g}",
        "optimum": f"{best.cost:.9g}",
        "proven": "yes" if best.complete else "no",
        "seconds": f"{seconds:.6f}",
    }
