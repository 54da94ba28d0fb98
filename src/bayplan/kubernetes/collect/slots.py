"""Containers as slots: the pod that stands for each, and a second one where a move has not ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bayplan.kubernetes.collect.pods import CollectedPod, PodRow
from bayplan.model import UNPLACED
from bayplan.operate.orchestrator import Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """Rows of pods, one for each container; further pods of the same container apart."""

    rows: tuple[PodRow, ...]  # containers, and pods that only use their nodes
    second: Mapping[str, CollectedPod]
    stopping: tuple[CollectedPod, ...]


def slots_of(rows: Sequence[PodRow]) -> Slots:
    """One row for each container. Of two pods of one container the older one that has a node counts, the other is its second."""
    first: dict[str, PodRow] = {}
    second: dict[str, CollectedPod] = {}
    for row in sorted(
        (row for row in rows if row.shown), key=lambda row: (row.machine == UNPLACED, row.pod.created, row.pod.name)
    ):
        pod, before = row.pod, first.get(row.pod.container)
        if before is None:
            first[pod.container] = row
        elif before.pod.owner == pod.owner and pod.container not in second:
            second[pod.container] = pod
        else:
            own = f"{pod.namespace}/{pod.name}"
            first[own] = replace(row, pod=replace(pod, container=own))
    others = [row for row in rows if not row.shown]
    stopping = tuple(row.pod for row in others if row.pod.phase is Phase.STOPPING)
    return Slots(rows=(*first.values(), *others), second=second, stopping=stopping)
