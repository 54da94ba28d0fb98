"""The baselines of 002 section V: machines take turns, requests in the order of their starts (equal starts: the order given).

Where the paper is silent: a request that does not fit on the machine whose turn it is is tried on all others, in a circle,
and refused if none has room. A refusal changes nothing: the turn stays where it was. Machines of several kinds stand in the
order of the fleet.
"""

from bayplan.decide.schedule.answer import scheduled
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.decide.schedule.signature import ScheduleOptions
from bayplan.decide.schedule.stream import free_tree, nobody, stream_of
from bayplan.kernels.schedule.stream import serve_in_turn
from bayplan.model import Budget, IntArray, Progress, Result, Schedule


def bin_packing(
    problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """Fill one machine until a request does not fit, then the next. It draws no random numbers."""
    clock = budget.clock()
    return scheduled(problem, in_turn(problem, move_on=False), seconds=clock.seconds)


def spread(
    problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """Each request goes to the machine after the one that took the last. It draws no random numbers."""
    clock = budget.clock()
    return scheduled(problem, in_turn(problem, move_on=True), seconds=clock.seconds)


def in_turn(problem: ScheduleProblem, *, move_on: bool) -> IntArray:
    """(request,) its machine or -1; `move_on`: the next request begins at the next machine."""
    machine_of = nobody(problem.requests)
    if problem.fleet.size > 0:
        serve_in_turn(stream_of(problem.requests), free_tree(problem.fleet), problem.fleet.size, move_on, machine_of)
    return machine_of
