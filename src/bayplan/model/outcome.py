"""What became of a plan: where containers run now, what failed, and the migration that remains."""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from bayplan.model import UNPLACED, BoolArray, Cluster, IntArray, Migration, Placement, Running, Step, ints


class Fate(StrEnum):
    """What became of a step."""

    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"  # its effect held already
    HUNG = "hung"  # it never ended, and counts as not done


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened."""

    batch: int  # index into the plan's batches; sentences count from 1
    step: Step | None  # None for the death of a machine
    fate: Fate
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """The end of a run."""

    running: Running
    stopped: int | None  # the batch in which something failed: no later one was begun; None if all went well
    events: tuple[Event, ...]  # in the order in which they happened
    failed: tuple[Step, ...]  # steps that failed or hung
    dead: tuple[int, ...]  # machines that died

    @property
    def why(self) -> str:
        """Why the run stopped, in a sentence; empty if it did not."""
        reasons = [event.sentence for event in self.events if event.fate in (Fate.FAILED, Fate.HUNG)]
        if self.stopped is None or not reasons:
            return ""
        return reasons[0] + (f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else "")

    def stranded(self, migration: Migration) -> IntArray:
        """Containers whose target machine died: they need a new target."""
        return ints(np.flatnonzero(np.isin(migration.after.machine_of, self.dead)))

    def remaining(self, migration: Migration) -> Migration:
        """The migration from the state reached to the same target, for planning the rest anew.

        - It starts where containers run now: some twice (created, not yet deleted), some not at all.
        - Alive shares keep their base (`whole`): what is down now does not make a workload smaller.
        - A dead machine keeps its name and its place in the topology, but has no capacity.
        - Containers whose target died (`stranded`) stay where they run, or stay down if they do not run. They do not keep the
          target: a place is held to the worse of both ends, so a target on a dead machine would be a leave to use it. If the
          target, thus changed, breaks a rule, then a new one is needed: decide anew on the cluster of this migration, and
          replace `after`.
        - A container that was deleted and not yet created gives back what it still held of transient resources.
        """
        after = migration.after.machine_of.copy()
        stranded = self.stranded(migration)
        after[stranded] = self.running.machine_of[stranded]
        return replace(
            migration,
            cluster=_without(migration.cluster, self.dead),
            start=self.running,
            after=Placement(machine_of=ints(after)),
            whole=_whole(migration),
        )


def _whole(migration: Migration) -> IntArray:
    """(workload,) what alive shares are shares of."""
    if migration.whole is not None:
        return migration.whole
    workload, n_w = migration.cluster.containers.workload, len(migration.cluster.workloads.name)
    placed: list[BoolArray] = [some.machine_of != UNPLACED for some in (migration.start, migration.after)]
    return ints(np.minimum(*(np.bincount(workload[some], minlength=n_w) for some in placed)))


def _without(cluster: Cluster, dead: tuple[int, ...]) -> Cluster:
    """The same cluster, in which some machines have no capacity."""
    if not dead:
        return cluster
    alive = ~np.isin(np.arange(len(cluster.machines.name)), dead)[:, None]
    machines = cluster.machines
    return replace(
        cluster, machines=replace(machines, capacity=ints(machines.capacity * alive), safety=ints(machines.safety * alive))
    )
