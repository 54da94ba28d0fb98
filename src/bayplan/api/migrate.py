"""Migrate: ask a method for an order of moves, let the referee judge it, write it down."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bayplan.api.trip import Trip
from bayplan.check.migration.plan_check import PlanCheck
from bayplan.check.migration.referee import check_migration
from bayplan.formats import write_plan
from bayplan.migrate import MigrateOptions
from bayplan.migrate.result import PlanDraft, plan_result
from bayplan.model import UNPLACED, Plan, Reason, Result, Status
from bayplan.model.interrupt import stoppable
from bayplan.score.duration import StepCosts, Timetable, duration

SAID = 3  # sentences of the referee in one message


class UnsafePlanError(RuntimeError):
    """A method made a plan that the referee forbids: a fault of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What a method made of a migration."""

    trip: Trip
    result: Result[Plan]  # `left_out` are the containers that do not arrive
    verdict: PlanCheck | None = None  # of the referee, and
    timetable: Timetable | None = None  # how long it may take, where there is a plan
    by_wish: int = 0  # containers that do not arrive because the user wants them to stay
    interrupted: bool = False

    @property
    def plan(self) -> Plan | None:
        """The plan, if there is one."""
        return self.result.solution

    @property
    def complete(self) -> bool:
        """Does everything arrive that the user wants to move?"""
        return self.plan is not None and len(self.result.left_out) == self.by_wish

    @property
    def moved(self) -> int:
        """Containers that run elsewhere at the end than at the start."""
        if self.verdict is None:
            return 0
        old, new = self.trip.migration.start.machine_of, self.verdict.running.machine_of
        return int(((old != UNPLACED) & (new != UNPLACED) & (old != new)).sum())

    @property
    def placed(self) -> int:
        """Containers that run at the end."""
        return 0 if self.verdict is None else int((self.verdict.running.machine_of != UNPLACED).sum())


def find_route(trip: Trip, ask: Callable[[], Result[Plan]], options: MigrateOptions, costs: StepCosts) -> Route:
    """The plan of a method, judged. Ctrl-C asks the method to stop, and its best so far counts."""
    with stoppable() as stop:
        found = ask()
        interrupted = stop.requested
    return judged(trip, found, options, costs, interrupted=interrupted)


def judged(trip: Trip, found: Result[Plan], options: MigrateOptions, costs: StepCosts, *, interrupted: bool = False) -> Route:
    """The result with the scores that the referee measured; UnsafePlanError if it forbids the plan."""
    if found.solution is None:
        return Route(trip=trip, result=found, interrupted=interrupted)
    verdict = check_migration(trip.migration, found.solution)
    if not verdict.safe:
        said = "; ".join(map(str, verdict.violations[:SAID]))
        raise UnsafePlanError(f"the plan breaks {len(verdict.violations)} rules on the way: {said}")
    return _measured(trip, found, verdict, options, costs, interrupted)


def way_back(trip: Trip, plan: Plan, costs: StepCosts) -> Route:
    """A plan of the user turned round, judged; refused with the referee's sentences if it is unsafe."""
    verdict = check_migration(trip.migration, plan)
    if not verdict.safe:
        said = tuple(map(str, verdict.violations))
        return Route(trip=trip, result=Result(status=Status.INFEASIBLE, solution=None, goal="batches", still_violated=said))
    found = plan_result(trip.migration, PlanDraft(plan=plan), seconds=0.0)
    return _measured(trip, found, verdict, MigrateOptions(), costs, False)


def _measured(
    trip: Trip, found: Result[Plan], verdict: PlanCheck, options: MigrateOptions, costs: StepCosts, interrupted: bool
) -> Route:
    assert found.solution is not None
    lost = tuple(Reason(subject=name, text=why) for name, why in trip.lost)
    score = {**found.score, "alive": verdict.least_alive, "peak": verdict.peak}
    stays = set() if options.never is None else {trip.migration.cluster.containers.name[c] for c in options.never.nonzero()[0]}
    return Route(
        trip=trip,
        result=replace(found, score=score, left_out=(*found.left_out, *lost)),
        verdict=verdict,
        timetable=duration(trip.migration.cluster, trip.migration.start, found.solution, costs),
        by_wish=sum(reason.subject in stays for reason in found.left_out),
        interrupted=interrupted,
    )


def write_route(route: Route, *, out: Path | None, back: Path | None) -> None:
    """Write the plan, and the one that leads back."""
    if route.plan is None:
        return
    cluster, new = route.trip.snapshot.cluster, route.trip.new
    if out is not None:
        write_plan(out, route.plan, cluster, new)
    if back is not None:
        write_plan(back, route.plan.inverse(), cluster, new)
