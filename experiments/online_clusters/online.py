"""Online cells: a method goes through one stream of clusters ([Online clusters] Figures 6 to 11)."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from bayplan.check import check_admission
from bayplan.decide.admit import ADMITTERS, AdmitOptions
from bayplan.decide.admit.one_shot import ONE_SHOTS as METHODS
from bayplan.model import Acceptance, Budget, ClusterRequests, silent
from experiments.online_clusters.algorithm4 import (
    Ledger,
    Place,
    algorithm4,
    cheapest_found,
    first_found,
    greedy_found,
    overfull,
)
from experiments.online_clusters.bounds import total_bound
from experiments.online_clusters.listing import listing
from experiments.online_clusters.settings import (
    ALPHA,
    BOUND,
    BY_PRICE,
    CLOCKED,
    COLUMNS,
    COUNTED,
    LIMITED,
    LISTING,
    MADE,
    OFFLINE,
    ONLINE,
    QUICKEST,
    SAMPLED_MEMBERS,
    SAMPLING,
    Scope,
    Setting,
)
from experiments.online_clusters.streams import inside_of, stream, tiny

KEY = (*COLUMNS, "seed", "method")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A stream, and the method that admits it."""

    setting: Setting
    seed: int
    method: str

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its row."""
        return (*self.setting.key, str(self.seed), self.method)


def cells(scope: Scope) -> Iterator[Cell]:
    """All cells, those of one stream side by side; each seed is a whole, so that a part of them can be judged."""
    found = (
        Cell(setting=setting, seed=seed, method=method)
        for seed in scope.trials
        for setting, methods in _measured(scope)
        for method in methods
        if is_affordable(setting, method, seed, scope)
    )
    yield from dict.fromkeys(found)


def _measured(scope: Scope) -> Iterator[tuple[Setting, tuple[str, ...]]]:
    """Every setting of Figures 6 to 11 with its methods; with limits inside of zones only those that can have them."""
    for data, inside in scope.kinds:
        more = (BOUND,) if inside == LIMITED else ("ours", *SAMPLING, OFFLINE)
        for setting in scope.compared(data, inside):
            yield setting, (*QUICKEST, *more)
        for setting in scope.small(data, inside):
            yield setting, ("exact", "greedy") if inside == LIMITED else ("exact", *SAMPLING, "greedy")
    for capacity in scope.capacities:
        for setting in scope.counted(capacity):
            yield setting, COUNTED
    for setting in scope.clocked():
        yield setting, CLOCKED


def is_affordable(setting: Setting, method: str, seed: int, scope: Scope) -> bool:
    """Linear programs take long: few seeds on Azure's streams and where clusters are large; 0.6 has no more than four members."""
    if method not in SAMPLED_MEMBERS:
        return True
    most = int(setting.members.rpartition("-")[2])
    if method == "sampling 0.6" and most > SAMPLED_MEMBERS[method] + 1:
        return False
    return seed < scope.few or (setting.data == MADE and most <= SAMPLED_MEMBERS[method])


def grid_cells(scope: Scope) -> Iterator[Cell]:
    """The cells of the grid: both readings; with another U than usual only Algorithm 4 and the bound."""
    for seed in scope.grid_trials:
        for inside in dict.fromkeys(inside for _, inside in scope.kinds):
            for setting in scope.grid(inside):
                for method in (*QUICKEST, *(() if inside == LIMITED else ("ours",)), BOUND):
                    yield Cell(setting=setting, seed=seed, method=method)
                for ratio in scope.ends:
                    for method in ("exact", "greedy", BOUND):
                        yield Cell(setting=replace(setting, ratio=ratio), seed=seed, method=method)


# ---- measuring -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    acceptance: Acceptance | None = None
    bound: float | None = None
    broken: int = 0


