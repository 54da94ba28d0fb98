"""What a scheduler returns: judged by the referee, scored by value."""

import numpy as np

from bayplan.check import check_schedule
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.errors import ModelError
from bayplan.model import UNPLACED, IntArray, Reason, Result, Schedule, Status, ints

NAMED = 20  # requests whose reason is given one by one


def scheduled(
    problem: ScheduleProblem, machine_of: IntArray, *, bound: float | None = None, seconds: float = 0.0
) -> Result[Schedule]:
    """The result for one machine or `UNPLACED` per request. `bound`: no schedule is worth more.

    An answer that does not fit is a fault of the method, and never gets out: ModelError.
    """
    schedule = Schedule(machine_of=ints(machine_of))
    broken = check_schedule(problem.requests, schedule, problem.fleet)
    if broken:
        raise ModelError(f"the method broke a rule: {broken[0].sentence}")
    value = float(problem.requests.value[schedule.served].sum())
    known = None if bound is None else max(bound, value)  # rounding
    optimal = known is not None and known - value <= 1e-9 * max(1.0, value)
    return Result(
        status=Status.OPTIMAL if optimal else Status.FEASIBLE,
        solution=schedule,
        score={"value": value, "served": len(schedule.served) / max(1, len(machine_of))},
        goal="value",
        bound=known,
        left_out=_left_out(problem, schedule),
        seconds=seconds,
    )


def _left_out(problem: ScheduleProblem, schedule: Schedule) -> tuple[Reason, ...]:
    """Requests that are larger than every machine, by name; how many others found no room."""
    possible = problem.possible
    large = np.flatnonzero(~possible)
    left = int((possible & (schedule.machine_of == UNPLACED)).sum())
    said = [Reason(subject=problem.requests.name[j], text=_too_large(problem, j)) for j in large[:NAMED].tolist()]
    if len(large) > NAMED:
        said.append(Reason(subject=f"{len(large) - NAMED:,} more requests", text="larger than every machine"))
    if left:
        said.append(Reason(subject=f"{left:,} requests", text="not served: others are worth more than the room that these take"))
    return tuple(said)


def _too_large(problem: ScheduleProblem, j: int) -> str:
    """Of which resource it asks for more than any machine has."""
    if problem.fleet.size == 0:
        return "there are no machines"
    most = problem.fleet.capacity[problem.fleet.machines > 0].max(axis=0)
    short = [resource.name for r, resource in enumerate(problem.requests.resources) if problem.requests.demand[j, r] > most[r]]
    return f"larger than every machine in {' and '.join(short)}" if short else "no machine has enough of every resource at once"
