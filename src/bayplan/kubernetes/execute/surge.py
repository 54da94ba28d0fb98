"""Surge: a second instance comes before the first one goes, by scaling a Deployment up by one for a while.

Refused where something else sets the number of replicas. How many there were is written on the reservation before anything is
changed: whoever ends that scales back, unless another number was set meanwhile, which then counts.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from bayplan.kubernetes.client import Client, Json, RefusedError
from bayplan.kubernetes.execute.gate_policy import GatePolicies
from bayplan.kubernetes.execute.live_pods import LivePods
from bayplan.kubernetes.execute.marks import DELETION_COST, EVICTS, LivePod
from bayplan.kubernetes.execute.reservation import PodReservation, ScaledDeployment
from bayplan.kubernetes.execute.steps import BegunStep, place
from bayplan.operate.orchestrator import PermanentError, StepOrder, TemporaryError

LOWEST = "-2147483647"  # of the costs: such a pod is deleted before all others that are ready
NOT_FOUND, CONFLICT = 404, 409


class Surges:
    """Scales Deployments up and down again for steps of ours."""

    def __init__(self, live: LivePods, policies: GatePolicies, write_places: Callable[[], bool], appearing: float) -> None:
        self.live, self.policies, self.write_places, self.appearing = live, policies, write_places, appearing

    def create(self, order: StepOrder, reservation: PodReservation) -> tuple[BegunStep, PodReservation]:
        """Place a second instance beside the one that runs."""
        old = self._running(order)
        if old.node == order.machine:
            raise PermanentError(f"pod '{old.namespace}/{old.name}' is on node '{order.machine}' already")
        if self.live.standing_in_for(old.uid) is None:
            reservation = self._scale(old, reservation, 1)
            self.live.follow(self.appearing, lambda: self._has_come(old))
        if self.live.standing_in_for(old.uid) is None:
            raise TemporaryError(f"no second instance of '{old.namespace}/{old.name}' came within {self.appearing:g} s")
        return place(self.live, order), reservation

    def _has_come(self, old: LivePod) -> bool:
        self.write_places()
        return self.live.standing_in_for(old.uid) is not None

    def delete(self, order: StepOrder, reservation: PodReservation) -> tuple[BegunStep, PodReservation]:
        """Let the first instance go: it costs least, and the Deployment is scaled down by one."""
        pod = self._running(order)
        others = [each for each in self.live.by_uid.values() if each.owner == pod.owner and not each.stopping]
        unready = [each.name for each in others if not each.ready]
        if unready:
            raise TemporaryError(f"'{unready[0]}' is not ready: it would be deleted first")
        self.live.put(self.live.client.patch(pod.path, pod.change({EVICTS: order.token, DELETION_COST: LOWEST})))
        reservation = self._scale(pod, reservation, -1)
        step = BegunStep(order=order, namespace=pod.namespace, pod=pod.name, uid=pod.uid, begun=time.monotonic())
        return step, reservation

    def _running(self, order: StepOrder) -> LivePod:
        known = self.live.known(order.uid)
        pod = None if known is None else self.live.current(known.namespace, known.name, order.uid)
        if pod is None or pod.stopping or not pod.node:
            raise PermanentError(f"there is no running pod with uid '{order.uid}'")
        if order.token in pod.cancelled:
            raise PermanentError(f"step '{order.token}': cancelled before it was begun")
        return pod

    def _scale(self, pod: LivePod, reservation: PodReservation, change: int) -> PodReservation:
        """Change the number of replicas by one; what it was is written down first."""
        client = self.live.client
        path = _deployment(client, pod)
        if change > 0:
            _expect_no_autoscaler(client, pod.namespace, path)
        scale = client.get(f"{path}/scale")
        before = reservation.scaled.get(path, ScaledDeployment(int(scale["spec"]["replicas"]), 0))
        wanted = int(scale["spec"]["replicas"]) + change
        reservation = replace(reservation, scaled={**reservation.scaled, path: before._replace(ours=wanted)})
        reservation = self.policies.write(reservation)
        version = scale["metadata"]["resourceVersion"]
        client.patch(f"{path}/scale", {"metadata": {"resourceVersion": version}, "spec": {"replicas": wanted}})
        return reservation


def scale_back(client: Client, reservation: PodReservation) -> None:
    """Undo what is left of surges: pods that are not ready, or came last, are deleted by their controller."""
    for path, scaled in reservation.scaled.items():
        try:
            scale = client.get(f"{path}/scale")
            if scaled.ours != scaled.before and int(scale["spec"]["replicas"]) == scaled.ours:
                version = scale["metadata"]["resourceVersion"]
                client.patch(f"{path}/scale", {"metadata": {"resourceVersion": version}, "spec": {"replicas": scaled.before}})
        except RefusedError as error:
            if error.status == CONFLICT:
                raise TemporaryError(f"{path} was changed at the same time") from error
            if error.status != NOT_FOUND:
                raise


def _deployment(client: Client, pod: LivePod) -> str:
    """The path of the Deployment of a pod."""
    owner: Json = {}
    if pod.controller.get("kind") == "ReplicaSet":
        replica_set = client.get(f"/apis/apps/v1/namespaces/{pod.namespace}/replicasets/{pod.controller['name']}")
        references = replica_set["metadata"].get("ownerReferences") or ()
        owner = next((each for each in references if each.get("controller") and each["kind"] == "Deployment"), {})
    if not owner:
        raise PermanentError(f"pod '{pod.namespace}/{pod.name}' belongs to no Deployment: there is nothing to scale")
    return f"/apis/apps/v1/namespaces/{pod.namespace}/deployments/{owner['name']}"


def _expect_no_autoscaler(client: Client, namespace: str, path: str) -> None:
    name = path.rpartition("/")[2]
    for scaler in client.list(f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers").items:
        target = scaler["spec"]["scaleTargetRef"]
        if (target["kind"], target["name"]) == ("Deployment", name):
            raise PermanentError(f"Deployment '{namespace}/{name}' is scaled by '{scaler['metadata']['name']}': it cannot surge")
