"""One plan: made, timed, judged. As a module it is one process, so that its peak memory is that of one plan:

`python -m experiments.migrate.cells INSTANCE SEED METHOD` prints the columns that are measured as JSON.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bayplan.check.migration.referee import check_migration
from bayplan.migrate import MIGRATORS, MigrateOptions
from bayplan.model import UNPLACED, Action, Budget, Migration, Plan, Result, silent
from experiments.migrate.targets import KINDS, figure_2, m2_target, m3_target

MEASURES = ("moved", "stuck", "batches", "bound", "steps", "hops", "stopovers", "surges", "alive", "peak", "seconds", "safe")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A migration for each seed, and how long a plan may take."""

    make: Callable[[int], Migration]
    budget: Budget
    about: str


def _m3(kind: str, *, relabel: bool) -> Instance:
    replicas = "relabelled" if relabel else "by name"
    return Instance(
        make=lambda seed: m3_target(kind, seed, relabel=relabel), budget=Budget(seconds=10.0), about=f"M3, {kind}, {replicas}"
    )


INSTANCES: Mapping[str, Instance] = {
    "figure-2": Instance(make=lambda _: figure_2(), budget=Budget(seconds=10.0), about="[FreeContainer] Figure 2"),
    **{f"m3-{kind}": _m3(kind, relabel=False) for kind in KINDS},
    **{f"m3-{kind}-relabelled": _m3(kind, relabel=True) for kind in KINDS},
    "m2-fifth": Instance(make=m2_target, budget=Budget(seconds=60.0), about="`rasa-m2`, a fifth moved"),
}


def planned(migration: Migration, method: str, budget: Budget, seed: int) -> tuple[Result[Plan], float]:
    """The plan and the seconds it took."""
    began = time.perf_counter()
    result = MIGRATORS[method](migration, MigrateOptions(), budget=budget, seed=seed, progress=silent)
    return result, time.perf_counter() - began


def measured(migration: Migration, result: Result[Plan], seconds: float) -> dict[str, str]:
    """The columns of `MEASURES`, from the plan itself and from the referee's word on it."""
    plan = result.solution
    assert plan is not None, result.left_out
    checked, surges, hops = check_migration(migration, plan), *_surges_and_hops(migration, plan)
    return {
        "moved": str(int(migration.moving.sum())),
        "stuck": str(len(checked.not_arrived)),
        "batches": str(len(plan.batches)),
        "bound": "" if result.bound is None else f"{result.bound:g}",
        "steps": str(len(plan)),
        "hops": str(hops),
        "stopovers": str(checked.stopovers),
        "surges": str(surges),
        "alive": f"{checked.least_alive:.4f}",
        "peak": f"{checked.peak:.6f}",
        "seconds": f"{seconds:.2f}",
        "safe": "yes" if checked.safe else "no",
    }


def _surges_and_hops(migration: Migration, plan: Plan) -> tuple[int, int]:
    """Creates of containers that still ran, and of all that ran at the start."""
    ran = (migration.start.machine_of != UNPLACED).tolist()
    up = [int(runs) for runs in ran]
    for c in migration.start.doubled.tolist():
        up[c] += 1
    surges = hops = 0
    for step in plan.steps():
        creates = step.action is Action.CREATE
        surges += creates and up[step.container] > 0
        hops += creates and ran[step.container]
        up[step.container] += 1 if creates else -1
    return surges, hops


def in_a_process(instance: str, seed: int, method: str) -> dict[str, str]:
    """The measures of one plan and its peak memory; ends the experiment if there is none."""
    words = [sys.executable, "-m", "experiments.migrate.cells", instance, str(seed), method]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{instance}, seed {seed}, {method}: exit code {done.returncode}: {done.stderr.strip()}")
    said: dict[str, str] = json.loads(done.stdout)
    return said


def main(instance: str, seed: int, method: str) -> None:
    """Print one row. The first plan of a process loads code: that of Figure 2 is made before."""
    planned(figure_2(), method, Budget(iterations=1), 0)
    asked = INSTANCES[instance]
    migration = asked.make(seed)
    result, seconds = planned(migration, method, asked.budget, seed)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # GiB on Linux, before the referee comes
    print(json.dumps({**measured(migration, result, seconds), "memory": f"{memory:.2f}"}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
