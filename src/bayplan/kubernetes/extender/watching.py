"""Nodes and pods of a cluster, listed once and then followed change by change, into a `LivePlacement`.

Two threads, one for nodes and one for pods. Whatever goes wrong (a version too old, a server that does not answer), a thread
waits a little and lists anew; until then answers are made from what was known last, and `ready` says how old that may be.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bayplan.api.machine_scores import LivePlacement
from bayplan.errors import WorldError
from bayplan.kubernetes.client import Client, Json, Listing
from bayplan.kubernetes.extender.pods import RESOURCES, capacity_of, running_container

PATHS = {"nodes": "/api/v1/nodes", "pods": "/api/v1/pods"}
WATCH = 300.0  # seconds of one watch; the server sends a bookmark about every minute
STALE = 600.0  # seconds without a word from the server after which what is known is not used
LONGEST_WAIT = 30.0
Tell = Callable[[str, Json], None]


def _silent(event: str, fields: Json) -> None:
    """Say nothing."""


@dataclass(kw_only=True, eq=False)
class ClusterWatch:
    """Keeps a `LivePlacement` as the cluster is, from the time that `start` is called until `stop`."""

    client: Client
    live: LivePlacement = field(default_factory=lambda: LivePlacement(len(RESOURCES)))
    tell: Tell = _silent
    heard: dict[str, float] = field(default_factory=dict)  # kind -> when the server said something about it, monotonic
    stopped: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Follow the cluster in the background."""
        for kind in PATHS:
            threading.Thread(target=self._follow, args=(kind,), name=f"watch {kind}", daemon=True).start()

    def stop(self) -> None:
        """Follow no further; what runs ends with its next word from the server."""
        self.stopped.set()

    def ready(self) -> bool:
        """Was everything listed, and has the server been heard lately?"""
        oldest = min((self.heard.get(kind, 0.0) for kind in PATHS), default=0.0)
        return oldest > 0.0 and time.monotonic() - oldest < STALE

    def _follow(self, kind: str) -> None:
        failures = 0
        while not self.stopped.is_set():
            try:
                for _ in self.changes(kind):
                    failures = 0
                    self.heard[kind] = time.monotonic()
                    if self.stopped.is_set():
                        return
            except WorldError as error:
                failures += 1
                self.tell("list anew", {"kind": kind, "reason": str(error)})
            wait = min(LONGEST_WAIT, 2.0**failures) if failures else 0.0
            self.stopped.wait(wait * random.uniform(0.5, 1.0))  # several extenders should not all come back at once

    def changes(self, kind: str) -> Iterator[str]:
        """List, then follow; one word for each thing that was taken over. Ends only with an error or when stopped."""
        listing = self.client.list(PATHS[kind])
        self._take_all(kind, listing)
        self.tell("listed", {"kind": kind, "number": len(listing.items)})
        yield "listed"
        version = listing.resource_version
        while not self.stopped.is_set():
            for event in self.client.watch(PATHS[kind], version, WATCH):
                version = event["object"]["metadata"].get("resourceVersion", version)
                self._take(kind, event)
                yield str(event["type"])
            yield "ended"  # by the server, as agreed: the watch goes on from the last version

    def _take_all(self, kind: str, listing: Listing) -> None:
        if kind == "nodes":
            self.live.replace_machines({node["metadata"]["name"]: capacity_of(node) for node in listing.items})
            return
        running = {pod["metadata"]["uid"]: running_container(pod) for pod in listing.items}
        self.live.replace_containers({uid: container for uid, container in running.items() if container is not None})

    def _take(self, kind: str, event: Json) -> None:
        about, gone = event["object"]["metadata"], event["type"] == "DELETED"
        if event["type"] == "BOOKMARK":
            return
        if kind == "nodes":
            self.live.set_machine(about["name"], None if gone else capacity_of(event["object"]))
        else:
            self.live.set_container(about["uid"], None if gone else running_container(event["object"]))
