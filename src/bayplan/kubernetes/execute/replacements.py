"""Which pod that waits takes whose place, and which waits for nothing.

The controller of a deleted pod creates a new one, and the gate lets it wait. Replicas are interchangeable: whichever waits takes
the place of whichever was deleted. What waits in excess, because its controller was scaled up meanwhile, goes to the scheduler.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import NamedTuple

from bayplan.kubernetes.client import Json, RefusedError
from bayplan.kubernetes.execute.live_pod import LivePod
from bayplan.kubernetes.execute.live_pods import LivePods
from bayplan.kubernetes.execute.reservation import ReservedPod
from bayplan.kubernetes.marks import CONTAINER, REPLACES

GONE_OR_CHANGED = (404, 409)


class Assignment(NamedTuple):
    """What is to be written on pods that wait."""

    places: list[tuple[LivePod, ReservedPod]]  # the pod takes the place of the other one
    excess: list[LivePod]  # wait for nothing


def assignment(reserved: Collection[ReservedPod], live: LivePods) -> Assignment:
    """What takes whose place, of all pods that wait; what has a place that is reserved keeps it."""
    steered = {each.uid for each in reserved if each.steered}
    unsettled = [pod for pod in live.gated.values() if not pod.stopping and not _is_settled(pod, steered)]
    wanted = _wanted(reserved, live) if unsettled else {}
    places, excess = [], []
    for pod in sorted(unsettled, key=lambda pod: (pod.created, pod.name)):
        if REPLACES not in pod.annotations and wanted.get(pod.owner):
            places.append((pod, wanted[pod.owner].pop(0)))
        else:
            excess.append(pod)
    return Assignment(places, excess)


def _is_settled(pod: LivePod, steered: Collection[str]) -> bool:
    return pod.annotations.get(REPLACES, pod.uid) in steered


def _wanted(reserved: Collection[ReservedPod], live: LivePods) -> Mapping[str, list[ReservedPod]]:
    """Controller -> pods that are deleted, or stood in for, and whose place nothing has taken."""
    wanted: defaultdict[str, list[ReservedPod]] = defaultdict(list)
    for each in reserved:
        pod = live.by_uid.get(each.uid)
        leaves = each.surge or pod is None or pod.stopping
        if each.steered and leaves and live.standing_in_for(each.uid) is None:
            wanted[each.owner].append(each)
    return wanted


def write_place(live: LivePods, pod: LivePod, place: ReservedPod) -> None:
    """Write on a pod that waits whose place it takes."""
    _patch(live, pod, pod.change({CONTAINER: place.container, REPLACES: place.uid}), "merge")


def open_gate(live: LivePods, pod: LivePod) -> None:
    """Let a pod go to the scheduler; it keeps the name of its place among the replicas."""
    _patch(live, pod, pod.without_gate({REPLACES: None}), "strategic")


def _patch(live: LivePods, pod: LivePod, body: Json, kind: str) -> None:
    """Change a pod; one that has changed meanwhile is read anew, and changed the next time if that is still right."""
    try:
        live.put(live.client.patch(pod.path, body, kind=kind))
    except RefusedError as error:
        if error.status not in GONE_OR_CHANGED:
            raise
        live.current(pod.namespace, pod.name, pod.uid)
