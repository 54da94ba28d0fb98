"""Why the containers of a workload are where they are: one explanation for those that stand alike."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import UNPLACED, Cluster, IntArray, Objective, Placement, singled_out
from bayplan.score.explain.explanation import Explanation, explain
from bayplan.words import and_more, count

MOST = 12  # explanations: of a workload on more machines than this, the first ones


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaGroup:
    """Containers of one workload on one machine (or without one): what holds for the first holds for all of them."""

    containers: tuple[str, ...]
    explanation: Explanation  # of the first

    def __str__(self) -> str:
        names = " ".join(filter(None, [self.containers[0], and_more(len(self.containers) - 1)]))
        machine = self.explanation.machine
        place = f"on '{machine}'" if machine is not None else "without a machine"
        return f"{names} {place}: {self.explanation.reason().text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadExplanation:
    """Where the containers of a workload run, and where else each of them could."""

    workload: str
    service: str
    replicas: int
    groups: tuple[ReplicaGroup, ...]
    not_shown: int = 0  # containers on further machines

    def __str__(self) -> str:
        head = f"{self.workload} (service '{self.service}') has {count(self.replicas, 'container')}"
        more = [f"and {count(self.not_shown, 'container')} on other machines"] if self.not_shown else []
        return "\n".join([head, *map(str, self.groups), *more])


def explain_workload(
    cluster: Cluster, placement: Placement, workload: int, objective: Objective | None = None
) -> WorkloadExplanation:
    """One explanation per machine that runs containers of `workload`; those that a rule names have one of their own."""
    own = np.flatnonzero(cluster.containers.workload == workload)
    groups = _alike(cluster, placement, own)
    name = cluster.containers.name
    return WorkloadExplanation(
        workload=cluster.workloads.name[workload],
        service=cluster.services.name[cluster.workloads.service[workload]],
        replicas=len(own),
        groups=tuple(
            ReplicaGroup(
                containers=tuple(name[c] for c in group),
                explanation=explain(cluster, placement, group[0], objective=objective),
            )
            for group in groups[:MOST]
        ),
        not_shown=sum(map(len, groups[MOST:])),
    )


def _alike(cluster: Cluster, placement: Placement, containers: IntArray) -> list[list[int]]:
    """Containers by machine, unplaced ones last; a container that a pinned or co-locate rule names stands alone."""
    alone = singled_out(cluster)
    groups: dict[tuple[int, int], list[int]] = {}
    for c in containers.tolist():
        groups.setdefault((int(placement.machine_of[c]), c if alone[c] else UNPLACED), []).append(c)
    return sorted(groups.values(), key=lambda group: int(placement.machine_of[group[0]]) == UNPLACED)