def measured(cell: Cell, scope: Scope) -> dict[str, str]:
    """What came out, as text."""
    made = stream(cell.setting, cell.seed)
    _compile(cell.method, cell.setting.inside)
    started, cpu = time.perf_counter(), time.process_time()
    answer = _answer(cell, made, scope)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    accepted = [] if answer.acceptance is None else answer.acceptance.accepted.tolist()
    found = answer.acceptance is not None
    return {
        "load": f"{load_of(made, cell.setting.slots):.4f}",
        "value": f"{sum(made.requests[i].value for i in accepted):.9g}" if found else "",
        "winners": str(len(accepted)) if found else "",
        "bound": "" if answer.bound is None else f"{answer.bound:.9g}",
        "broken": str(answer.broken),
        "seconds": f"{seconds:.4f}",
        "cpu": f"{cpu:.4f}",
    }


def load_of(made: ClusterRequests, slots: int) -> float:
    """What all requests together ask for by what all zones have, of the resource of which they ask most."""
    wanted = sum(request.demand.sum(axis=0) * (request.end - request.start) for request in made.requests)
    return float(np.max(wanted / (made.zones.capacity.sum(axis=0) * slots)))


def _answer(cell: Cell, made: ClusterRequests, scope: Scope) -> _Answer:
    if cell.method == BOUND:
        return _Answer(bound=total_bound(made, inside_of(cell.setting, cell.seed), cell.setting.slots))
    if cell.setting.inside == LIMITED or cell.method == LISTING:
        return _literal(cell, made)
    return _library(cell, made, scope)


def _library(cell: Cell, made: ClusterRequests, scope: Scope) -> _Answer:
    """By `bayplan admit`."""
    if cell.method == OFFLINE:
        method, options, budget = OFFLINE, AdmitOptions(), Budget(seconds=scope.offline_seconds)
    else:
        (method, options), budget = ONLINE[cell.method], Budget()
        if cell.method != "ours":
            options = replace(options, value_ratio=float(cell.setting.ratio), slots=cell.setting.slots)
    result = ADMITTERS[method](made, options, budget=budget, seed=cell.seed, progress=silent)
    assert result.solution is not None
    return _Answer(acceptance=result.solution, bound=result.bound, broken=len(check_admission(made, result.solution)))


def _literal(cell: Cell, made: ClusterRequests) -> _Answer:
    """By Algorithm 4 in arrays, which can limit the traffic inside of a zone, and takes any one-shot method."""
    setting = cell.setting
    ledger = Ledger(made, inside_of(setting, cell.seed), setting.slots)
    place, alpha = place_of(cell.method), ALPHA
    if cell.method == "swmoa":
        ledger.base, alpha = 2 * (int(np.isfinite(ledger.capacity).sum()) * setting.slots * setting.ratio + 1), 1.0
    elif cell.method != "available":
        ledger.base = 2 * (ALPHA * setting.ratio + 1)  # lambda
    fitting = cell.method not in (*BY_PRICE, LISTING)
    found = algorithm4(ledger, place, alpha=alpha, seed=cell.seed, fitting=fitting)
    broken = overfull(ledger, found) + len(check_admission(made, found))
    return _Answer(acceptance=found, broken=broken)


def place_of(method: str) -> Place:
    """The one-shot method, with limits inside of zones if it places only where members fit."""
    fitting = {"exact": cheapest_found, "greedy": greedy_found, "swmoa": greedy_found, "available": first_found}
    if method in fitting:
        return fitting[method]
    if method == LISTING:
        return lambda problem, seed: listing(problem)
    options = ONLINE[method][1]
    return lambda problem, seed: METHODS[options.one_shot](problem, options.one_shot_options, seed=seed)


@cache
def _compile(method: str, inside: str) -> None:
    """Run it once on a tiny stream: compiling is not what is measured."""
    setting, seconds = tiny(inside), Scope(offline_seconds=0.1)
    _answer(Cell(setting=setting, seed=0, method=method), stream(setting, 0), seconds)
