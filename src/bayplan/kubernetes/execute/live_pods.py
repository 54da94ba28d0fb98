"""The pods of a cluster as they are now: read once, and followed from there."""

import time
from collections.abc import Callable, Iterable

from bayplan.kubernetes.client import Client, Json, RefusedError
from bayplan.kubernetes.execute.live_pod import LivePod, pod_path
from bayplan.kubernetes.marks import REPLACES

TOO_OLD, NOT_FOUND = 410, 404
SLICE = 2.0  # seconds of one watch: what depends on the time is looked at in between


class LivePods:
    """All pods by uid. What an observation read is taken over; a watch keeps it up to date while a step is waited for."""

    def __init__(self, client: Client, namespace: str = "") -> None:
        self.client = client
        self.path = f"/api/v1/namespaces/{namespace}/pods" if namespace else "/api/v1/pods"
        self.by_uid: dict[str, LivePod] = {}
        self.gated: dict[str, LivePod] = {}  # those that wait for us
        self.replacement: dict[str, str] = {}  # uid of a pod that was deleted -> uid of the one that has taken its place
        self.version = ""  # of the cluster that is shown; empty: nothing was read yet

    def take(self, items: Iterable[Json], version: str) -> None:
        """Take over what was read."""
        self.by_uid, self.gated, self.replacement = {}, {}, {}
        for item in items:
            self.put(item)
        self.version = version

    def refresh(self) -> None:
        """Read all pods."""
        listing = self.client.list(self.path)
        self.take(listing.items, listing.resource_version)

    def put(self, raw: Json) -> LivePod:
        """Take over one pod that the server has shown, unless it is known in a later state."""
        pod = LivePod(raw)
        known = self.by_uid.get(pod.uid)
        if known is not None and int(known.version) > int(pod.version):
            return known  # the answer to a patch of ours came first
        self.drop(pod.uid)
        if not pod.ended:
            self.by_uid[pod.uid] = pod
            if pod.gated:
                self.gated[pod.uid] = pod
            if REPLACES in pod.annotations and not pod.stopping:
                self.replacement[pod.annotations[REPLACES]] = pod.uid
        return pod

    def drop(self, uid: str) -> None:
        """Forget a pod that is gone."""
        pod = self.by_uid.pop(uid, None)
        self.gated.pop(uid, None)
        replaced = "" if pod is None else pod.annotations.get(REPLACES, "")
        if self.replacement.get(replaced) == uid:
            del self.replacement[replaced]

    def known(self, uid: str) -> LivePod | None:
        """A pod as it was read last; all are read, if this one has never been seen."""
        if uid not in self.by_uid:
            self.refresh()
        return self.by_uid.get(uid)

    def standing_in_for(self, uid: str) -> LivePod | None:
        """The pod that has taken the place of another one, if it is there."""
        return self.by_uid.get(self.replacement.get(uid, ""))

    def current(self, namespace: str, name: str, uid: str) -> LivePod | None:
        """A pod as it is at this moment; None if it is gone, or another one by that name is there."""
        try:
            raw = self.client.get(pod_path(namespace, name))
        except RefusedError as error:
            if error.status != NOT_FOUND:
                raise
            raw = {}
        if raw.get("metadata", {}).get("uid") == uid:
            return self.put(raw)
        self.drop(uid)
        return None

    def follow(self, seconds: float, done: Callable[[], bool]) -> None:
        """Let time pass, and take over what changes, until something is done or the time is over."""
        if not self.version:
            self.refresh()
        deadline = time.monotonic() + seconds
        while not done() and (left := deadline - time.monotonic()) > 0:
            try:
                self._follow(min(left, SLICE), done)
            except RefusedError as error:
                if error.status != TOO_OLD:
                    raise
                self.refresh()

    def _follow(self, seconds: float, done: Callable[[], bool]) -> None:
        for event in self.client.watch(self.path, self.version, seconds):
            self.version = str(event["object"]["metadata"]["resourceVersion"])
            if event["type"] == "DELETED":
                self.drop(str(event["object"]["metadata"]["uid"]))
            elif event["type"] != "BOOKMARK":
                self.put(event["object"])
            if done():
                return
