"""Uninstall: everything that is ours leaves a cluster, and what runs goes on running."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from bayplan.kubernetes.client import Client, Json, RefusedError
from bayplan.kubernetes.execute.gates import EveryGate
from bayplan.kubernetes.execute.live_pod import LivePod
from bayplan.kubernetes.execute.live_pods import LivePods
from bayplan.kubernetes.execute.overdue import let_go
from bayplan.kubernetes.execute.surge import scale_back
from bayplan.kubernetes.marks import HOLD_REASON, HOLD_UNTIL, POD_MARKS, SELECTOR
from bayplan.words import count

NOT_SERVED, GONE_OR_CHANGED = (403, 404), (404, 409)
LEASES = "/apis/coordination.k8s.io/v1/leases"
OWNERS = (
    "/apis/apps/v1/deployments",
    "/apis/apps/v1/replicasets",
    "/apis/apps/v1/statefulsets",
    "/apis/apps/v1/daemonsets",
    "/apis/batch/v1/jobs",
    "/api/v1/replicationcontrollers",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Uninstalled:
    """What was taken off a cluster, or is on it."""

    policies: int  # and their bindings, and webhooks
    leases: int
    gates: int  # pods that wait for us
    pods: int  # that carry annotations of ours
    holds: int  # owners that we hold

    @property
    def sentence(self) -> str:
        """In words."""
        parts = (
            count(self.gates, "policy"),
            count(self.leases, "lease"),
            count(self.gates, "gate"),
            f"annotations of {count(self.pods, 'pod')} and {count(self.holds, 'owner')}",
        )
        return ", ".join(parts)

    def to_dict(self) -> dict[str, int]:
        """For programs."""
        return asdict(self)


def left_on_cluster(client: Client) -> Uninstalled:
    """What of ours is on a cluster now; nothing is changed."""
    live = LivePods(client)
    live.refresh()
    return Uninstalled(
        policies=len(EveryGate(client).objects()),
        leases=len(_ours(client, LEASES)),
        gates=len(live.gated),
        pods=len(_marked(live)),
        holds=sum(1 for _ in _held(client)),
    )


def uninstall(client: Client) -> Uninstalled:
    """Take everything off a cluster that is ours: policies, gates, leases, annotations; what there was."""
    found, policies, live = left_on_cluster(client), EveryGate(client), LivePods(client)
    for reservation in policies.reservations():
        scale_back(client, reservation)
    policies.remove_all()
    live.refresh()
    let_go(live, ())
    for pod in _marked(live):
        _patch(client, pod.path, {"metadata": {"uid": pod.uid, "annotations": dict.fromkeys(POD_MARKS)}})
    for path, owner in _held(client):
        held = dict.fromkeys((HOLD_UNTIL, HOLD_REASON))
        _patch(client, path, {"metadata": {"uid": owner["metadata"]["uid"], "annotations": held}})
    for lease in _ours(client, LEASES):
        _delete(client, _path(LEASES, lease))
    return found


def _marked(live: LivePods) -> list[LivePod]:
    return [pod for pod in live.by_uid.values() if any(mark in pod.annotations for mark in POD_MARKS)]


def _held(client: Client) -> Iterator[tuple[str, Json]]:
    """Owners that carry a hold of ours, with their paths."""
    for collection in OWNERS:
        for owner in _listed(client, collection):
            if HOLD_UNTIL in (owner["metadata"].get("annotations") or {}):
                yield _path(collection, owner), owner


def _path(collection: str, item: Json) -> str:
    root, _, plural = collection.rpartition("/")
    return f"{root}/namespaces/{item['metadata']['namespace']}/{plural}/{item['metadata']['name']}"


def _ours(client: Client, path: str) -> list[Json]:
    return _listed(client, path, labelSelector=SELECTOR)


def _listed(client: Client, path: str, **parameters: Any) -> list[Json]:
    """All objects of a kind; none of a kind that may not be seen: then nothing of ours is there either."""
    try:
        return client.list(path, **parameters).items
    except RefusedError as error:
        if error.status not in NOT_SERVED:
            raise
        return []


def _patch(client: Client, path: str, body: Json) -> None:
    try:
        client.patch(path, body)
    except RefusedError as error:
        if error.status not in GONE_OR_CHANGED:
            raise


def _delete(client: Client, path: str) -> None:
    try:
        client.delete(path)
    except RefusedError as error:
        if error.status not in GONE_OR_CHANGED:
            raise
