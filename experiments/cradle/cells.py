"""One cell: a method on requests of a source at a load."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from bayplan.check import check_schedule
from bayplan.decide.schedule import SCHEDULERS, ScheduleOptions, ScheduleProblem
from bayplan.decide.schedule.bound import upper_bound
from bayplan.generate import GENERATORS
from bayplan.model import Budget, Schedule, TimedRequests, silent
from experiments.cradle.instances import balance, drawn, excess, horizon, load, machines_for, requests_of, size_of, width, work
from experiments.cradle.settings import GENERATED, LARGER, METHODS, MOST, PAPER, TRACES, WHOLE, Scope

KEY = ("part", "trace", "load", "size", "seed", "method")
FACTS = ("n", "machines", "reached", "repeated", "excess", "balance")  # of an instance
MEASURES = ("served", "value", "used", "width", "bound", "broken", "seconds", "cpu")
BOUND, LOCAL_SEARCH = "bound", "local"  # `bound` stands where a method does: the upper bound of an instance
LOADS, MACHINES, FEWEST, GROWTH, LOCAL = "loads", "machines", "fewest", "growth", "local"
PARTS = (LOADS, MACHINES, FEWEST, GROWTH, LOCAL)  # Figures 3 to 6; Figure 2; fewest machines; time over n; what exchanges add
GROWTH_MACHINES, GROWTH_PER_LOAD = 100, 200_000 / 12.0  # generated requests for 100 machines, for each unit of the load
LARGE, HUGE = 1_000_000, 10_000_000  # requests: such instances come late, and last


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """An instance and a method. `size`: requests, or in Figure 2 machines."""

    part: str
    trace: str
    load: float
    size: int
    seed: int
    method: str

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its row."""
        return self.part, self.trace, f"{self.load:g}", str(self.size), str(self.seed), self.method

    @property
    def requests(self) -> int:
        """How many are drawn."""
        return size_of(self.trace, self.load, self.size) if self.part == MACHINES else self.size

    @property
    def instance(self) -> "Instance":
        """The requests that are drawn, and as many machines as the load asks for."""
        return _instance(self.trace, self.load, self.requests, self.seed)

    @property
    def stage(self) -> int:
        """What a sweep measures first: a part of it gives every source its figures."""
        if self.part == MACHINES:
            return 1 if self.requests < LARGE else 3 if self.requests < HUGE else 5
        return {LOADS: 2 if self.method == BOUND else 0, FEWEST: 0, GROWTH: 1, LOCAL: 4}[self.part]


class Instance(NamedTuple):
    """A problem, and what its rows say of it."""

    problem: ScheduleProblem
    facts: dict[str, str]


@lru_cache(maxsize=1)
def _instance(trace: str, wanted: float, size: int, seed: int) -> Instance:
    every = requests_of(trace, seed)
    requests = drawn(every, size, seed)
    machines = machines_for(requests, wanted)
    shapes = (load(requests, machines), excess(requests, machines), balance(requests))
    reached, above, ratio = (f"{value:.6g}" for value in shapes)
    repeated = "yes" if size > len(every.name) else "no"
    facts = (str(len(requests.name)), str(machines), reached, repeated, above, ratio)
    return Instance(ScheduleProblem.alike(requests, machines), dict(zip(FACTS, facts, strict=True)))


def cells(scope: Scope) -> list[Cell]:
    """All cells in the order of a sweep, those of one instance side by side."""
    every = [cell for seed in scope.seeds for trace in scope.traces for cell in _of_source(scope, trace, seed)]
    return sorted(every, key=lambda cell: (cell.stage, cell.requests if cell.stage == 3 else 0))  # stable


def _of_source(scope: Scope, trace: str, seed: int) -> Iterator[Cell]:
    size = scope.sampled[trace]
    for wanted in scope.loads:
        methods = METHODS if wanted in WHOLE else PAPER
        bound = (BOUND,) if wanted in scope.bounded else ()
        yield from _with((*methods, *bound), part=LOADS, trace=trace, load=wanted, size=size, seed=seed)
    for wanted in scope.fewest:
        yield from _with(("cradle+",), part=FEWEST, trace=trace, load=wanted, size=size, seed=seed)
    for wanted in scope.machine_loads:
        for machines in scope.machines:
            if size_of(trace, wanted, machines) <= LARGER.get(trace, MOST):
                yield from _with(PAPER, part=MACHINES, trace=trace, load=wanted, size=machines, seed=seed)
    for n in scope.growth if trace == GENERATED else ():
        yield from _with(("cradle",), part=GROWTH, trace=trace, load=n / GROWTH_PER_LOAD, size=n, seed=seed)
    for wanted in scope.improved if trace in TRACES or len(scope.traces) == 1 else ():
        yield from _with(("cradle+", LOCAL_SEARCH), part=LOCAL, trace=trace, load=wanted, size=size, seed=seed)


