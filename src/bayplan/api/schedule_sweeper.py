"""One method asked about one set of requests on several numbers of machines."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from bayplan.api.schedule import served_by
from bayplan.api.schedule_wishes import ScheduleQuestion
from bayplan.decide.schedule import ScheduleProblem, Scheduler
from bayplan.decide.schedule.bound import prices
from bayplan.decide.schedule.prices import common_unit
from bayplan.model import Clock, Fleet, Progress, silent
from bayplan.report.answers.sweep_tables import SweepPoint

FOR_BOUND = 0.3  # of the seconds of a point, if a bound is wanted


@dataclass(slots=True)
class Sweeper:
    """Answers by number of machines, each asked for once; the whole thing can be stopped between any two."""

    question: ScheduleQuestion
    method: str
    scheduler: Scheduler
    seed: int
    known: dict[int, SweepPoint]
    clock: Clock
    progress: Progress = silent

    @property
    def points(self) -> list[SweepPoint]:
        """What is known, by number of machines."""
        return sorted(self.known.values(), key=lambda point: point.machines)

    @property
    def unit(self) -> float:
        """By so much at most a bound is rounded down: values are multiples of it."""
        return float(common_unit(self.question.problem.requests.value))

    def at(self, machines: int, share: float, *, bounded: bool = True) -> SweepPoint:
        """The answer on so many machines, with `share` of the time that is left."""
        if machines not in self.known:
            self.known[machines] = self.ask(machines, share, bounded=bounded)
        return self.known[machines]

    def bound(self, machines: int, over: Callable[[], bool]) -> None:
        """A bound beside an answer that was asked for without, if there is time for one."""
        if machines in self.known and self.known[machines].bound is None and not over():
            self.known[machines] = self.ask(machines, 0.5)

    def ask(self, machines: int, share: float, *, bounded: bool = True) -> SweepPoint:
        """One answer and, if it is wanted, its bound."""
        problem = on_machines(self.question, machines)
        total = self.clock.budget.seconds
        budget = replace(self.clock.budget, seconds=None if total is None else max(0.0, total - self.clock.seconds) * share)
        clock, wants = budget.clock(), self.question.options.bound and bounded
        own = budget if budget.seconds is None or not wants else replace(budget, seconds=(1 - FOR_BOUND) * budget.seconds)
        result = self.scheduler(problem, self.question.options, budget=own, seed=self.seed, progress=silent)
        table = prices(problem, clock=clock, progress=silent) if wants and machines else None
        served = served_by(problem, result)
        value = float(problem.requests.value[served].sum())
        return SweepPoint(
            machines=machines,
            served=int(served.sum()),
            value=value,
            bound=max(value, table.bound) if table is not None else 0.0 if wants else None,  # without machines
            price=None if table is None else float(table.value_of_one_more[0]),
            seconds=clock.seconds,
        )


def on_machines(question: ScheduleQuestion, machines: int) -> ScheduleProblem:
    """The question on so many machines of the requests' own size."""
    requests = question.problem.requests
    return ScheduleProblem(requests=requests, fleet=Fleet.alike(machines, requests.capacity))
