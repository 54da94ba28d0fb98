"""Schedule timed requests: ask a method, bound what any could reach, and say what the answer comes to."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayplan.api.schedule_wishes import ScheduleQuestion
from bayplan.decide.schedule import ScheduleProblem, Scheduler
from bayplan.decide.schedule.bound import bounded
from bayplan.formats.document.text import write_text_atomically
from bayplan.formats.solutions import write_served
from bayplan.model import UNPLACED, BoolArray, Budget, Progress, Result, Schedule, silent
from bayplan.model.interrupt import stoppable
from bayplan.report.answers.schedule_page import SchedulePageData, schedule_page
from bayplan.report.answers.schedule_tables import FleetKind, RequestClass, ScheduleFigures, TimedUse
from bayplan.report.page import how_made
from bayplan.score.timed_load import load_curve, load_factor, loads, span, wide

EACH_REQUEST = 3e-6  # seconds to write it and count it
AT_LEAST, AT_MOST = 0.05, 0.25  # seconds that this takes in any case; share of a user's seconds that are kept for it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scheduling:
    """What a method made of a question."""

    question: ScheduleQuestion
    result: Result[Schedule]
    interrupted: bool  # the user asked it to stop: this is the best so far
    figures: ScheduleFigures

    @property
    def served(self) -> BoolArray:
        """(request,) has it a machine?"""
        return served_by(self.question.problem, self.result)


def schedule_budget(requests: int, *, seconds: float, used: float, threads: int) -> Budget:
    """What method and bound may use of a user's seconds: those that are left, less what it takes to write the answer."""
    finish = min(AT_LEAST + EACH_REQUEST * requests, AT_MOST * seconds)
    return Budget(seconds=max(0.0, seconds - used - finish), threads=threads)


def schedule(
    question: ScheduleQuestion, scheduler: Scheduler, *, budget: Budget, seed: int = 0, progress: Progress = silent
) -> Scheduling:
    """The schedule of a method, in numbers, with a proven bound if that is wanted. Ctrl-C keeps the best so far."""
    with stoppable() as stop:
        result = decided(question, scheduler, budget=budget, seed=seed, progress=progress)
        interrupted = stop.requested
    return Scheduling(question=question, result=result, interrupted=interrupted, figures=figures_of(question.problem, result))


