"""Pods as they are collected: who they are, what they stand for, where they run and in which phase."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bayplan.kubernetes.client import Json
from bayplan.kubernetes.collect.nodes import NodeTable
from bayplan.kubernetes.collect.objects import Objects
from bayplan.kubernetes.collect.owners import Owner, Owners
from bayplan.kubernetes.collect.pod_facts import PodFacts, PodReader
from bayplan.kubernetes.collect.settings import in_scope
from bayplan.kubernetes.collect.volumes import EVERYWHERE, Reach, Volumes, claims_of
from bayplan.kubernetes.marks import CONTAINER, GATE, REPLACES, STEP
from bayplan.model import UNPLACED
from bayplan.operate.orchestrator import Phase

FINISHED = ("Succeeded", "Failed")
ONLY_STAY = ("DaemonSet", "Node")  # owners whose pods are made for their node


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedPod:
    """One pod and what it stands for in the model."""

    container: str  # its name in the model: "namespace/pod", or that of the pod whose place it took
    uid: str
    namespace: str
    name: str
    owner: Owner
    phase: Phase
    created: float
    version: int
    node: str = ""
    token: str = ""  # of the step of ours that created it
    replaces: str = ""  # the uid of the pod that it replaces, while it waits at our gate
    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PodRow:
    """A pod with what its placement depends on."""

    pod: CollectedPod
    raw: Json
    facts: PodFacts
    reach: Reach
    machine: int  # UNPLACED while it has none
    shown: bool  # is it a container of the model? Others only use their node: out of scope, or stopping


def pod_rows(objects: Objects, nodes: NodeTable, owners: Owners, volumes: Volumes, scope: Sequence[str]) -> tuple[PodRow, ...]:
    """All pods that have not ended, and have no node that is unknown."""
    reader, rows = PodReader(), []
    slots = _slots(objects.of("Pod"))
    for raw in objects.of("Pod"):
        status, spec = raw.get("status") or {}, raw["spec"]
        node = str(spec.get("nodeName") or "")
        if status.get("phase") in FINISHED or (node and node not in nodes.index):
            continue
        owner = owners.of(raw)
        pod = _collected(raw, owner, node, slots)
        shown = in_scope(pod.namespace, scope) and pod.phase is not Phase.STOPPING
        facts = reader.facts(raw, stays=bool(node) and (not shown or owner.kind in ONLY_STAY))
        claims = claims_of(raw) if shown else ()
        reach = volumes.reach(pod.namespace, claims) if claims else EVERYWHERE
        promised = "" if shown else str(status.get("nominatedNodeName") or "")  # the scheduler keeps it free for that pod
        machine = nodes.index.get(node or promised, UNPLACED)
        rows.append(PodRow(pod=pod, raw=raw, facts=facts, reach=reach, machine=machine, shown=shown))
    return tuple(rows)


def _collected(raw: Json, owner: Owner, node: str, slots: Counter[str]) -> CollectedPod:
    metadata, spec = raw["metadata"], raw["spec"]
    annotations = metadata.get("annotations") or {}
    namespace, name = str(metadata.get("namespace", "")), str(metadata["name"])
    gated = any(gate.get("name") == GATE for gate in spec.get("schedulingGates") or ())
    slot = str(annotations.get(CONTAINER, ""))
    return CollectedPod(
        container=slot if _is_slot(slot, namespace, slots) else f"{namespace}/{name}",
        uid=str(metadata.get("uid") or f"{namespace}/{name}"),
        namespace=namespace,
        name=name,
        owner=owner,
        phase=phase_of(raw),
        created=seconds(str(metadata.get("creationTimestamp") or "")),
        version=_number(metadata.get("resourceVersion")),
        node=node,
        token=str(annotations.get(STEP, "")),
        replaces=str(annotations.get(REPLACES, "")) if gated else "",
        priority=int(spec.get("priority") or 0),
    )


def _slots(pods: Sequence[Json]) -> Counter[str]:
    """How many running pods say that they stand for each container."""
    return Counter(
        (pod["metadata"].get("annotations") or {}).get(CONTAINER, "")
        for pod in pods
        if "deletionTimestamp" not in pod["metadata"] and (pod.get("status") or {}).get("phase") not in FINISHED
    )


def _is_slot(slot: str, namespace: str, slots: Counter[str]) -> bool:
    """Can this be the container that a pod stands for? Not if it is copied from a template: then many pods say the same."""
    return slot.startswith(f"{namespace}/") and slots[slot] <= 2


def phase_of(raw: Json) -> Phase:
    """Where a pod is in its life."""
    if raw["metadata"].get("deletionTimestamp"):
        return Phase.STOPPING
    if not raw["spec"].get("nodeName"):
        return Phase.PENDING
    conditions = (raw.get("status") or {}).get("conditions") or ()
    ready = any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)
    return Phase.READY if ready else Phase.STARTING


def seconds(text: str) -> float:
    """A time of the API as seconds since 1970; 0 if there is none."""
    try:
        return datetime.fromisoformat(text).timestamp() if text else 0.0
    except ValueError:
        return 0.0


def _number(text: object) -> int:
    return int(text) if isinstance(text, str) and text.isdigit() else 0
