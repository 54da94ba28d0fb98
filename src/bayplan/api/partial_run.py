"""A target that has lost a machine: what stays where it is, so that the part that can be reached keeps the rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bayplan.check import RUNNING, Violation, check
from bayplan.errors import UsageError, did_you_mean
from bayplan.model import UNPLACED, Cluster, IntArray, Migration, Placement, Plan, Running, Step, ints
from bayplan.model.plan import apply_step
from bayplan.words import count


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialRun:
    """How far a plan was carried out."""

    plan: Plan
    done: int | None = None  # batches that have run; None: all
    failed: Sequence[Step] = ()  # steps of these batches that were not made
    dead: Sequence[str] = ()  # machines that died, with all that ran there

    @property
    def made(self) -> Plan:
        """The batches that have run."""
        return first_batches(self.plan, self.done)


class StateAfter(NamedTuple):
    """Where a plan was left."""

    running: Running
    dead: list[int]  # machines
    notes: tuple[str, ...]


def first_batches(plan: Plan, done: int | None) -> Plan:
    """The first `done` batches of a plan; UsageError if it has fewer."""
    if done is not None and not 0 <= done <= len(plan.batches):
        raise UsageError(f"{done} batches done: the plan has {len(plan.batches)} batches; expected 0 to {len(plan.batches)}")
    return plan if done is None else Plan(batches=plan.batches[:done])


def state_after(cluster: Cluster, start: Running, partial: PartialRun) -> StateAfter:
    """What runs after a partial run. Steps that could not be made because of failed ones are left out, and noted."""
    plan, failed = partial.made, set(partial.failed)
    if failed - set(plan.steps()):
        raise UsageError(f"{count(len(failed - set(plan.steps())), 'failed step')} not among the steps that have run")
    first, second = start.machine_of.copy(), start.second.copy()
    skipped = sum(not apply_step(step, first, second) for step in plan.steps() if step not in failed)
    if skipped and not failed:
        raise UsageError(f"{count(skipped, 'step')} of the plan cannot be made from here; expected the placement it was made for")
    notes = (f"{count(skipped, 'step')} of the plan could not be made, after what had failed",) if skipped else ()
    dead = [machine_index(cluster, name) for name in partial.dead]
    second[np.isin(second, dead)] = UNPLACED
    gone = np.isin(first, dead)
    first[gone], second[gone] = second[gone], UNPLACED
    return StateAfter(Running(machine_of=ints(first), second=ints(second)), dead, notes)


def machine_index(cluster: Cluster, name: str) -> int:
    """The index of the machine called `name`; UsageError if there is none."""
    machines = cluster.machines.name
    if name not in machines:
        raise UsageError(f"no machine '{name}' in cluster '{cluster.name}'{did_you_mean(name, machines)}")
    return machines.index(name)


def reachable_target(migration: Migration, before: Placement | None = None) -> tuple[Migration, dict[int, str]]:
    """The migration to as much of its target as violates no rule that holds at the start, and why each other container stays.

    Where the target violates a rule, containers that come to that place stay where they are, until none is violated. In the
    end no container moves, and that violates nothing new. `before` is where a migration that is on its way began: what it
    violates only because a container is between two machines is no excuse for the target.
    """
    cluster, start = migration.cluster, migration.start.placement
    excess = {v.place: v.excess for v in check(cluster, start if before is None else before)}
    target, stays = migration.target.machine_of.copy(), dict[int, str]()
    while worse := [v for v in check(cluster, Placement(machine_of=ints(target)), start) if _is_worse(v, excess)]:
        moving = np.flatnonzero(target != start.machine_of)
        held_back = {int(c): v.sentence for v in worse for c in _to_hold_back(cluster, v, moving, target)}
        held_back = held_back or {int(c): worse[0].sentence for c in moving}
        if not held_back:
            break
        target[list(held_back)] = start.machine_of[list(held_back)]
        stays.update(held_back)
    return replace(migration, target=Placement(machine_of=ints(target))), stays


def _is_worse(violation: Violation, excess: Mapping[tuple[str, int, tuple[str, ...]], float]) -> bool:
    return violation.rule != RUNNING and violation.excess > excess.get(violation.place, 0.0)


def _to_hold_back(cluster: Cluster, violation: Violation, moving: IntArray, target: IntArray) -> IntArray:
    """Containers that come to where a rule is violated: as many as are too many, the largest first."""
    names, arriving = set(violation.subject), moving[target[moving] != UNPLACED]
    there = np.zeros(len(cluster.machines.name), dtype=np.bool_)
    for level in cluster.levels:
        there |= np.isin(level.group_of, [g for g, name in enumerate(level.group) if name in names])
    chosen = arriving[there[target[arriving]]]
    workload = cluster.containers.workload
    concerned = [w for w, name in enumerate(cluster.workloads.name) if name in names or _service(cluster, w) in names]
    of_workload = chosen if len(chosen) else moving
    of_workload = of_workload[np.isin(workload[of_workload], concerned)]
    chosen = of_workload if len(of_workload) else chosen
    if not len(chosen):
        return ints([c for c in moving.tolist() if cluster.containers.name[c] in names])
    if violation.rule == "capacity":
        return _largest(cluster, violation, chosen)
    return ints(chosen[: int(np.ceil(violation.excess))]) if violation.rule == "anti-affinity" else ints(chosen)


def _service(cluster: Cluster, w: int) -> str:
    return cluster.services.name[int(cluster.workloads.service[w])]


def _largest(cluster: Cluster, violation: Violation, moving: IntArray) -> IntArray:
    """The largest of them that together request what is too much."""
    r = next(r for r, resource in enumerate(cluster.resources) if resource.name == violation.subject[-1])
    request = cluster.request_of(moving)[:, r]
    order = np.argsort(-request, kind="stable")
    needed = int(np.searchsorted(np.cumsum(request[order]), violation.excess)) + 1
    return ints(moving[order[:needed]])