def decided(
    question: ScheduleQuestion, scheduler: Scheduler, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """The answer alone. A method that proves no bound of its own gets one in the time that it leaves."""
    clock = budget.clock()
    result = scheduler(question.problem, question.options, budget=budget, seed=seed, progress=progress)
    if not question.options.bound or result.bound is not None:
        return result
    return bounded(question.problem, result, clock=clock, progress=progress)


def served_by(problem: ScheduleProblem, result: Result[Schedule]) -> BoolArray:
    """(request,) has it a machine? None has, without a solution."""
    if result.solution is None:
        return np.zeros(len(problem.requests.name), dtype=np.bool_)
    return np.asarray(result.solution.machine_of != UNPLACED, dtype=np.bool_)


def figures_of(problem: ScheduleProblem, result: Result[Schedule]) -> ScheduleFigures:
    """An answer in numbers."""
    requests, fleet, served = problem.requests, problem.fleet, served_by(problem, result)
    is_wide = wide(requests).any(axis=1)
    used = loads(requests, fleet, served)
    known = used[~np.isnan(used)]
    return ScheduleFigures(
        requests=len(served),
        served=int(served.sum()),
        machines=fleet.size,
        requested=float(requests.value.sum()),
        value=float(requests.value[served].sum()),
        load=load_factor(requests, fleet),
        utilisation=float(known.mean()) if len(known) else float("nan"),
        span=span(requests),
        narrow=int((~is_wide).sum()),
        wide=int(is_wide.sum()),
        too_large=int((~problem.possible).sum()),
        resources=_resources(problem, served),
        classes=_classes(problem, served),
        kinds=_kinds(problem, result),
    )


def _resources(problem: ScheduleProblem, served: BoolArray) -> tuple[TimedUse, ...]:
    requests, fleet = problem.requests, problem.fleet
    room = (fleet.machines[:, None] * fleet.capacity.astype(np.float64)).sum(axis=0)
    peaks = [load_curve(requests, chosen).load.max(axis=0, initial=0.0) for chosen in (None, served)]
    with np.errstate(divide="ignore", invalid="ignore"):
        top, top_used = (np.where(room > 0, peak / room, np.nan) for peak in peaks)
    both = loads(requests, fleet), loads(requests, fleet, served)
    return tuple(
        TimedUse(
            name=resource.name,
            requested=float(both[0][r]),
            used=float(both[1][r]),
            peak=float(top[r]),
            peak_used=float(top_used[r]),
        )
        for r, resource in enumerate(requests.resources)
    )


def _classes(problem: ScheduleProblem, served: BoolArray) -> tuple[RequestClass, ...]:
    """One row per class, numbers by size, words by alphabet; none if there are no classes."""
    requests = problem.requests
    names, of = np.unique(np.array(requests.priority, dtype=np.str_), return_inverse=True)
    weights = (None, served.astype(np.float64), requests.value, requests.value * served)
    if not len(names):
        return ()
    many, taken, asked, value = (np.bincount(of, weights=weight, minlength=len(names)) for weight in weights)
    rows = [
        RequestClass(name=name, requests=int(many[c]), served=int(taken[c]), requested=float(asked[c]), value=float(value[c]))
        for c, name in enumerate(names.tolist())
    ]
    return tuple(sorted(rows, key=lambda row: (0, int(row.name), "") if row.name.isdigit() else (1, 0, row.name)))


def _kinds(problem: ScheduleProblem, result: Result[Schedule]) -> tuple[FleetKind, ...]:
    fleet, value = problem.fleet, problem.requests.value
    kind_of, served = fleet.kind_of, served_by(problem, result)
    on = kind_of[result.solution.machine_of[served]] if result.solution is not None else np.zeros(0, dtype=np.int64)
    many = np.bincount(on, minlength=len(fleet.kind))
    worth = np.bincount(on, weights=value[served], minlength=len(fleet.kind))
    return tuple(
        FleetKind(name=name, machines=int(fleet.machines[q]), served=int(many[q]), value=float(worth[q]))
        for q, name in enumerate(fleet.kind)
    )


def schedule_object(scheduling: Scheduling) -> Mapping[str, Any]:
    """What `schedule` says as JSON beside what every decision says."""
    figures = scheduling.figures
    return {
        "requests": figures.requests,
        "served": figures.served,
        "machines": figures.machines,
        "value_asked": figures.requested,
        "load_factor": figures.load,
        "utilisation": figures.utilisation,
        "span": figures.span,
        "narrow": figures.narrow,
        "wide": figures.wide,
        "too_large": figures.too_large,
        "resources": figures.resources,
        "classes": figures.classes,
        "kinds": figures.kinds,
        "interrupted": scheduling.interrupted,
    }


def write_scheduling(scheduling: Scheduling, *, out: Path | None, report: Path | None, made: Mapping[str, str]) -> None:
    """Write who is served where, and a page about it."""
    problem, schedule = scheduling.question.problem, scheduling.result.solution
    if schedule is None:
        return
    if out is not None:
        write_served(out, schedule, problem.requests)
    if report is not None:
        write_text_atomically(report, schedule_page(page_data(scheduling), made=how_made(**made)))


def page_data(scheduling: Scheduling) -> SchedulePageData:
    """What a page tells about it."""
    problem = scheduling.question.problem
    return SchedulePageData(
        name=scheduling.question.name,
        requests=problem.requests,
        fleet=problem.fleet,
        served=scheduling.served,
        result=scheduling.result,
        figures=scheduling.figures,
        notes=scheduling.question.notes,
    )
