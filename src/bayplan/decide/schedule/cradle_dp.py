"""Cradle with a dynamic programme for wide requests: a schedule worth at least 1/9 of the best one (002 Theorem IV.8)."""

from dataclasses import replace

import numpy as np

from bayplan.decide.schedule.answer import scheduled
from bayplan.decide.schedule.cradle import best_of_classes, classes, cradle_choice
from bayplan.decide.schedule.dynamic import best_of_wide
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.decide.schedule.signature import ScheduleOptions
from bayplan.model import UNPLACED, Budget, IntArray, Progress, Result, Schedule

FOR_ITSELF = 0.7  # of the seconds, if a bound is wanted: it proves none for all requests
STOPPED = (
    "dynamic programme: stopped before its end: the best schedule of wide requests is not proven, "
    "only Cradle's own guarantee holds"
)


def cradle_dp(
    problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """The better of the best schedule of wide requests and Cradle's of narrow requests, and never worse than Cradle's.

    With R resources it is worth 1/(4R + 1) of the best at least (1/9 for cpu and memory), on a fleet of several kinds of machines
    1/(4R + 2): docs/verbs/schedule-theory.md. For few machines; where there are too many states for the budget it says so in
    `notes`, and the schedule of wide requests is at least Cradle's. An iteration of the budget is a pass of the programme.
    """
    own = replace(budget, seconds=FOR_ITSELF * budget.seconds) if options.bound and budget.seconds is not None else budget
    clock = own.clock()
    wide = best_of_wide(problem, clock=clock, begin=_in_turn(problem, wide=True))
    others = (_in_turn(problem, wide=False), cradle_choice(problem))  # Cradle's own: the best if there is a machine for everybody
    best = max((wide.machine_of, *others), key=lambda found: float(problem.requests.value[found != UNPLACED].sum()))
    result = scheduled(problem, best, seconds=clock.seconds)
    return result if wide.proven else replace(result, notes=(*result.notes, STOPPED))


def _in_turn(problem: ScheduleProblem, *, wide: bool) -> IntArray:
    """(request,) Cradle's choice among pairs of request and kind that are wide, or that are not; kinds take their turn."""
    machine_of = np.full(len(problem.requests.name), UNPLACED, dtype=np.int64)
    before = 0
    for kind, machines in enumerate(problem.fleet.machines.tolist()):
        if machines:
            every = classes(problem, kind, (machine_of == UNPLACED) & problem.fits(kind))
            chosen = best_of_classes(problem, kind, [one for one in every if one[1] == wide])
            machine_of[chosen != UNPLACED] = before + chosen[chosen != UNPLACED]
        before += machines
    return machine_of
