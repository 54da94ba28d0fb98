"""Plans for very many small migrations with every kind of rule: `python -m tests.stress.migration [first] [last]`.

Each seed is one migration. Prints the seeds at which a plan is unsafe, misses an order that brute force finds, names the
wrong containers as stuck, or cannot be taken back.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from tests.builders.migrations import small
from tests.naive.migrations import most_arrivals

from bayplan.check.migration.referee import judge
from bayplan.migrate import MIGRATORS, MigrateOptions, inverse
from bayplan.model import UNPLACED, Budget, Migration, Plan, ints, silent


def faults(migration: Migration, method: str, *, iterations: int = 12) -> Iterator[str]:
    """What is wrong with the plan of a method; nothing if all is well."""
    result = MIGRATORS[method](migration, MigrateOptions(), budget=Budget(iterations=iterations), seed=0, progress=silent)
    if result.solution is None:
        yield f"refused: {result.still_violated[0]}"
        return
    verdict = judge(migration, result.solution)
    yield from (f"unsafe: {breach}" for breach in verdict.breaches)
    names = migration.cluster.containers.name
    if [reason.subject for reason in result.left_out] != [names[c] for c in verdict.stuck]:
        yield "the reasons name others than those that are stuck"
    if method == "waves" and len(verdict.stuck):
        arrived, possible = int(migration.moving.sum()) - len(verdict.stuck), most_arrivals(migration)
        if arrived < possible:
            yield f"{arrived} arrive, {possible} could"
    yield from _not_back(migration, result.solution)


def _not_back(migration: Migration, plan: Plan) -> Iterator[str]:
    """Unsafe ways back from each batch."""
    for done in range(len(plan.batches) + 1):
        verdict = judge(way_back(migration, plan, done), inverse(plan, done))
        yield from (f"way back from {done}: {breach}" for breach in verdict.breaches)
        if (verdict.running.machine_of != migration.start.machine_of).any():
            yield f"way back from {done}: not at the start"


def way_back(migration: Migration, plan: Plan, done: int) -> Migration:
    """From the state after so many batches to the start, with the workloads as whole as they were asked to be kept."""
    ends = (migration.start.machine_of, migration.after.machine_of)
    whole = np.minimum(*(_counts(migration, machine_of) for machine_of in ends))
    here = migration.start.after(Plan(batches=plan.batches[:done]))
    return replace(migration, start=here, after=migration.start.placement, whole=ints(whole))


def _counts(migration: Migration, machine_of: np.ndarray) -> np.ndarray:
    placed = migration.cluster.containers.workload[machine_of != UNPLACED]
    return np.bincount(placed, minlength=len(migration.cluster.workloads.name))


if __name__ == "__main__":
    first, last = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (0, 1_000)
    seen: Counter[str] = Counter()
    for seed in range(first, last):
        migration = small(seed)
        for method in MIGRATORS:
            found = list(faults(migration, method))
            seen.update({f"{method} wrong" if found else f"{method} right": 1})
            if found:
                print(f"small({seed}), {method}: {found[0]}", flush=True)
    print(", ".join(f"{count:,} {name}" for name, count in sorted(seen.items())))
