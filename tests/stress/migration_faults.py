"""What is wrong with a migration plan, watched at every instant; and bounds on batches that another plan beats."""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from tests.naive.plan_watch import arrived, faults_on_the_way
from tests.stress.cases import Case
from tests.stress.outcomes import Outcome, target_of

import bayplan as bp
from bayplan.api.migrate import rollback
from bayplan.api.migration_request import MigrationSettings, request_to
from bayplan.api.partial_run import PartialRun
from bayplan.check import check_migration
from bayplan.migrate import MIGRATORS, MigrateOptions
from bayplan.model import UNPLACED, Action, Budget, Migration, Plan, Running, Step, StepLimits, Way, silent

MOST_MOVING = 2  # containers of which every plan is tried
BRIEF = Budget(iterations=5, seconds=1.0)
RUN_ALIKE = ("alive", "relabel", "delete_missing")


def migration_faults(case: Case, outcome: Outcome) -> Iterator[str]:
    """Sentences; none if all is well."""
    migration = migration_of(case)
    plan = outcome.solution
    if plan is None:
        if outcome.status != "infeasible":
            yield f"no plan, status {outcome.status}"
        return
    checked = check_migration(migration, plan)
    yield from (f"unsafe: {violation}" for violation in checked.violations)
    yield from faults_on_the_way(migration, plan)
    moving = set(migration.moving.nonzero()[0].tolist())
    names = migration.cluster.containers.name
    missing = {names[c] for c in moving - set(arrived(migration, plan))}
    if missing != set(outcome.left_out):
        yield f"{sorted(missing)} do not arrive, reasons for {sorted(set(outcome.left_out))}"
    if outcome.score["batches"] != len(plan.batches):
        yield f"{len(plan.batches)} batches, the score says {outcome.score['batches']}"
    if outcome.status == "optimal" and (outcome.bound is None or missing):
        yield "optimal without a bound, or though containers do not arrive"
    yield from _afterwards(case, migration, plan)
    if outcome.bound is not None:
        shortest = fewest_batches(migration, int(outcome.bound) - 1)
        if shortest is not None:
            yield f"the bound is {outcome.bound} batches, a plan of {len(shortest.batches)} is safe: {shortest}"


def _afterwards(case: Case, migration: Migration, plan: Plan) -> Iterator[str]:
    """The plan is carried out, taken back after each batch, and resumed after some of them, with a machine that died."""
    alike = {name: case.options[name] for name in RUN_ALIKE}
    run = bp.simulate(case.value, plan, target_of(case), seed=case.seed, **alike)
    complete = check_migration(migration, plan).arrived
    if not run.succeeded or run.arrived != complete:
        yield f"carried out: {run.headline}"
    settings = {**_settings(case), "way": case.options["way"]}
    settings = {name: settings[name] for name in ("way", "replace", "surge", "limits") if name in settings}
    for done in range(len(plan.batches) + 1 if complete else 0):  # else nothing says how many are to run in the end
        back = rollback(case.value, plan, done=done, alive=case.options["alive"], **settings)
        if back.plan is None or not back.complete:
            yield f"way back after {done} batches: {'; '.join(back.still_violated)}"
    machines = case.value.cluster.machines.name
    dead = [machines[case.seed % len(machines)]] if machines and case.seed % 3 else []
    left = PartialRun(plan=plan, done=case.seed % (len(plan.batches) + 1), dead=dead)
    resumed = bp.migrate(case.value, target_of(case), way=case.options["way"], resume=left, budget=BRIEF, **alike)
    if resumed.plan is not None and not check_migration(resumed.request.migration, resumed.plan).safe:
        yield "resumed: the plan is unsafe"


def migration_of(case: Case) -> Migration:
    """The migration that a case states."""
    alike = {name: case.options[name] for name in RUN_ALIKE}
    return request_to(case.value, target_of(case), MigrationSettings(**_settings(case)), **alike).migration


def _settings(case: Case) -> dict[str, Any]:
    """What a case says about the way."""
    settings = {name: value for name, value in case.options.items() if name not in RUN_ALIKE}
    return {**settings, "limits": StepLimits(**settings.get("limits", {}))}


def fewest_batches(migration: Migration, most: int) -> Plan | None:
    """A safe and complete plan of at most this many batches, if one is found: by other methods and ways, or by trying all."""
    n_w = len(migration.cluster.workloads.name)
    for method, way in product(MIGRATORS, Way):
        other = replace(migration, policy=replace(migration.policy, way=(way,) * n_w))
        result = MIGRATORS[method](other, MigrateOptions(), budget=BRIEF, seed=0, progress=silent)
        if result.solution is not None and len(result.solution.batches) <= most and _good(migration, result.solution):
            return result.solution
    return _by_trying(migration, most) if migration.moving.sum() <= MOST_MOVING else None


def _good(migration: Migration, plan: Plan) -> bool:
    checked = check_migration(migration, plan)
    return checked.safe and checked.arrived


def _by_trying(migration: Migration, most: int) -> Plan | None:
    """Every plan of straight moves, breadth first; the referee says which batches are safe."""
    moving = migration.moving.nonzero()[0].tolist()
    todo, seen = deque([((), migration.start)]), {_key(migration.start)}
    while todo:
        batches, running = todo.popleft()
        if batches and _good(migration, Plan(batches=batches)):
            return Plan(batches=batches)
        if len(batches) == most:
            continue
        for chosen in product(*(_steps(migration, running, c) for c in moving)):
            batch = tuple(step for steps in chosen for step in steps)
            if not batch:
                continue
            plan = Plan(batches=(*batches, batch))
            if check_migration(migration, plan).safe:
                after = running.after(Plan(batches=(tuple(sorted(batch, key=lambda step: step.action is Action.CREATE)),)))
                if _key(after) not in seen:
                    seen.add(_key(after))
                    todo.append((plan.batches, after))
    return None


def _key(running: Running) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(running.machine_of.tolist()), tuple(running.second.tolist())


def _steps(migration: Migration, running: Running, c: int) -> list[tuple[Step, ...]]:
    """What may be done with a container in one batch on its straight way."""
    here, goal = {int(running.machine_of[c]), int(running.second[c])} - {UNPLACED}, int(migration.target.machine_of[c])
    create = [Step(Action.CREATE, c, goal)] if goal != UNPLACED and goal not in here else []
    delete = [Step(Action.DELETE, c, m) for m in here if m != goal]
    return [(), *((step,) for step in (*create, *delete)), *((a, b) for a in create for b in delete)]
