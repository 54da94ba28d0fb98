"""The steps: a delete is an eviction, a create names a node and opens the gate. Each is made once or never.

Every request carries the uid and the version of its pod as preconditions. To cancel a step is to write its token on the pod:
that changes the version, so a request that is still on its way is refused, and so is the same step if it is sent again.
"""

import time
from dataclasses import dataclass

from bayplan.kubernetes.client import RefusedError
from bayplan.kubernetes.execute.live_pod import LivePod
from bayplan.kubernetes.execute.live_pods import LivePods
from bayplan.kubernetes.execute.node_naming import NodeNaming, forget_node, name_node
from bayplan.kubernetes.marks import CANCELLED, DELETION_COST, EVICTS, STEP, TARGET
from bayplan.model import Action
from bayplan.operate.orchestrator import PermanentError, StepOrder, StepReport, StepState

NOT_FOUND, CONFLICT = 404, 409
TRIES = 5  # of a change that is refused because the pod was changed by others at the same time
STOPS_ALREADY = "it is stopping already"


@dataclass(slots=True, kw_only=True)
class BegunStep:
    """A step that this process has begun."""

    order: StepOrder
    namespace: str
    pod: str  # name, and ...
    uid: str  # ... uid of the pod that goes, or of the pod that was placed
    begun: float  # by the clock that only goes forward
    gone: float | None = None  # delete: when it was first seen to be gone


def evict(live: LivePods, order: StepOrder) -> BegunStep:
    """Ask the API server to evict a pod. It says 429 (a TemporaryError) while a disruption budget forbids it."""
    known = live.known(order.uid)
    for _ in range(TRIES):
        pod = None if known is None else live.current(known.namespace, known.name, order.uid)
        if pod is None:
            raise PermanentError(f"there is no pod with uid '{order.uid}'")
        _expect_evictable(pod, order)
        try:
            marked = live.put(live.client.patch(pod.path, pod.change({EVICTS: order.token})))
            live.client.create(f"{marked.path}/eviction", marked.eviction())
        except RefusedError as error:
            if error.status != CONFLICT:
                raise
            continue
        return BegunStep(order=order, namespace=pod.namespace, pod=pod.name, uid=pod.uid, begun=time.monotonic())
    raise PermanentError(f"pod '{order.uid}' changes all the time: it was not evicted")


def _expect_evictable(pod: LivePod, order: StepOrder) -> None:
    if pod.stopping:
        raise PermanentError(f"pod '{pod.namespace}/{pod.name}' ({pod.uid}) is stopping already")
    if pod.node != order.machine:
        place = f"on node '{pod.node}'" if pod.node else "pending"
        raise PermanentError(f"pod '{pod.namespace}/{pod.name}' ({pod.uid}) is {place}, not on node '{order.machine}'")
    _expect_not_cancelled(pod, order)


def place(live: LivePods, order: StepOrder, naming: NodeNaming) -> BegunStep:
    """Name the node for a pod that waits, and open its gate. The scheduler has the last word on whether it fits there."""
    expect_node(live, order)
    for _ in range(TRIES):
        waiting = waiting_pod(live, order)
        pod = live.current(waiting.namespace, waiting.name, waiting.uid)
        if pod is None or not pod.gated or pod.stopping:
            raise PermanentError(f"pod '{waiting.namespace}/{waiting.name}' does not wait any more")
        _expect_not_cancelled(pod, order)
        try:
            name_node(live, pod, order.machine, {STEP: order.token, TARGET: order.machine}, naming)
        except RefusedError as error:
            if error.status != CONFLICT:
                raise
            continue
        return BegunStep(order=order, namespace=pod.namespace, pod=pod.name, uid=pod.uid, begun=time.monotonic())
    raise PermanentError(f"the pod that replaces '{order.uid}' changes all the time: its gate was not opened")


def expect_node(live: LivePods, order: StepOrder) -> None:
    """PermanentError if the node is not there any more, is another one, or takes no pods."""
    try:
        node = live.client.get(f"/api/v1/nodes/{order.machine}")
    except RefusedError as error:
        if error.status != NOT_FOUND:
            raise
        node = {"metadata": {}}
    if node["metadata"].get("uid") != order.machine_uid:
        raise PermanentError(f"there is no node '{order.machine}' with uid '{order.machine_uid}'")
    if node["spec"].get("unschedulable"):
        raise PermanentError(f"node '{order.machine}' takes no pods: it is cordoned")


def waiting_pod(live: LivePods, order: StepOrder) -> LivePod:
    """The pod that waits in the place of the one that a create names, or that is that one."""
    pod = live.standing_in_for(order.uid) or live.gated.get(order.uid)
    if pod is not None and pod.gated and not pod.stopping:
        return pod
    raise PermanentError(f"no replica of '{order.workload}' waits to replace '{order.uid}'")


