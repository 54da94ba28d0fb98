"""At most so many steps of a batch altogether, on a machine, of a service, in a group."""

from collections.abc import Iterator

import numpy as np

from bayplan.check.migration.batch_state import Instances, Wave
from bayplan.check.migration.verdict import Breach
from bayplan.check.violation import counted, where
from bayplan.model import IntArray, Migration


def limits(migration: Migration, wave: Wave) -> Iterator[Breach]:
    """Where a batch has more steps than the terms of the migration allow."""
    stated, cluster = migration.terms.limits, migration.cluster
    steps = Instances(c=np.r_[wave.creates.c, wave.deletes.c], m=np.r_[wave.creates.m, wave.deletes.m])
    if stated.batch is not None and len(steps.c) > stated.batch:
        yield _breach(wave, (), len(steps.c), "", stated.batch)
    if stated.machine is not None:
        for m, count in _above(steps.m, stated.machine):
            name = cluster.machines.name[m]
            yield _breach(wave, (name,), count, f" on machine '{name}'", stated.machine)
    if stated.service is not None:
        for s, count in _above(cluster.workloads.service[cluster.containers.workload[steps.c]], stated.service):
            name = cluster.services.name[s]
            yield _breach(wave, (name,), count, f" of service '{name}'", stated.service)
    if stated.zone is not None:
        level = cluster.levels[stated.level]
        for group, count in _above(level.group_of[steps.m], stated.zone):
            yield _breach(wave, (level.group[group],), count, f" {where(level, group)}", stated.zone)


def _above(owner: IntArray, limit: int) -> Iterator[tuple[int, int]]:
    some, count = np.unique(owner, return_counts=True)
    yield from zip(some[count > limit].tolist(), count[count > limit].tolist(), strict=True)


def _breach(wave: Wave, subject: tuple[str, ...], count: int, where_: str, most: int) -> Breach:
    sentence = f"batch {wave.number + 1}: {counted(count, 'step')}{where_} at the same time, at most {most} allowed"
    return Breach(batch=wave.number, rule="limit", subject=subject, sentence=sentence)
