"""A reservation: for which containers steps are under way, and until when. It is kept on the cluster, so it outlives us."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from bayplan.kubernetes.execute.live_pod import LivePod
from bayplan.model import Action
from bayplan.operate.orchestrator import PermanentError, StepOrder

LARGEST = 200_000  # bytes on one object: the API server takes 256 KiB of annotations


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedPod:
    """One pod that steps of ours are about: it is deleted, was deleted, or gets a second instance."""

    uid: str
    namespace: str
    name: str
    owner: str  # uid of its controller
    container: str  # its name in plans
    steered: bool = True  # does what replaces it wait for a create of ours?
    surge: bool = False  # does another instance come before this one goes?
    deletes: tuple[str, ...] = ()  # tokens of steps that delete it
    creates: tuple[str, ...] = ()  # tokens of steps that create what stands in for it


class ScaledDeployment(NamedTuple):
    """A Deployment that was scaled for a surge."""

    before: int  # replicas
    ours: int  # replicas that we have set last


@dataclass(frozen=True, slots=True, kw_only=True)
class PodReservation:
    """What is reserved for one plan."""

    name: str
    until: float  # seconds since 1970
    pods: tuple[ReservedPod, ...] = ()
    scaled: Mapping[str, ScaledDeployment] = field(default_factory=dict)  # path of a Deployment -> its replicas
    version: str = ""  # of the object that holds it; empty: it is not on the cluster yet

    @property
    def owners(self) -> frozenset[str]:
        """Controllers whose new pods wait."""
        return frozenset(pod.owner for pod in self.pods if pod.steered)

    @property
    def namespaces(self) -> frozenset[str]:
        """Where these are."""
        return frozenset(pod.namespace for pod in self.pods if pod.steered)

    def of_token(self, token: str) -> tuple[ReservedPod, Action] | None:
        """The pod that a step is about, and what it does."""
        for pod in self.pods:
            if token in pod.deletes:
                return pod, Action.DELETE
            if token in pod.creates:
                return pod, Action.CREATE
        return None

    def to_text(self) -> str:
        """As it is written on the cluster."""
        rows = [
            [pod.uid, pod.namespace, pod.name, pod.owner, pod.container, pod.steered, pod.surge, pod.deletes, pod.creates]
            for pod in self.pods
        ]
        text = json.dumps({"pods": rows, "scaled": dict(self.scaled)}, separators=(",", ":"))
        if len(text) > LARGEST:
            raise PermanentError(f"a batch of {len(self.pods):,} moves is too large for one reservation: plan fewer at once")
        return text


def reservation_of(name: str, until: float, text: str, version: str) -> PodReservation:
    """The reservation that was written on the cluster."""
    read = json.loads(text)
    pods = tuple(
        ReservedPod(
            uid=uid,
            namespace=namespace,
            name=pod,
            owner=owner,
            container=container,
            steered=steered,
            surge=surge,
            deletes=tuple(deletes),
            creates=tuple(creates),
        )
        for uid, namespace, pod, owner, container, steered, surge, deletes, creates in read["pods"]
    )
    return PodReservation(
        name=name,
        until=until,
        pods=pods,
        scaled={path: ScaledDeployment(*counts) for path, counts in read["scaled"].items()},
        version=version,
    )


def reserved_pods(
    orders: Sequence[StepOrder], before: Iterable[ReservedPod], pods: Mapping[str, LivePod]
) -> tuple[ReservedPod, ...]:
    """What the orders are about; of pods that are gone by now it is known from the reservation before.

    An order about a pod that neither shows is left out: its step will be refused.
    """
    known = {pod.uid: replace(pod, surge=False, deletes=(), creates=()) for pod in before}
    reserved: dict[str, ReservedPod] = {}
    for order in orders:
        pod = reserved.get(order.uid) or known.get(order.uid) or _reserved(pods.get(order.uid))
        if pod is not None:
            reserved[order.uid] = _with_order(pod, order)
    return tuple(reserved.values())


def _reserved(pod: LivePod | None) -> ReservedPod | None:
    if pod is None or not pod.owner:
        return None
    return ReservedPod(uid=pod.uid, namespace=pod.namespace, name=pod.name, owner=pod.owner, container=pod.container)


def _with_order(pod: ReservedPod, order: StepOrder) -> ReservedPod:
    token = (order.token,) if order.token else ()
    if order.action is Action.DELETE:
        return replace(pod, deletes=(*pod.deletes, *token), steered=pod.steered and order.steered)
    return replace(pod, creates=(*pod.creates, *token), surge=pod.surge or bool(token and order.surge))