def _expect_not_cancelled(pod: LivePod, order: StepOrder) -> None:
    if order.token in pod.cancelled:
        raise PermanentError(f"step '{order.token}': cancelled before it was begun")


def cancel_delete(live: LivePods, token: str, namespace: str, name: str, uid: str) -> StepReport:
    """Give an eviction up: the pod is gone or stopping by then, or this step will never evict it."""
    for _ in range(TRIES):
        pod = live.current(namespace, name, uid)
        if pod is None or pod.stopping:
            return StepReport(token=token, state=StepState.DONE, reason=STOPS_ALREADY if pod else "")
        if token in pod.cancelled or _changed(live, pod, {CANCELLED: pod.with_cancelled(token), EVICTS: None, **_free(pod)}):
            return StepReport(token=token, state=StepState.FAILED, reason="cancelled before it was evicted")
    raise PermanentError(f"pod '{namespace}/{name}' changes all the time: step '{token}' was not cancelled")


def _free(pod: LivePod) -> dict[str, str | None]:
    """What else is to be taken off a pod that is not to be deleted: the cost that a surge has written on it."""
    return {DELETION_COST: None} if EVICTS in pod.annotations and DELETION_COST in pod.annotations else {}


def cancel_create(live: LivePods, token: str, namespace: str, name: str, uid: str) -> StepReport:
    """Give a create up: its pod is ready by then, or it is let go: it still waits, or it is the scheduler's from now on."""
    for _ in range(TRIES):
        pod = live.current(namespace, name, uid)
        if pod is None:
            return StepReport(token=token, state=StepState.FAILED, reason="the pod is gone before it was ready")
        ours = pod.annotations.get(STEP) == token
        if ours and pod.ready and pod.node == pod.annotations.get(TARGET):
            return StepReport(token=token, state=StepState.DONE, uid=uid)
        marks = {CANCELLED: pod.with_cancelled(token)} | ({STEP: None, TARGET: None} if ours else {})
        if token in pod.cancelled or _changed(live, pod, marks):
            forget_node(live, live.by_uid[uid])
            return StepReport(token=token, state=StepState.FAILED, reason=_let_go(pod))
    raise PermanentError(f"pod '{namespace}/{name}' changes all the time: step '{token}' was not cancelled")


def _let_go(pod: LivePod) -> str:
    if pod.gated:
        return "cancelled before it was placed"
    if pod.node and pod.node != pod.annotations.get(TARGET):
        return f"missed: bound to node '{pod.node}'"
    return f"cancelled before it was ready on node '{pod.node}'" if pod.node else "cancelled before it was bound to a node"


def _changed(live: LivePods, pod: LivePod, annotations: dict[str, str | None]) -> bool:
    """Write on a pod; False if it has changed or is gone meanwhile."""
    try:
        live.put(live.client.patch(pod.path, pod.change(annotations)))
    except RefusedError as error:
        if error.status not in (NOT_FOUND, CONFLICT):
            raise
        return False
    return True


def report_of(live: LivePods, step: BegunStep, *, pending: float, appearing: float) -> StepReport:
    """What is to be said about a step, by the pods as they are known."""
    pod = live.by_uid.get(step.uid)
    if step.order.action is Action.DELETE:
        return _report_of_delete(live, step, pod, appearing)
    return _report_of_create(step, pod, pending)


def _report_of_delete(live: LivePods, step: BegunStep, pod: LivePod | None, appearing: float) -> StepReport:
    """A steered delete ends when what replaces the pod waits, too, or does not come."""
    token = step.order.token
    if pod is not None:
        return StepReport(token=token, state=StepState.RUNNING)
    step.gone = step.gone or time.monotonic()
    waits = not step.order.steered or live.standing_in_for(step.uid) is not None
    ended = waits or step.order.surge or time.monotonic() - step.gone >= appearing
    return StepReport(token=token, state=StepState.DONE if ended else StepState.RUNNING)


def _report_of_create(step: BegunStep, pod: LivePod | None, pending: float) -> StepReport:
    token, wanted = step.order.token, step.order.machine
    if pod is None or pod.stopping:
        return StepReport(token=token, state=StepState.FAILED, uid=step.uid, reason="the pod is gone before it was ready")
    if pod.node and pod.node != wanted:
        return StepReport(token=token, state=StepState.FAILED, uid=step.uid, reason=f"missed: bound to node '{pod.node}'")
    if pod.node and pod.ready:
        return StepReport(token=token, state=StepState.DONE, uid=step.uid)
    if not pod.node and time.monotonic() - step.begun >= pending:
        return StepReport(token=token, state=StepState.FAILED, uid=step.uid, reason=f"no node took it for {pending:.0f} s")
    return StepReport(token=token, state=StepState.RUNNING, uid=step.uid)
