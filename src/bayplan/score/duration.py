"""How long a migration plan takes, from what its steps cost."""

from dataclasses import dataclass

import numpy as np

from bayplan.errors import ModelError
from bayplan.model import Action, Cluster, FloatArray, Plan, Running, floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepCosts:
    """Seconds: one number for all workloads, or one per workload."""

    pull: float | FloatArray = 20.0  # to bring a workload's image to a machine that has not had it
    start: float | FloatArray = 10.0
    stop: float | FloatArray = 5.0

    def __post_init__(self) -> None:
        for name in ("pull", "start", "stop"):
            cost = np.asarray(getattr(self, name), dtype=np.float64)
            if cost.ndim > 1 or not (np.isfinite(cost) & (cost >= 0)).all():
                raise ModelError(f"{name} seconds: expected a number of 0 or more, or one per workload")

    def per_workload(self, name: str, workloads: int) -> FloatArray:
        """(workload,) one of the three; ModelError if there is not one for each."""
        cost = np.asarray(getattr(self, name), dtype=np.float64)
        if cost.shape not in ((), (workloads,)):
            raise ModelError(f"{name} seconds of {cost.size} workloads, not of {workloads}")
        return floats(np.broadcast_to(cost, (workloads,)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timetable:
    """When everything happens, in seconds from the start of the plan."""

    batch_start: FloatArray  # (batch,)
    batch_end: FloatArray  # (batch,)
    begin: FloatArray  # (step,) in the order of `Plan.steps()`
    end: FloatArray  # (step,)

    @property
    def seconds(self) -> float:
        """How long the whole plan takes."""
        return float(self.batch_end[-1]) if len(self.batch_end) else 0.0


def duration(cluster: Cluster, running: Running, plan: Plan, costs: StepCosts | None = None) -> Timetable:
    """When each step begins and ends.

    The images that a machine must pull in one batch come one after the other, in the order of the steps. A machine that has had
    a container of a workload, running when the plan starts or created earlier, has its image. Containers start as soon as
    their image is there, and stop from the start of their batch: all of that side by side. A batch ends with its last step, and
    the next one starts then.
    """
    clock = _Clock(cluster, running, costs or StepCosts())
    starts, ends, spans = list[float](), list[float](), list[tuple[float, float]]()
    for batch in plan.batches:
        starts.append(ends[-1] if ends else 0.0)
        spans += [clock.span(starts[-1], step.action, step.container, step.machine) for step in batch]
        ends.append(max((end for _, end in spans[len(spans) - len(batch) :]), default=starts[-1]))
    table = np.array(spans, dtype=np.float64).reshape(-1, 2)
    return Timetable(batch_start=floats(starts), batch_end=floats(ends), begin=floats(table[:, 0]), end=floats(table[:, 1]))


class _Clock:
    """Which images have come to which machine, and when each machine is done with pulling."""

    def __init__(self, cluster: Cluster, running: Running, costs: StepCosts) -> None:
        self.workload = cluster.containers.workload
        self.pull, self.start, self.stop = (
            costs.per_workload(name, len(cluster.workloads.name)).tolist() for name in ("pull", "start", "stop")
        )
        pairs = running.pairs()
        here = zip(pairs[:, 1].tolist(), self.workload[pairs[:, 0]].tolist(), strict=True)
        self.image_at = dict.fromkeys(here, 0.0)  # (machine, workload): when the image is there
        self.free_at: dict[int, float] = {}  # machine: when its last pull ends

    def span(self, now: float, action: Action, c: int, m: int) -> tuple[float, float]:
        """Begin and end of one step of a batch that starts now."""
        w = int(self.workload[c])
        if action is Action.DELETE:
            return now, now + self.stop[w]
        begin = max(now, self.image_at.get((m, w), self.free_at.get(m, 0.0)))
        if (m, w) not in self.image_at:
            self.image_at[m, w] = self.free_at[m] = begin + self.pull[w]
        return begin, max(begin, self.image_at[m, w]) + self.start[w]
