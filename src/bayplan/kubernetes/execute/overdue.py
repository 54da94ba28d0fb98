"""The dead-man rule: no pod waits longer than its reservation, whatever became of the process that made it."""

import time
from collections.abc import Collection

from bayplan.kubernetes.client import Client
from bayplan.kubernetes.execute.gates import Gates
from bayplan.kubernetes.execute.live_pod import LivePod
from bayplan.kubernetes.execute.live_pods import LivePods
from bayplan.kubernetes.execute.node_naming import forget_node
from bayplan.kubernetes.execute.replacements import open_gate
from bayplan.kubernetes.execute.reservation import ReservedPod
from bayplan.kubernetes.execute.surge import scale_back
from bayplan.kubernetes.marks import GATE, REPLACES
from bayplan.operate.orchestrator import TemporaryError

ROUNDS = 5  # of opening gates: a pod may change at the same moment


def end_overdue(gates: Gates, namespace: str, now: float) -> list[str]:
    """End reservations whose time is over, and open the gate of every pod that no reservation is for; which had to end.

    Pods are read before reservations: so none is let go whose reservation was made in between.
    """
    waiting = _pending(gates.client, namespace)
    reservations = gates.reservations()
    overdue = [each for each in reservations if each.until <= now]
    for each in overdue:
        scale_back(gates.client, each)
        gates.remove(each.name)
    let_go(waiting, [pod for each in reservations if each.until > now for pod in each.pods])
    return [each.name for each in overdue]


def end_reservation(gates: Gates, namespace: str, name: str, arming: float) -> None:
    """Take one reservation off the cluster, and let go what waited for it.

    An API server may use the policy for a moment after it is gone: what it lets wait then is let go, too.
    """
    reservation = gates.reservation(name)
    if reservation is not None:
        scale_back(gates.client, reservation)
    gates.remove(name)
    for again in (False, True) if reservation is not None else (False,):
        if again:
            time.sleep(arming)
        waiting = _pending(gates.client, namespace)
        let_go(waiting, [pod for each in gates.reservations() for pod in each.pods])


def _pending(client: Client, namespace: str) -> LivePods:
    """The pods that have not started: the only ones that can wait for us. Read for themselves, apart from all others."""
    live = LivePods(client, namespace)
    listing = client.list(live.path, fieldSelector="status.phase=Pending")
    live.take(listing.items, listing.resource_version)
    return live


def let_go(live: LivePods, reserved: Collection[ReservedPod]) -> None:
    """Let every pod go to the scheduler that no reservation is for: its gate is opened, what ties it to a node is taken off.

    TemporaryError if one keeps changing.
    """
    for pod in _stranded(live, reserved):
        forget_node(live, pod)
    for _ in range(ROUNDS):
        forgotten = _forgotten(live, reserved)
        if not forgotten:
            return
        for pod in forgotten:
            open_gate(live, pod)
    names = ", ".join(f"{pod.namespace}/{pod.name}" for pod in forgotten)
    raise TemporaryError(f"the gate {GATE} could not be opened for {names}: they change all the time")


def _stranded(live: LivePods, reserved: Collection[ReservedPod]) -> list[LivePod]:
    """Pods that only one node may take, which has not, placed by a process that follows them no more."""
    steered = {each.uid for each in reserved}
    return [pod for pod in live.by_uid.values() if pod.tied and pod.annotations.get(REPLACES) not in steered]


def _forgotten(live: LivePods, reserved: Collection[ReservedPod]) -> list[LivePod]:
    """Pods that wait for a step that no process will make.

    One that has no place yet, of a controller with a reservation, may be about to get one: whoever made that decides.
    """
    steered = {each.uid for each in reserved if each.steered}
    owners = {each.owner for each in reserved if each.steered}
    waiting = [pod for pod in live.gated.values() if not pod.stopping and pod.uid not in steered]
    return [pod for pod in waiting if _is_forgotten(pod, steered, owners)]


def _is_forgotten(pod: LivePod, steered: Collection[str], owners: Collection[str]) -> bool:
    replaced = pod.annotations.get(REPLACES)
    return pod.owner not in owners if replaced is None else replaced not in steered
