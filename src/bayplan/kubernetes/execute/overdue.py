"""The dead-man rule: no pod waits longer than its reservation, whatever became of the process that made it."""

import time
from collections.abc import Collection

from bayplan.kubernetes.client import Client
from bayplan.kubernetes.execute.gate_policy import GatePolicies
from bayplan.kubernetes.execute.live_pods import LivePods
from bayplan.kubernetes.execute.marks import GATE, REPLACES, LivePod
from bayplan.kubernetes.execute.replacements import open_gate
from bayplan.kubernetes.execute.reservation import ReservedPod
from bayplan.kubernetes.execute.surge import scale_back
from bayplan.operate.orchestrator import TemporaryError

ROUNDS = 5  # of opening gates: a pod may change at the same moment


def end_overdue(policies: GatePolicies, namespace: str, now: float) -> list[str]:
    """End reservations whose time is over, and open the gate of every pod that no reservation is for; which had to end.

    Pods are read before reservations: so none is let go whose reservation was made in between.
    """
    waiting = _pending(policies.client, namespace)
    reservations = policies.reservations()
    overdue = [each for each in reservations if each.until <= now]
    for each in overdue:
        scale_back(policies.client, each)
        policies.remove(each.name)
    let_go(waiting, [pod for each in reservations if each.until > now for pod in each.pods])
    return [each.name for each in overdue]


def end_reservation(policies: GatePolicies, namespace: str, name: str, arming: float) -> None:
    """Take one reservation off the cluster, and let go what waited for it.

    An API server may use the policy for a moment after it is gone: what it lets wait then is let go, too.
    """
    reservation = policies.reservation(name)
    if reservation is not None:
        scale_back(policies.client, reservation)
    policies.remove(name)
    for again in (False, True) if reservation is not None else (False,):
        if again:
            time.sleep(arming)
        waiting = _pending(policies.client, namespace)
        let_go(waiting, [pod for each in policies.reservations() for pod in each.pods])


def _pending(client: Client, namespace: str) -> LivePods:
    """The pods that have not started: the only ones that can wait for us. Read for themselves, apart from all others."""
    live = LivePods(client, namespace)
    listing = client.list(live.path, fieldSelector="status.phase=Pending")
    live.take(listing.items, listing.resource_version)
    return live


def let_go(live: LivePods, reserved: Collection[ReservedPod]) -> None:
    """Open the gate of every pod that no reservation is for; TemporaryError if one keeps changing."""
    for _ in range(ROUNDS):
        forgotten = _forgotten(live, reserved)
        if not forgotten:
            return
        for pod in forgotten:
            open_gate(live, pod)
    names = ", ".join(f"{pod.namespace}/{pod.name}" for pod in forgotten)
    raise TemporaryError(f"the gate {GATE} could not be opened for {names}: they change all the time")


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
