"""A sub-problem in counts: some services, some machines, (2)-(9) of 004. Services here are workloads of the cluster."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from bayplan.model import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """Which counts (service, machine) gain most? What does not belong to it is off `room` and `spare` already."""

    workload: IntArray  # (service,) its index in the cluster
    machine: IntArray  # (machine,) its index in the cluster
    replicas: IntArray  # (service,) d of (1): all containers of the service in the cluster
    demand: IntArray  # (service,) containers to place here, at most `replicas`
    request: IntArray  # (service, resource); 0 where no capacity rule counts
    room: IntArray  # (machine, resource) not negative
    row_of: IntArray  # (service,) row of `allow`
    allow: BoolArray  # (row, machine) (6)
    member: BoolArray  # (set, service) anti-affinity sets (5)
    spare: IntArray  # (set, machine) containers of the set that may still come: h less those that stand there; not negative
    a: IntArray  # (edge,) service
    b: IntArray  # (edge,) service
    weight: FloatArray  # (edge,) of a total of 1 in the whole cluster
    now: IntArray  # (service, machine) where those to place stand now; may be fewer than `demand`
    fixed: IntArray  # (service, machine) containers that stay: they count in (1), and are off `room` and `spare`

    @property
    def shape(self) -> tuple[int, int]:
        """(services, machines)"""
        return len(self.workload), len(self.machine)


def gained(task: Task, counts: IntArray) -> float:
    """The affinity of a task's services if `counts` (service, machine) are placed (1), (2)."""
    share = (counts + task.fixed) / task.replicas[:, None]
    return float(task.weight @ np.minimum(share[task.a], share[task.b]).sum(axis=1))


def faults(task: Task, counts: IntArray) -> list[str]:
    """What of (3)-(6), (9) `counts` breaks, a sentence each. Fewer containers than the demand are no fault."""
    found = []
    if counts.min(initial=0) < 0 or (counts.sum(axis=1) > task.demand).any():
        found.append("a service has fewer than no containers on a machine, or more than its demand")
    if (np.asarray(csr_array(counts.T) @ task.request) > task.room).any():  # sparse: numpy multiplies whole numbers slowly
        found.append("a machine is too full")
    if (np.asarray(csr_array(task.member.astype(np.int64)) @ counts) > task.spare).any():
        found.append("too many containers of an anti-affinity set on a machine")
    if ((counts > 0) & ~task.allow[task.row_of]).any():
        found.append("a service stands where it may not")
    return found
