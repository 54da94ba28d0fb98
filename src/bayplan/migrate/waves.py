"""Our own planner: as few batches as it can, each as wide as resources and limits allow.

Several constructions, each in a style and an order of its own; the best plan counts. Where the way of a workload is AUTO, it
surges in turn only where it has to, always, never, and wherever that suits: so AUTO is never behind a single way.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from bayplan.migrate.construct import Construction, ConstructionStyle, KnownOrders
from bayplan.migrate.move_units import move_units
from bayplan.migrate.options import MigrateOptions
from bayplan.migrate.result import PlanDraft, plan_result, refused
from bayplan.model import Budget, Clock, Migration, Plan, Progress, Result, Tick, Way
from bayplan.model.interrupt import stoppable

USUAL = (ConstructionStyle(), ConstructionStyle(surge_first=False), ConstructionStyle(depth=6))
LAST_RESORTS = (  # where plans in the usual styles are not complete
    ConstructionStyle(generous=True),
    ConstructionStyle(generous=True, strict=False),
    ConstructionStyle(generous=True, strict=False, depth=8, patience=2_000),
)
ATTEMPTS = 12  # where the budget states no iterations
ENOUGH = 0.05  # of the seconds, after which a complete plan is good enough


def waves(migration: Migration, options: MigrateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Plan]:
    """The best plan of several attempts. An iteration of the budget is one attempt in every meaning of AUTO."""
    clock, refusal = budget.clock(), refused(migration)
    if refusal is not None:
        return refusal
    attempts = ATTEMPTS if budget.iterations is None else max(1, budget.iterations)
    progress(Tick(stage="planning", done=0.0))
    meanings = [PlansInOneWay(meaning, options, seed) for meaning in meanings_of_auto(migration, options)]
    progress(Tick(stage="planning", done=0.0))  # that takes a second where there are 100,000 containers
    best: PlanDraft | None = None
    bound: int | None = None  # of the first attempt, which takes AUTO as it is: other meanings have other bounds
    with stoppable() as stop:
        for number, plans in product(range(attempts), meanings):
            if best is not None and (stop.requested or best.is_best or _is_late(clock, best)):
                break
            if best is not None and best.complete and number >= len(USUAL) and not plans.complete:
                continue  # in this way some are stuck, in another none: last resorts would take longest, for the least hope
            draft = plans.attempt(number, lambda: stop.requested or clock.expired(), progress)
            if draft is None:
                continue
            bound = draft.bound if bound is None else bound
            best = replace(draft, bound=bound) if best is None or draft.key < best.key else best
            progress(Tick(stage="planning", done=(number + 1) / attempts, score=float(len(best.plan.batches))))
    assert best is not None
    return plan_result(migration, best, seconds=clock.seconds)


def meanings_of_auto(migration: Migration, options: MigrateOptions) -> list[Migration]:
    """The migration with each meaning of AUTO that makes a difference: only where it has to, always, never, wherever it suits."""
    ways = [migration.policy.way_of(w) for w in range(len(migration.cluster.workloads.name))]
    different: dict[tuple[bytes, bytes], Migration] = {}  # by what each unit may do
    for meaning in (Way.AUTO, Way.SURGE, Way.REPLACE, Way.EITHER):
        way = tuple(meaning if way is Way.AUTO else way for way in ways)
        meant = replace(migration, policy=replace(migration.policy, way=way))
        units = move_units(meant, options)
        different.setdefault((bytes(units.may_replace), bytes(units.may_surge)), meant)
    return list(different.values())


@dataclass(slots=True)
class PlansInOneWay:
    """The attempts at one migration, and the best plan so far."""

    migration: Migration
    options: MigrateOptions
    seed: int
    best: PlanDraft | None = None
    known_orders: KnownOrders = field(default_factory=dict)  # attempts share what a search over all orders has found

    @property
    def complete(self) -> bool:
        """Does the best plan so far bring every container to its target?"""
        return self.best is not None and self.best.complete

    def attempt(self, number: int, over: Callable[[], bool], progress: Progress) -> PlanDraft | None:
        """One more plan; None if the best so far cannot be beaten in this way."""
        if self.best is not None and self.best.is_best:
            return None
        usual = number < len(USUAL) or self.complete
        style = USUAL[number % len(USUAL)] if usual else LAST_RESORTS[number % len(LAST_RESORTS)]
        rng = np.random.default_rng([self.seed, number])
        draft = Construction(self.migration, self.options, style, rng, over, self.known_orders).run(progress)
        self.best = draft if self.best is None or draft.key < self.best.key else self.best
        return draft


def _is_late(clock: Clock, best: PlanDraft) -> bool:
    limit = clock.budget.seconds
    return limit is not None and clock.seconds >= (ENOUGH if best.complete else 1.0) * limit
