"""Can the steps of a batch be made at all, and are there no more of them than the limits allow?"""

from collections.abc import Iterator

import numpy as np

from bayplan.check.migration.batch_state import BatchState, Instances, StepArrays
from bayplan.check.migration.plan_check import PlanViolation
from bayplan.check.violation import counted, where
from bayplan.model import UNPLACED, BoolArray, Cluster, IntArray, Migration, Running


def possible_steps(cluster: Cluster, number: int, steps: StepArrays, running: Running) -> tuple[BatchState, list[PlanViolation]]:
    """The batch without its impossible steps, and a violation for each of these.

    Of a container with several steps the first create and the first delete count: both may happen, in any order.
    """
    first, second = running.machine_of, running.second
    exists = _exists(cluster, steps)
    violations = [_unknown(number, int(c), int(m)) for c, m in zip(steps.c[~exists], steps.m[~exists], strict=True)]
    known = steps.where(exists)
    violations += _crowded(cluster, number, known.c)
    creates, deletes = (_once(known.where(known.create == kind)) for kind in (True, False))
    runs_here = [(first[part.c] == part.m) | (second[part.c] == part.m) for part in (creates, deletes)]
    third = ~runs_here[0] & (second[creates.c] != UNPLACED)
    violations += _each(cluster, number, creates.where(runs_here[0]), "is to be created on machine {}, where it runs already")
    violations += _each(cluster, number, creates.where(third), "is to be created on machine {}, a third one")
    violations += _each(cluster, number, deletes.where(~runs_here[1]), "is to be deleted on machine {}, where it does not run")
    possible = creates.where(~runs_here[0] & ~third), deletes.where(runs_here[1])
    return BatchState(number, first, second, *possible), violations


def _exists(cluster: Cluster, steps: StepArrays) -> BoolArray:
    """(step,) does it name a container and a machine?"""
    n_c, n_m = len(cluster.containers.name), len(cluster.machines.name)
    exists: BoolArray = (steps.c >= 0) & (steps.c < n_c) & (steps.m >= 0) & (steps.m < n_m)
    return exists


def _unknown(number: int, c: int, m: int) -> PlanViolation:
    sentence = f"batch {number + 1}: a step names container {c} and machine {m}; there is no such pair"
    return PlanViolation(batch=number, rule="step", subject=(str(c), str(m)), sentence=sentence)


def _crowded(cluster: Cluster, number: int, c: IntArray) -> Iterator[PlanViolation]:
    container, count = np.unique(c, return_counts=True)
    for c_twice, steps in zip(container[count > 1], count[count > 1], strict=True):
        name = cluster.containers.name[c_twice]
        sentence = f"batch {number + 1}: '{name}' has {steps} steps at the same time, at most 1 allowed"
        yield PlanViolation(batch=number, rule="step", subject=(name,), sentence=sentence)


def _once(steps: StepArrays) -> Instances:
    """The first step of each container, in the order given."""
    keep = np.sort(np.unique(steps.c, return_index=True)[1])
    return Instances(c=steps.c[keep], m=steps.m[keep])


def _each(cluster: Cluster, number: int, instances: Instances, words: str) -> Iterator[PlanViolation]:
    for c, m in zip(instances.c.tolist(), instances.m.tolist(), strict=True):
        name, machine = cluster.containers.name[c], cluster.machines.name[m]
        sentence = f"batch {number + 1}: '{name}' " + words.format(f"'{machine}'")
        yield PlanViolation(batch=number, rule="step", subject=(name, machine), sentence=sentence)


def step_limits(migration: Migration, batch: BatchState) -> Iterator[PlanViolation]:
    """Where a batch has more steps than the policy of the migration allows."""
    stated, cluster = migration.policy.limits, migration.cluster
    steps = Instances(c=np.r_[batch.creates.c, batch.deletes.c], m=np.r_[batch.creates.m, batch.deletes.m])
    if stated.batch is not None and len(steps.c) > stated.batch:
        yield _violation(batch, (), len(steps.c), "", stated.batch)
    if stated.machine is not None:
        for m, count in _above(steps.m, stated.machine):
            name = cluster.machines.name[m]
            yield _violation(batch, (name,), count, f" on machine '{name}'", stated.machine)
    if stated.service is not None:
        for s, count in _above(cluster.workloads.service[cluster.containers.workload[steps.c]], stated.service):
            name = cluster.services.name[s]
            yield _violation(batch, (name,), count, f" of service '{name}'", stated.service)
    if stated.group is not None:
        level = cluster.levels[stated.level]
        for group, count in _above(level.group_of[steps.m], stated.group):
            yield _violation(batch, (level.group[group],), count, f" {where(level, group)}", stated.group)


def _above(owner: IntArray, limit: int) -> Iterator[tuple[int, int]]:
    index, count = np.unique(owner, return_counts=True)
    yield from zip(index[count > limit].tolist(), count[count > limit].tolist(), strict=True)


def _violation(batch: BatchState, subject: tuple[str, ...], count: int, place: str, limit: int) -> PlanViolation:
    sentence = f"batch {batch.number + 1}: {counted(count, 'step')}{place} at the same time, at most {limit} allowed"
    return PlanViolation(batch=batch.number, rule="limit", subject=subject, sentence=sentence)
