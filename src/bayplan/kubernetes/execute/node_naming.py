"""How a pod that waits is told its node, and how that is taken back.

A nominated node is tried first by the scheduler, which takes another one if it does not fit. Servers before 1.35 do not keep a
nomination: there the pod gets a required node affinity while it is gated. That cannot be taken off again, so a pod that its node
does not take is evicted before it ever ran, and its controller creates another one.
"""

import re
from enum import StrEnum

from bayplan.kubernetes.client import Client, Json, RefusedError
from bayplan.kubernetes.execute.live_pod import LivePod
from bayplan.kubernetes.execute.live_pods import LivePods
from bayplan.kubernetes.marks import PINNED

NOT_FOUND, CONFLICT = 404, 409
NOMINATES = (1, 35)  # the first version that keeps a nomination of ours
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class NodeNaming(StrEnum):
    """How a pod is told its node."""

    NOMINATION = "nomination"
    AFFINITY = "affinity"


def naming_of(client: Client) -> NodeNaming:
    """The way that suits a server's version."""
    told = client.get("/version")
    version = tuple(int(re.match("[0-9]*", str(told.get(part, "")))[0] or 0) for part in ("major", "minor"))  # type: ignore[index]
    return NodeNaming.NOMINATION if version >= NOMINATES else NodeNaming.AFFINITY


def name_node(live: LivePods, pod: LivePod, node: str, marks: dict[str, str | None], naming: NodeNaming) -> LivePod:
    """Name the node for a pod that waits, write on it, and open its gate; refused (409) if it has changed meanwhile."""
    if naming is NodeNaming.AFFINITY:
        body = pod.without_gate({**marks, PINNED: node}, affinity={"nodeAffinity": {REQUIRED: _tied(pod, node)}})
        return live.put(live.client.patch(pod.path, body, kind="strategic"))
    named = {"metadata": {"uid": pod.uid, "resourceVersion": pod.version}, "status": {"nominatedNodeName": node}}
    pod = live.put(live.client.patch(f"{pod.path}/status", named))
    return live.put(live.client.patch(pod.path, pod.without_gate(marks), kind="strategic"))


def _tied(pod: LivePod, node: str) -> Json:
    """The required node affinity of a pod with this node in addition: each term may only be made stricter."""
    stated = (((pod.raw["spec"].get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED) or {}).get("nodeSelectorTerms")
    here = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = [{**term, "matchFields": [*(term.get("matchFields") or ()), here]} for term in stated or ()]
    return {"nodeSelectorTerms": terms or [{"matchFields": [here]}]}


def forget_node(live: LivePods, pod: LivePod) -> None:
    """Take back the name of the node, if the pod still has none: the scheduler is free to choose."""
    if pod.node:
        return
    try:
        if pod.tied:
            live.client.create(f"{pod.path}/eviction", pod.eviction())
        elif pod.raw.get("status", {}).get("nominatedNodeName"):
            live.put(live.client.patch(f"{pod.path}/status", {"status": {"nominatedNodeName": None}}))
    except RefusedError as error:
        if error.status not in (NOT_FOUND, CONFLICT):
            raise
