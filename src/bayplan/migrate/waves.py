"""Our own planner: as few batches as it can, each as wide as resources and limits allow.

Several constructions, each in a style and an order of its own; the best plan counts.
"""

import numpy as np

from bayplan.migrate.construct import Construction, ConstructionStyle
from bayplan.migrate.options import MigrateOptions
from bayplan.migrate.result import PlanDraft, plan_result, refused
from bayplan.model import Budget, Clock, Migration, Plan, Progress, Result, Tick
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
    """The best plan of several attempts."""
    clock, refusal = budget.clock(), refused(migration)
    if refusal is not None:
        return refusal
    attempts = ATTEMPTS if budget.iterations is None else max(1, budget.iterations)
    best: PlanDraft | None = None
    with stoppable() as stop:
        for number in range(attempts):
            if best is not None and (stop.requested or best.is_best or _is_late(clock, best)):
                break
            usual = number < len(USUAL) or (best is not None and best.complete)
            style = USUAL[number % len(USUAL)] if usual else LAST_RESORTS[number % len(LAST_RESORTS)]
            rng = np.random.default_rng([seed, number])
            draft = Construction(migration, options, style, rng, lambda: stop.requested or clock.expired()).run(progress)
            best = draft if best is None or draft.key < best.key else best
            progress(Tick(stage="planning", done=(number + 1) / attempts, score=float(len(best.plan.batches))))
    assert best is not None
    return plan_result(migration, best, seconds=clock.seconds)


def _is_late(clock: Clock, best: PlanDraft) -> bool:
    limit = clock.budget.seconds
    return limit is not None and clock.seconds >= (ENOUGH if best.complete else 1.0) * limit
