"""Our own planner: as few batches as it can, each as wide as resources and limits allow.

Several attempts, each in a style and an order of its own; the best plan counts.
"""

import numpy as np

from bayplan.migrate.answer import Draft, refused, result
from bayplan.migrate.attempt import Attempt, Style
from bayplan.migrate.options import MigrateOptions
from bayplan.model import Budget, Clock, Migration, Plan, Progress, Result, Tick
from bayplan.model.interrupt import stoppable

USUAL = (Style(), Style(surge_first=False), Style(depth=6))
LAST_RESORTS = (  # where the usual ones leave somebody behind
    Style(generous=True),
    Style(generous=True, strict=False),
    Style(generous=True, strict=False, depth=8, patience=2_000),
)
ATTEMPTS = 12  # where no budget says otherwise
ENOUGH = 0.05  # of the seconds, after which a complete plan is good enough


def waves(migration: Migration, options: MigrateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Plan]:
    """The best plan of several attempts."""
    clock, no = budget.clock(), refused(migration)
    if no is not None:
        return no
    most = ATTEMPTS if budget.iterations is None else max(1, budget.iterations)
    best: Draft | None = None
    with stoppable() as stop:
        for number in range(most):
            if best is not None and (stop.asked or best.is_best or _is_late(clock, best)):
                break
            usual = number < len(USUAL) or (best is not None and best.complete)
            style = USUAL[number % len(USUAL)] if usual else LAST_RESORTS[number % len(LAST_RESORTS)]
            rng = np.random.default_rng([seed, number])
            found = Attempt(migration, options, style, rng, lambda: stop.asked or clock.expired()).run(progress)
            best = found if best is None or found.key < best.key else best
            progress(Tick(stage="planning", done=(number + 1) / most, score=float(len(best.plan.batches))))
    assert best is not None
    return result(migration, best, seconds=clock.seconds)


def _is_late(clock: Clock, best: Draft) -> bool:
    limit = clock.budget.seconds
    return limit is not None and clock.seconds >= (ENOUGH if best.complete else 1.0) * limit
