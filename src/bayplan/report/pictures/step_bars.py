"""The steps of a plan as bars in time."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import Action, BoolArray, Cluster, FloatArray, IntArray, Plan, floats, ints
from bayplan.report.amounts import seconds
from bayplan.score.duration import StepCosts, Timetable
from bayplan.words import count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepBars:
    """Every step of a plan, batch by batch: where it runs, and from when to when, in seconds."""

    container: IntArray  # (bar,)
    machine: IntArray  # (bar,)
    create: BoolArray  # (bar,) else it is a delete
    stopover: BoolArray  # (bar,) a create on a machine that the container leaves again
    batch: IntArray  # (bar,)
    start: FloatArray  # (bar,)
    pulled: FloatArray  # (bar,) when the image is there; `start` where it was there before, or none is needed
    end: FloatArray  # (bar,)
    batch_start: FloatArray  # (batch,)

    def __len__(self) -> int:
        return len(self.container)

    @property
    def longest(self) -> float:
        """Seconds until the last step has ended; 1 if there is none, so that a scale exists."""
        return float(self.end.max(initial=0.0)) or 1.0

    @property
    def words(self) -> str:
        """'5 batches, 48 steps, about 3 min 20 s'."""
        counts = f"{count(len(self.batch_start), 'batch')}, {count(len(self), 'step')}"
        return f"{counts}, about {seconds(float(self.end.max()))}" if len(self) else counts

    def step_words(self, cluster: Cluster, b: int) -> str:
        """One step in words: what, where, in which batch, from when to when."""
        name, machine = cluster.containers.name[self.container[b]], cluster.machines.name[self.machine[b]]
        verb = "delete" if not self.create[b] else "create for a stopover:" if self.stopover[b] else "create"
        start, pulled, end = (float(moment[b]) for moment in (self.start, self.pulled, self.end))
        pull = f", {seconds(pulled - start)} of it to pull the image" if pulled > start else ""
        when = f"from {seconds(start)} to {seconds(end)}: {seconds(end - start)}{pull}"
        return f"{verb} {name} on {machine}\nbatch {int(self.batch[b]) + 1}, {when}"


def step_bars(cluster: Cluster, plan: Plan, times: Timetable, costs: StepCosts) -> StepBars:
    """The steps of a plan with their times."""
    steps = list(plan.steps())
    container, machine = ints([step.container for step in steps]), ints([step.machine for step in steps])
    create = np.array([step.action is Action.CREATE for step in steps], dtype=np.bool_)
    ready = costs.per_workload("start", len(cluster.workloads.name))[cluster.containers.workload[container]]
    return StepBars(
        container=container,
        machine=machine,
        create=create,
        stopover=stopovers(plan),
        batch=ints(np.repeat(np.arange(len(plan.batches)), [len(batch) for batch in plan.batches])),
        start=times.begin,
        pulled=floats(np.where(create, np.maximum(times.begin, times.end - ready), times.begin)),
        end=times.end,
        batch_start=times.batch_start,
    )


def stopovers(plan: Plan) -> BoolArray:
    """(step,) creates on a machine from which the container is deleted later."""
    steps = list(plan.steps())
    later: set[tuple[int, int]] = set()
    found = np.zeros(len(steps), dtype=np.bool_)
    for k in range(len(steps) - 1, -1, -1):
        step = steps[k]
        if step.action is Action.DELETE:
            later.add((step.container, step.machine))
        elif (step.container, step.machine) in later:
            found[k] = True
            later.discard((step.container, step.machine))
    return found
