"""Plans for very many small migrations with every kind of rule: `python -m tests.stress.migration [first] [last]`.

Each seed is one migration. Prints the seeds at which a plan is unsafe, misses an order that brute force finds, names the
wrong containers as left out, or cannot be taken back.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from tests.builders.migrations import small
from tests.naive.migrations import most_arrivals

from bayplan.check import check_migration
from bayplan.migrate import MIGRATORS, MigrateOptions
from bayplan.model import Budget, Migration, Plan, silent


def faults(migration: Migration, method: str, *, iterations: int = 12) -> Iterator[str]:
    """What is wrong with the plan of a method; nothing if all is well."""
    result = MIGRATORS[method](migration, MigrateOptions(), budget=Budget(iterations=iterations), seed=0, progress=silent)
    if result.solution is None:
        yield f"refused: {result.still_violated[0]}"
        return
    checked = check_migration(migration, result.solution)
    yield from (f"unsafe: {violation}" for violation in checked.violations)
    names = migration.cluster.containers.name
    if [reason.subject for reason in result.left_out] != [names[c] for c in checked.not_arrived]:
        yield "the reasons name other containers than those that do not arrive"
    if method == "waves" and len(checked.not_arrived):
        arrived, possible = int(migration.moving.sum()) - len(checked.not_arrived), most_arrivals(migration)
        if arrived < possible:
            yield f"{arrived} arrive, {possible} could"
    yield from _not_back(migration, result.solution)


def _not_back(migration: Migration, plan: Plan) -> Iterator[str]:
    """Unsafe ways back from each batch."""
    for done in range(len(plan.batches) + 1):
        checked = check_migration(way_back(migration, plan, done), plan.inverse(done))
        yield from (f"way back from {done}: {violation}" for violation in checked.violations)
        if (checked.running.machine_of != migration.start.machine_of).any():
            yield f"way back from {done}: not at the start"


def way_back(migration: Migration, plan: Plan, done: int) -> Migration:
    """From the state after `done` batches to the start, with the same base of the alive shares."""
    here = migration.start.after(Plan(batches=plan.batches[:done]))
    return replace(migration, start=here, target=migration.start.placement, full_size=migration.size)


if __name__ == "__main__":
    first, last = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (0, 1_000)
    seen: Counter[str] = Counter()
    for seed in range(first, last):
        migration = small(seed)
        for method in MIGRATORS:
            listed = list(faults(migration, method))
            seen.update({f"{method} wrong" if listed else f"{method} right": 1})
            if listed:
                print(f"small({seed}), {method}: {listed[0]}", flush=True)
    print(", ".join(f"{count:,} {name}" for name, count in sorted(seen.items())))