def _with(methods: tuple[str, ...], *, part: str, trace: str, load: float, size: int, seed: int) -> Iterator[Cell]:
    for method in methods:
        yield Cell(part=part, trace=trace, load=load, size=size, seed=seed, method=method)


def shard(every: list[Cell], number: int, shards: int) -> list[Cell]:
    """The cells of every n-th instance."""
    instances = list(dict.fromkeys((cell.stage, *cell.key[:-1]) for cell in every))
    mine = set(instances[number - 1 :: shards])
    return [cell for cell in every if (cell.stage, *cell.key[:-1]) in mine]


# ---- measuring -----------------------------------------------------------------------------------------------------------------


@contextmanager
def budgets_of_cpu() -> Iterator[None]:
    """Budgets count CPU seconds: others that use the machine take nothing from a method."""
    wall, time.perf_counter = time.perf_counter, time.process_time
    try:
        yield
    finally:
        time.perf_counter = wall


def measured_by_cpu(cell: Cell, scope: Scope) -> dict[str, str]:
    """The measures of a cell whose budget is in CPU seconds."""
    with budgets_of_cpu():
        return measured(cell, scope)


def measured(cell: Cell, scope: Scope) -> dict[str, str]:
    """The measures of a cell, as text."""
    problem, facts = cell.instance
    if cell.method == BOUND:
        return {**facts, **dict.fromkeys(MEASURES, ""), **_bound(problem, scope.bound_seconds)}
    _warm(cell.method)
    if cell.part == FEWEST:
        problem = _fewest(problem)
        facts = {**facts, "machines": str(problem.fleet.size), "reached": f"{load(problem.requests, problem.fleet.size):.6g}"}
    budget = Budget(seconds=scope.seconds) if cell.method == LOCAL_SEARCH else Budget()
    began, before = time.monotonic(), time.process_time()
    schedule = _schedule(cell.method, problem, budget, cell.seed)
    times = _since(began, before)
    return {**facts, **_shares(problem, schedule), "bound": "", "broken": str(_broken(problem, schedule)), **times}


def _since(began: float, before: float) -> dict[str, str]:
    """Wall and CPU seconds since then."""
    return {"seconds": f"{time.monotonic() - began:.3f}", "cpu": f"{time.process_time() - before:.3f}"}


def _schedule(method: str, problem: ScheduleProblem, budget: Budget, seed: int) -> Schedule:
    result = SCHEDULERS[method](problem, ScheduleOptions(bound=False), budget=budget, seed=seed, progress=silent)
    assert result.solution is not None
    return result.solution


def _bound(problem: ScheduleProblem, seconds: float) -> dict[str, str]:
    began, before = time.monotonic(), time.process_time()
    limit = upper_bound(problem, clock=Budget(seconds=seconds).clock(), progress=silent)
    return {"bound": f"{limit:.9g}", **_since(began, before)}


def _shares(problem: ScheduleProblem, schedule: Schedule) -> dict[str, str]:
    """What is served, by count, value, work and width."""
    requests, served = problem.requests, schedule.served
    wide = width(requests)
    return {
        "served": f"{len(served) / len(requests.name):.6f}",
        "value": f"{requests.value[served].sum():.9g}",
        "used": f"{used(requests, schedule, problem.fleet.size):.6f}",
        "width": f"{wide[served].mean() / wide.mean():.6f}" if len(served) else "",
    }


def _broken(problem: ScheduleProblem, schedule: Schedule) -> int:
    return len(check_schedule(problem.requests, schedule, problem.fleet))


def used(requests: TimedRequests, schedule: Schedule, machines: int) -> float:
    """The share of all machines' time and resources that the served requests take."""
    return float(np.sum(work(requests)[schedule.served]) / (machines * horizon(requests)))


def _fewest(problem: ScheduleProblem) -> ScheduleProblem:
    """The fewest machines, by bisection, on which Cradle+ serves as many as the better baseline does on all of them."""
    wanted = max(len(_schedule(method, problem, Budget(), 0).served) for method in PAPER[1:])
    low, high = 0, problem.fleet.size
    while high - low > 1:
        middle = (low + high) // 2
        fewer = ScheduleProblem.alike(problem.requests, middle)
        low, high = (low, middle) if len(_schedule("cradle+", fewer, Budget(), 0).served) >= wanted else (middle, high)
    return ScheduleProblem.alike(problem.requests, high)


@cache
def _warm(method: str) -> None:
    """Load the kernels of a method, so that no row has the seconds for that."""
    tiny = GENERATORS["requests"].make(machines=2, load=2.0, n=50, seed=0)
    assert isinstance(tiny, TimedRequests)
    _schedule(method, ScheduleProblem.alike(tiny, 2), Budget(seconds=0.1), 0)
