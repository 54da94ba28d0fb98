"""The baselines of [Cradle] §V: machines take turns, requests come in the order of their starts.

Where the paper is silent: equal starts keep the given order. A request that does not fit on the machine whose turn it is is
tried on all others in turn, and refused if it fits on none; a refusal does not change the turn. Machines of several kinds take
turns in the order of the fleet.
"""

from bayplan.decide.schedule.arrivals import free_tree, none_served, stream_of
from bayplan.decide.schedule.options import ScheduleOptions
from bayplan.decide.schedule.problem import ScheduleProblem, schedule_result
from bayplan.kernels.schedule.stream import serve_round_robin
from bayplan.model import Budget, IntArray, Progress, Result, Schedule


def bin_packing(
    problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """Fill one machine until a request does not fit, then the next. No random numbers."""
    clock = budget.clock()
    return schedule_result(problem, round_robin(problem, move_on=False), seconds=clock.seconds)


def spread(
    problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """Each request goes to the machine after that of the request before. No random numbers."""
    clock = budget.clock()
    return schedule_result(problem, round_robin(problem, move_on=True), seconds=clock.seconds)


def round_robin(problem: ScheduleProblem, *, move_on: bool) -> IntArray:
    """(request,) machine or `UNPLACED`; `move_on`: after each request it is the turn of the next machine."""
    machine_of = none_served(problem.requests)
    if problem.fleet.size > 0:
        serve_round_robin(stream_of(problem.requests), free_tree(problem.fleet), problem.fleet.size, move_on, machine_of)
    return machine_of
