"""The referee of migration plans. It shares no code with what makes them."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import numpy as np

from bayplan.check.migration.batch_state import Instances, Orders, Wave, orders_of
from bayplan.check.migration.context import Case
from bayplan.check.migration.fullness import Capacity, Confidence, Joint, Sequential
from bayplan.check.migration.limits import limits
from bayplan.check.migration.loads import Loads
from bayplan.check.migration.services import Dependency, Spread
from bayplan.check.migration.staying import Alive, Pinned, Ways
from bayplan.check.migration.together import Allow, AntiAffinity, Interference
from bayplan.check.migration.units import CoLocate
from bayplan.check.migration.verdict import BatchRecord, Breach, Verdict
from bayplan.check.migration.well_formed import sorted_out
from bayplan.model import UNPLACED, IntArray, Migration, Plan, Running, ints

Watch: TypeAlias = Callable[[Wave], Iterable[Breach]]

WATCHES: Mapping[str, Callable[[Case], Watch]] = {  # in the order in which breaches of one batch come out
    "capacity": Capacity,
    "anti-affinity": AntiAffinity,
    "spread": Spread,
    "co-locate": CoLocate,
    "allow": Allow,
    "dependency": Dependency,
    "sequential": Sequential,
    "joint": Joint,
    "interference": Interference,
    "pinned": Pinned,
    "confidence": Confidence,
    "way": Ways,
}


def judge(migration: Migration, plan: Plan) -> Verdict:
    """Every unsafe batch of a plan, whether it arrives, and how close to the edge it came.

    The steps of a batch may be made at the same time, in any order: a batch is safe if nothing is broken in any state with
    some of its steps done. So upper limits are judged with everything that ran before and every create of the batch; lower
    limits without anything that the batch deletes. Where an end of the migration breaks a limit in a place, that place is held
    to the worse of the two ends instead.

    A place is judged in the batches that can make it worse, so what an unsafe batch broke is not said again by later batches
    that leave it alone. Steps that cannot be made are said and left out.
    """
    orders = list(orders_of(plan))
    case = _case(migration, orders)
    alive, watches = Alive(case), [make(case) for make in WATCHES.values()]
    running, said, records = migration.start, list[Breach](), list[BatchRecord]()
    for number, some in enumerate(orders):
        wave, malformed = sorted_out(migration.cluster, number, some, running)
        case.turn(wave)
        said += [*malformed, *limits(migration, wave), *alive(wave)]
        said += [breach for watch in watches for breach in watch(wave)]
        running = wave.after()
        records.append(_record(case, alive, wave, running))
    return Verdict(breaches=tuple(said), stuck=_stuck(migration, running), running=running, batches=tuple(records))


def _case(migration: Migration, orders: list[Orders]) -> Case:
    begin, end = Instances.of(migration.start), Instances.placed(migration.after)
    n_c, n_m = len(migration.cluster.containers.name), len(migration.cluster.machines.name)
    nothing = np.zeros(0, dtype=np.int64)
    c, m = (np.concatenate([nothing, *(getattr(some, part)[some.create] for some in orders)]) for part in ("c", "m"))
    return Case(
        migration=migration,
        begin=begin,
        end=end,
        coming=Instances(c=c, m=m).where((c >= 0) & (c < n_c) & (m >= 0) & (m < n_m)),
        loads=Loads(migration.cluster, begin, end),
    )


def _record(case: Case, alive: Alive, wave: Wave, running: Running) -> BatchRecord:
    start, after, (c, m) = case.migration.start, case.migration.after.machine_of, wave.creates
    share, workload = alive.share()
    return BatchRecord(
        steps=len(c) + len(wave.deletes.c),
        creates=len(c),
        deletes=len(wave.deletes.c),
        stopovers=int(((m != after[c]) & (m != start.machine_of[c]) & (m != start.second[c])).sum()),
        doubled=len(running.doubled),
        least_alive=share,
        least_workload=workload,
        peak=case.loads.peak(),
    )


def _stuck(migration: Migration, running: Running) -> IntArray:
    """Containers that are not, or not only, where they shall be."""
    return ints(np.flatnonzero((running.machine_of != migration.after.machine_of) | (running.second != UNPLACED)))
