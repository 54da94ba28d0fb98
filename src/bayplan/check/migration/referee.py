"""The referee of migration plans. It shares no code with what makes them."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import numpy as np

from bayplan.check.migration.availability import AliveCheck, PinnedCheck, WayCheck
from bayplan.check.migration.batch_state import BatchLoads, BatchState, Instances, StepArrays
from bayplan.check.migration.co_location import CoLocateCheck
from bayplan.check.migration.context import PlanContext
from bayplan.check.migration.groups import AllowCheck, AntiAffinityCheck, InterferenceCheck
from bayplan.check.migration.machines import CapacityCheck, ConfidenceCheck, JointTransientCheck, SequentialTransientCheck
from bayplan.check.migration.plan_check import BatchSummary, PlanCheck, PlanViolation
from bayplan.check.migration.services import DependencyCheck, SpreadCheck
from bayplan.check.migration.skew import SkewCheck
from bayplan.check.migration.well_formed import possible_steps, step_limits
from bayplan.model import UNPLACED, IntArray, Migration, Plan, Running, ints

BatchCheck: TypeAlias = Callable[[BatchState], Iterable[PlanViolation]]

BATCH_CHECKS: Mapping[str, Callable[[PlanContext], BatchCheck]] = {  # in the order in which violations of one batch come out
    "capacity": CapacityCheck,
    "anti-affinity": AntiAffinityCheck,
    "spread": SpreadCheck,
    "skew": SkewCheck,
    "co-locate": CoLocateCheck,
    "allow": AllowCheck,
    "dependency": DependencyCheck,
    "sequential": SequentialTransientCheck,
    "joint": JointTransientCheck,
    "interference": InterferenceCheck,
    "pinned": PinnedCheck,
    "confidence": ConfidenceCheck,
    "way": WayCheck,
}


def check_migration(migration: Migration, plan: Plan) -> PlanCheck:
    """Every unsafe batch of a plan, whether all containers arrive, and how close to its limits it came.

    The steps of a batch may be made at the same time, in any order: a batch is safe if no rule is violated in any state with
    some of its steps done. So upper limits are checked with everything that ran before and every create of the batch; lower
    limits without anything that the batch deletes. Where an end of the migration violates a limit in a place, that place is
    held to the worse of the two ends instead; but for skew, which Kubernetes asks at every create alone.

    A place is checked in the batches that can make it worse, so what an unsafe batch violated is not reported again for later
    batches that leave it alone. Steps that cannot be made are reported and left out.
    """
    batches = [StepArrays.of(steps) for steps in plan.batches]
    context = _context(migration, batches)
    alive, checks = AliveCheck(context), [make(context) for make in BATCH_CHECKS.values()]
    start_alive, start_peak = min(1.0, alive.share()[0]), context.loads.peak()
    running, violations, summaries = migration.start, list[PlanViolation](), list[BatchSummary]()
    for number, steps in enumerate(batches):
        batch, malformed = possible_steps(migration.cluster, number, steps, running)
        context.advance(batch)
        violations += [*malformed, *step_limits(migration, batch), *alive(batch)]
        violations += [violation for check in checks for violation in check(batch)]
        running = batch.after()
        summaries.append(_summary(context, alive, batch, running))
    return PlanCheck(
        violations=tuple(violations),
        not_arrived=_not_arrived(migration, running),
        running=running,
        batches=tuple(summaries),
        start_alive=start_alive,
        start_peak=start_peak,
    )


def _context(migration: Migration, batches: list[StepArrays]) -> PlanContext:
    start, end = Instances.of(migration.start), Instances.placed(migration.target)
    n_c, n_m = len(migration.cluster.containers.name), len(migration.cluster.machines.name)
    nothing = np.zeros(0, dtype=np.int64)
    c, m = (np.concatenate([nothing, *(getattr(steps, part)[steps.create] for steps in batches)]) for part in ("c", "m"))
    return PlanContext(
        migration=migration,
        start=start,
        end=end,
        created=Instances(c=c, m=m).where((c >= 0) & (c < n_c) & (m >= 0) & (m < n_m)),
        loads=BatchLoads(migration.cluster, start, end),
    )


def _summary(context: PlanContext, alive: AliveCheck, batch: BatchState, running: Running) -> BatchSummary:
    start, target, (c, m) = context.migration.start, context.migration.target.machine_of, batch.creates
    share, workload = alive.share()
    return BatchSummary(
        steps=len(c) + len(batch.deletes.c),
        creates=len(c),
        deletes=len(batch.deletes.c),
        stopovers=int(((m != target[c]) & (m != start.machine_of[c]) & (m != start.second[c])).sum()),
        doubled=len(running.doubled),
        least_alive=share,
        least_workload=workload,
        peak=context.loads.peak(),
    )


def _not_arrived(migration: Migration, running: Running) -> IntArray:
    """Containers that do not run on their target, or not only there."""
    return ints(np.flatnonzero((running.machine_of != migration.target.machine_of) | (running.second != UNPLACED)))
