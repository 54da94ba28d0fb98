"""Surge: a second instance comes before the first one goes, by scaling a Deployment up by one for a while.

Refused where something else sets the number of replicas. How many there were is written on the reservation before anything is
changed: whoever ends that scales back, unless another number was set meanwhile, which then counts.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from bayplan.kubernetes.client import Client, Json, RefusedError
from bayplan.kubernetes.execute.gates import Gates
from bayplan.kubernetes.execute.live_pod import LivePod
from bayplan.kubernetes.execute.live_pods import LivePods
from bayplan.kubernetes.execute.reservation import PodReservation, ScaledDeployment
from bayplan.kubernetes.execute.steps import TRIES, BegunStep
from bayplan.kubernetes.marks import DELETION_COST, EVICTS
from bayplan.operate.orchestrator import PermanentError, StepOrder, TemporaryError

LOWEST = "-2147483647"  # of the costs: such a pod is deleted before all others that are ready
NOT_FOUND, CONFLICT = 404, 409


class Surges:
    """Scales Deployments up and down again for steps of ours."""

    def __init__(
        self,
        live: LivePods,
        gates: Gates,
        *,
        place: Callable[[StepOrder], BegunStep],
        write_places: Callable[[], bool],
        appearing: float,
    ) -> None:
        self.live, self.gates, self.place, self.write_places, self.appearing = live, gates, place, write_places, appearing
        self._raised: set[str] = (
            set()
        )  # pods for which a Deployment was scaled up: a step that is tried again does not do so again

    def create(self, order: StepOrder, reservation: PodReservation) -> tuple[BegunStep, PodReservation]:
        """Place a second instance beside the one that runs."""
        old = self._running(order)
        if old.node == order.machine:
            raise PermanentError(f"pod '{old.namespace}/{old.name}' is on node '{order.machine}' already")
        if self.live.standing_in_for(old.uid) is None:
            if old.uid not in self._raised:
                reservation = self._scale(old, reservation, 1)
                self._raised.add(old.uid)
            self.live.follow(self.appearing, lambda: self._has_come(old))
        if self.live.standing_in_for(old.uid) is None:
            raise TemporaryError(f"no second instance of '{old.namespace}/{old.name}' came within {self.appearing:g} s")
        return self.place(order), reservation

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
        pod = self._marked(order, pod)
        reservation = self._scale(pod, reservation, -1)
        self._raised.discard(pod.uid)
        step = BegunStep(order=order, namespace=pod.namespace, pod=pod.name, uid=pod.uid, begun=time.monotonic())
        return step, reservation

    def _marked(self, order: StepOrder, pod: LivePod) -> LivePod:
        """The pod with what lets it be deleted before all others; others may write on it at the same time."""
        for _ in range(TRIES):
            try:
                return self.live.put(self.live.client.patch(pod.path, pod.change({EVICTS: order.token, DELETION_COST: LOWEST})))
            except RefusedError as error:
                if error.status != CONFLICT:
                    raise
            pod = self._running(order)
        raise TemporaryError(f"pod '{pod.namespace}/{pod.name}' changes all the time")

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
        for _ in range(TRIES):
            scale = client.get(f"{path}/scale")
            before = reservation.scaled.get(path, ScaledDeployment(int(scale["spec"]["replicas"]), 0))
            wanted = int(scale["spec"]["replicas"]) + change
            reservation = replace(reservation, scaled={**reservation.scaled, path: before._replace(ours=wanted)})
            reservation = self.gates.write(reservation)
            version = scale["metadata"]["resourceVersion"]
            try:
                client.patch(f"{path}/scale", {"metadata": {"resourceVersion": version}, "spec": {"replicas": wanted}})
            except RefusedError as error:
                if error.status != CONFLICT:  # its controller has written its status at the same time
                    raise
                continue
            return reservation
        raise TemporaryError(f"{path} changes all the time: it was not scaled")


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
