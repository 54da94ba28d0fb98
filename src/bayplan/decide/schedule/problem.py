"""The problem that every scheduler solves, and the result that it returns."""

from dataclasses import dataclass

import numpy as np

from bayplan.check import check_schedule
from bayplan.errors import ModelError
from bayplan.model import UNPLACED, BoolArray, Fleet, FloatArray, IntArray, Reason, Result, Schedule, TimedRequests, ints, verdict

NAMED = 20  # requests whose reason is given one by one; the others are counted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScheduleProblem:
    """Choose which requests to serve and on which machine, so that no machine is over capacity at any time."""

    requests: TimedRequests
    fleet: Fleet

    def __post_init__(self) -> None:
        if self.fleet.capacity.shape[1] != len(self.requests.resources):
            raise ModelError(
                f"a fleet of {self.fleet.capacity.shape[1]} resources for requests of {len(self.requests.resources)}"
            )

    @classmethod
    def alike(cls, requests: TimedRequests, machines: int) -> "ScheduleProblem":
        """The requests on that many machines of the size that comes with them."""
        return cls(requests=requests, fleet=Fleet.alike(machines, requests.capacity))

    def fits(self, kind: int) -> BoolArray:
        """(request,) does it fit on an empty machine of this kind?"""
        return np.asarray((self.requests.demand <= self.fleet.capacity[kind]).all(axis=1), dtype=np.bool_)

    def share(self, kind: int) -> FloatArray:
        """(request, resource) a_j, b_j, ... of [Cradle]: demand as a share of a machine of this kind; 0 / 0 is 0."""
        capacity = self.fleet.capacity[kind]
        return np.where(
            capacity > 0, self.requests.demand / np.maximum(capacity, 1), np.where(self.requests.demand > 0, np.inf, 0.0)
        )

    @property
    def possible(self) -> BoolArray:
        """(request,) does it fit on some machine, if that is empty?"""
        kinds = [self.fits(kind) for kind in np.flatnonzero(self.fleet.machines).tolist()]
        return np.logical_or.reduce(kinds) if kinds else np.zeros(len(self.requests.name), dtype=np.bool_)


def schedule_result(
    problem: ScheduleProblem, machine_of: IntArray, *, bound: float | None = None, seconds: float = 0.0
) -> Result[Schedule]:
    """The result for one machine or `UNPLACED` per request. `bound`: no schedule is worth more.

    ModelError if a machine is over capacity, InternalError if the value passes the bound: faults that must never reach a user.
    """
    schedule = Schedule(machine_of=ints(machine_of))
    violations = check_schedule(problem.requests, schedule, problem.fleet)
    if violations:
        raise ModelError(f"the method violated a rule: {violations[0].sentence}")
    value = float(problem.requests.value[schedule.served].sum())
    status, proven = verdict("value", value, bound)
    return Result(
        status=status,
        solution=schedule,
        score={"value": value, "served": len(schedule.served) / max(1, len(machine_of))},
        goal="value",
        bound=proven,
        left_out=_left_out(problem, schedule),
        seconds=seconds,
    )


def _left_out(problem: ScheduleProblem, schedule: Schedule) -> tuple[Reason, ...]:
    """Requests that are larger than every machine, by name; how many others are not served."""
    possible = problem.possible
    large = np.flatnonzero(~possible)
    left = int((possible & (schedule.machine_of == UNPLACED)).sum())
    reasons = [Reason(subject=problem.requests.name[j], text=_too_large(problem, j)) for j in large[:NAMED].tolist()]
    if len(large) > NAMED:
        reasons.append(Reason(subject=f"{len(large) - NAMED:,} more requests", text="larger than every machine"))
    if left:
        text = "not served: other requests are worth more for the capacity that these take"
        reasons.append(Reason(subject=f"{left:,} requests", text=text))
    return tuple(reasons)


def _too_large(problem: ScheduleProblem, j: int) -> str:
    """The resources of which it needs more than any machine has."""
    if problem.fleet.size == 0:
        return "there are no machines"
    most = problem.fleet.capacity[problem.fleet.machines > 0].max(axis=0)
    short = [resource.name for r, resource in enumerate(problem.requests.resources) if problem.requests.demand[j, r] > most[r]]
    return f"larger than every machine in {' and '.join(short)}" if short else "no machine has enough of every resource at once"
