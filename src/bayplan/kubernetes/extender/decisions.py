"""What the extender says: planned pods go to their node, all others where CA-WFD would put them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from bayplan.api.machine_scores import LivePlacement
from bayplan.kubernetes.client import Json
from bayplan.kubernetes.extender.pods import container_on, service_of, workload_of
from bayplan.kubernetes.extender.protocol import ExtenderArguments, filter_result, priority_list
from bayplan.kubernetes.marks import STEP, TARGET

PATIENCE = 60.0  # seconds
EXPECTED = 10.0  # seconds from an answer to the time when the pod has a node, at most


def planned_node(arguments: ExtenderArguments) -> str:
    """The node that a step of ours wants the pod on; "" if the pod belongs to no step."""
    notes = arguments.annotations
    return notes.get(TARGET, "") if notes.get(STEP) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extender:
    """The decisions of the extender, about a placement that something else keeps up to date.

    A planned pod passes on its node only. If its node is not among the possible ones, it waits: kube-scheduler looks at a part
    of a large cluster at a time, and its turn may come. `patience` seconds after it was created it may go anywhere, since a pod
    that runs elsewhere is better than one that does not run, whatever became of the process that planned it.
    """

    live: LivePlacement
    ready: Callable[[], bool] = lambda: True  # is `live` complete?
    patience: float = PATIENCE
    now: Callable[[], float] = time.time

    def filter(self, arguments: ExtenderArguments) -> Json:
        """`ExtenderFilterResult`."""
        target = planned_node(arguments)
        if target in arguments.names:
            return filter_result(arguments, [target], f"bayplan moves this pod to node {target}")
        if target and self.now() - _created(arguments.pod) < self.patience:
            return filter_result(arguments, [], f"bayplan moves this pod to node {target}, which is not possible now")
        return filter_result(arguments, arguments.names, "")

    def prioritise(self, arguments: ExtenderArguments) -> list[Json]:
        """`HostPriorityList`; all 0 as long as we do not know the cluster: then the scheduler's own scores decide."""
        names, target = arguments.names, planned_node(arguments)
        if target in names:
            return priority_list(names, np.array([float(name == target) for name in names]))
        if not self.ready():
            return priority_list(names, np.zeros(len(names)))
        preference = self.live.preference(names, workload_of(arguments.pod), service_of(arguments.pod))
        if len(names):
            self._expect(arguments.pod, names[int(preference.argmax())])
        return priority_list(names, preference)

    def _expect(self, pod: Json, node: str) -> None:
        """Count the pod on the node that we prefer, until the cluster shows where it went."""
        uid, now = pod["metadata"].get("uid"), self.now()
        if uid:
            self.live.expect_container(uid, container_on(pod, node), now=now, until=now + EXPECTED)


def _created(pod: Json) -> float:
    """When a pod was created, in seconds since 1970; long ago if it does not say, so that it never waits for ever."""
    try:
        return datetime.fromisoformat(str(pod["metadata"].get("creationTimestamp"))).timestamp()
    except ValueError:
        return 0.0
