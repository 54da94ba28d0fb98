"""A plan that was carried out in part: its first batches have run, some steps of them failed, machines died."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.errors import UsageError, did_you_mean
from bayplan.model import UNPLACED, Cluster, Plan, Running, Step, ints
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
