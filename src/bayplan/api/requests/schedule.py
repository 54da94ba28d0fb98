"""`schedule`: choose which timed requests to serve, and on which machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from bayplan.api.answer import Answer, PathLike
from bayplan.api.control import Control, RunKeywords, interruptible, options_from
from bayplan.api.registry import method_of
from bayplan.api.requests.timed_problem import comparable_forecast, timed_problem
from bayplan.decide.schedule import SCHEDULERS, ScheduleOptions, ScheduleProblem, Scheduler
from bayplan.decide.schedule.bound import bounded
from bayplan.errors import UsageError
from bayplan.formats.requests import RequestsFile
from bayplan.model import BoolArray, Budget, Fleet, Progress, Result, Schedule, TimedRequests
from bayplan.score.schedule_figures import ScheduleFigures, schedule_figures, served_by

if TYPE_CHECKING:
    from bayplan.report.answers.schedule_page import SchedulePageData
    from bayplan.report.table import Report

EACH_REQUEST = 3e-6  # seconds to write it and count it


class ScheduleKeywords(RunKeywords, total=False):
    """What else a call may state."""

    capacity: Mapping[str, str | float] | None  # of one machine, by resource, instead of that of the requests
    forecast: TimedRequests | None  # for the method online: requests like those to come


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleCall:
    """The keywords of a call that are not about how it is run."""

    capacity: Mapping[str, str | float] | None = None
    forecast: TimedRequests | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScheduleAnswer(Answer[Schedule]):
    """Which requests are served, on which machine, and what that is worth."""

    problem: ScheduleProblem
    figures: ScheduleFigures
    name: str = "requests"

    @property
    def placed(self) -> int:
        """How many requests are served."""
        return self.figures.served

    @property
    def served(self) -> BoolArray:
        """(request,) has it a machine?"""
        return served_by(self.problem.requests, self.result.solution)

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        from bayplan.report.answers.schedule_tables import schedule_headline

        return schedule_headline(self.figures)

    def content(self) -> "Report":
        """How it ended, what it is worth, which classes are served where, and why other requests are not served."""
        from bayplan.report.answers.schedule_tables import schedule_report

        return schedule_report(self.result, self.figures, method=self.method, seed=self.seed, wall=self.seconds)

    def details(self) -> Mapping[str, Any]:
        """The figures of the schedule."""
        figures = self.figures
        return {
            "requests": figures.requests,
            "served": figures.served,
            "machines": figures.machines,
            "requested_value": figures.requested,
            "load_factor": figures.load,
            "utilisation": figures.utilisation,
            "span": figures.span,
            "narrow": figures.narrow,
            "wide": figures.wide,
            "too_large": figures.too_large,
            "resources": figures.resources,
            "classes": figures.classes,
            "kinds": figures.kinds,
        }

    def save(self, path: PathLike) -> None:
        """Write which request is served on which machine."""
        from bayplan.formats.solutions import write_served

        if self.result.solution is not None:
            write_served(path, self.result.solution, self.problem.requests)

    def report(self, path: PathLike, *, command: str = "") -> None:
        """Write one self-contained HTML page: load over time, classes, requests not served."""
        from bayplan.formats.document.text import write_text_atomically
        from bayplan.report.answers.schedule_page import schedule_page
        from bayplan.report.page import how_made

        write_text_atomically(path, schedule_page(self.page_data(), made=how_made(command, seed=self.seed)))

    def page_data(self) -> "SchedulePageData":
        """What the page shows."""
        from bayplan.report.answers.schedule_page import SchedulePageData

        return SchedulePageData(
            name=self.name,
            requests=self.problem.requests,
            fleet=self.problem.fleet,
            served=self.served,
            result=self.result,
            figures=self.figures,
            notes=self.notes,
        )


def schedule(
    requests: TimedRequests | RequestsFile,
    machines: int | None = None,
    *,
    fleet: Fleet | None = None,
    method: str = "cradle+",
    seconds: float = 30.0,
    seed: int = 0,
    weights: str = "given",
    profit: Mapping[str, float] | None = None,
    bound: bool = True,
    **options: Unpack[ScheduleKeywords],
) -> ScheduleAnswer:
    """Choose which timed requests to serve, and on which machine, so that those served are worth most.

    No machine is over capacity at any time. Ctrl-C keeps the best so far.

    - `machines`: how many there are, all as large as the requests say; or a `fleet` of several kinds;
    - `weights`: what a request is worth: "given", "one" (each the same), "area" (share of a machine x duration);
    - `profit`: by class of requests, times which their value counts;
    - `bound`: also prove what no schedule can exceed, if the method does not; it takes a part of the seconds.

    >>> import bayplan as bp
    >>> day = bp.generate("requests", n=200, machines=4, load=2.0)
    >>> answer = bp.schedule(day, machines=4)
    >>> 0 < answer.placed < 200 and answer.score["value"] <= answer.bound
    True
    """
    control, scheduler = Control.of(seconds, seed, options), method_of("schedule", method)
    call = options_from(ScheduleCall, options)
    problem = timed_problem(requests, machines, fleet, capacity=call.capacity, weights=weights, profit=profit)
    method_options = schedule_options(problem, method, call, weights=weights, profit=profit, bound=bound)
    control = control.after_compiling(("schedule", method))
    budget = control.method_budget(EACH_REQUEST * len(problem.requests.name))
    result, interrupted = interruptible(
        lambda: solve(problem, method_options, scheduler, budget=budget, seed=seed, progress=control.progress)
    )
    return ScheduleAnswer(
        verb="schedule",
        method=method,
        seed=seed,
        result=result,
        seconds=control.seconds,
        interrupted=interrupted,
        input_notes=requests.notes if isinstance(requests, RequestsFile) else (),
        problem=problem,
        figures=schedule_figures(problem.requests, problem.fleet, result.solution),
    )


def schedule_options(
    problem: ScheduleProblem,
    method: str,
    call: ScheduleCall,
    *,
    weights: str,
    profit: Mapping[str, float] | None,
    bound: bool,
) -> ScheduleOptions:
    """The options of a method; UsageError if one of our methods would ignore the forecast."""
    if call.forecast is None:
        return ScheduleOptions(bound=bound)
    if method in SCHEDULERS and method != "online":
        raise UsageError(f"forecast is for the method online, not {method}; expected method online")
    forecast = comparable_forecast(call.forecast, problem.requests.resources, weights=weights, profit=profit or {})
    return ScheduleOptions(bound=bound, forecast=forecast)


def solve(
    problem: ScheduleProblem,
    options: ScheduleOptions,
    scheduler: Scheduler,
    *,
    budget: Budget,
    seed: int,
    progress: Progress,
) -> Result[Schedule]:
    """The result of a method. One that proves no bound of its own gets one in the time that it leaves, if that is wanted."""
    clock = budget.clock()
    result = scheduler(problem, options, budget=budget, seed=seed, progress=progress)
    if not options.bound or result.bound is not None:
        return result
    return bounded(problem, result, clock=clock, progress=progress)
