"""One cell: a method on requests of a trace at a load."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayplan.check import check_schedule
from bayplan.decide.schedule import SCHEDULERS, ScheduleOptions, ScheduleProblem
from bayplan.decide.schedule.bound import upper_bound
from bayplan.model import Budget, Schedule, TimedRequests, silent
from experiments.cradle.instances import drawn, horizon, load, machines_for, requests_of, size_for, work
from experiments.cradle.settings import METHODS, PAPER, Scope

KEY = ("part", "trace", "load", "size", "seed", "method")
MEASURES = ("n", "machines", "reached", "served", "value", "used", "bound", "broken", "seconds")
BOUND = "bound"  # stands where a method does: the upper bound of an instance
LOADS, MACHINES, LOCAL = "loads", "machines", "local"  # parts: Figures 3 to 6, Figure 2, and what exchanges add
PARTS = (LOADS, MACHINES, LOCAL)


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
    def problem(self) -> ScheduleProblem:
        """The requests that are drawn, and as many machines as the load asks for."""
        every = requests_of(self.trace)
        size = size_for(every, self.load, self.size) if self.part == MACHINES else self.size
        requests = drawn(every, size, self.seed)
        return ScheduleProblem.alike(requests, machines_for(requests, self.load))


def cells(scope: Scope) -> Iterator[Cell]:
    """All cells, those of one instance side by side."""
    for seed in scope.seeds:
        for trace in scope.traces:
            for factor in scope.loads:
                methods = (*METHODS, BOUND)
                yield from _with(methods, part=LOADS, trace=trace, load=factor, size=scope.sampled[trace], seed=seed)
            for factor in scope.machine_loads:
                every = requests_of(trace)
                enough = [m for m in scope.machines if size_for(every, factor, m) <= len(every.name)]
                for machines in enough:
                    yield from _with(PAPER, part=MACHINES, trace=trace, load=factor, size=machines, seed=seed)
            for factor in scope.improved:
                yield from _with(("cradle+", "local"), part=LOCAL, trace=trace, load=factor, size=scope.sampled[trace], seed=seed)


def _with(methods: tuple[str, ...], *, part: str, trace: str, load: float, size: int, seed: int) -> Iterator[Cell]:
    for method in methods:
        yield Cell(part=part, trace=trace, load=load, size=size, seed=seed, method=method)


def measured(cell: Cell, scope: Scope) -> dict[str, str]:
    """The measures of a cell, as text."""
    problem = cell.problem
    instance = {"n": str(len(problem.requests.name)), "machines": str(problem.fleet.size)}
    instance["reached"] = f"{load(problem.requests, problem.fleet.size):.6g}"
    if cell.method == BOUND:
        clock = Budget(seconds=scope.bound_seconds).clock()
        limit = upper_bound(problem, clock=clock, progress=silent)
        return {**dict.fromkeys(MEASURES, ""), **instance, "bound": f"{limit:.9g}", "seconds": f"{clock.seconds:.3f}"}
    budget = Budget(seconds=scope.seconds) if cell.method == LOCAL else Budget()
    clock = budget.clock()
    result = SCHEDULERS[cell.method](problem, ScheduleOptions(bound=False), budget=budget, seed=cell.seed, progress=silent)
    seconds = clock.seconds
    schedule = result.solution
    assert schedule is not None
    measures = {
        "served": f"{len(schedule.served) / len(problem.requests.name):.6f}",
        "value": f"{result.score['value']:.9g}",
        "used": f"{used(problem.requests, schedule, problem.fleet.size):.6f}",
        "bound": "",
        "broken": str(len(check_schedule(problem.requests, schedule, problem.fleet))),
        "seconds": f"{seconds:.3f}",
    }
    return {**instance, **measures}


def used(requests: TimedRequests, schedule: Schedule, machines: int) -> float:
    """The share of all machines' time and resources that the served requests take."""
    return float(np.sum(work(requests)[schedule.served]) / (machines * horizon(requests)))
