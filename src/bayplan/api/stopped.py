"""Where a plan was left: some batches have run, some steps of them failed, machines died."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.errors import UsageError
from bayplan.model import UNPLACED, Cluster, Plan, Running, Step, ints
from bayplan.model.plan import apply_step


@dataclass(frozen=True, slots=True, kw_only=True)
class Mishaps:
    """As they stand on the command line."""

    done: int | None = None  # batches that have run; None: all
    failed: Sequence[str] = ()  # "create web-3"
    dead: Sequence[str] = ()  # machines

    def machines(self, cluster: Cluster) -> list[int]:
        """The machines that died."""
        return [machine_index(cluster, name, "--dead") for name in self.dead]


def machine_index(cluster: Cluster, name: str, option: str) -> int:
    """Where the machine called `name` stands; UsageError if there is none."""
    if name not in cluster.machines.name:
        raise UsageError(f"{option} '{name}': no machine is called so in cluster '{cluster.name}'")
    return cluster.machines.name.index(name)


def left_at(cluster: Cluster, start: Running, plan: Plan, mishaps: Mishaps) -> tuple[Running, list[int], list[str]]:
    """What runs after a plan without its failed steps, machines that died, and notes about steps that could not be made."""
    failed = {step for text in mishaps.failed for step in _meant(cluster, plan, text)}
    machine_of, second = start.machine_of.copy(), start.second.copy()
    skipped = 0
    for step in plan.steps():
        if step not in failed:
            skipped += not apply_step(step, machine_of, second)
    if skipped and not failed:
        raise UsageError(f"{skipped} steps of the plan cannot be made from here; expected the placement that it was made for")
    said = [f"{skipped} steps of the plan could not be made, after what had failed"] if skipped else []
    dead = mishaps.machines(cluster)
    second[np.isin(second, dead)] = UNPLACED
    gone = np.isin(machine_of, dead)
    machine_of[gone], second[gone] = second[gone], UNPLACED
    return Running(machine_of=ints(machine_of), second=ints(second)), dead, said


def _meant(cluster: Cluster, plan: Plan, text: str) -> list[Step]:
    """The steps that `create web-3` or `create web-3 on m-2` names."""
    action, _, rest = text.partition(" ")
    name, _, machine = rest.partition(" on ")
    named = [
        step
        for step in plan.steps()
        if step.action == action
        and cluster.containers.name[step.container] == name
        and machine in ("", cluster.machines.name[step.machine])
    ]
    if not named:
        raise UsageError(
            f"--failed '{text}': no such step has run; expected 'create NAME' or 'delete NAME', maybe with 'on MACHINE'"
        )
    return named
