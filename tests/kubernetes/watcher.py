"""A watcher of its own: it sees every instant of a cluster, and says what was violated. It shares no code with the executor.

It follows pods, disruption budgets and nodes over its own connections, with the standard library only.
"""

import base64
import http.client
import json
import ssl
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

Json = dict[str, Any]
GATE = "bayplan.io/steer"
PATIENCE = 120.0  # seconds for a list of all pods of a large cluster
UNITS = {"m": 0.001, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "": 1.0}


class Watcher:
    """Watches from `with` to its end. `violations`: one sentence each. `bound`: pod -> node, of all that were ever bound."""

    def __init__(self, kubeconfig: Path) -> None:
        self._address, self._security = _connection(kubeconfig)
        self._lock = threading.RLock()
        self._ending = threading.Event()
        self._pods: dict[str, Json] = {}
        self._beside: defaultdict[str, dict[str, Json]] = defaultdict(dict)  # namespace, or node in brackets -> pods by uid
        self._budgets: dict[str, Json] = {}
        self._nodes: dict[str, Json] = {}
        self._named: dict[str, Json] = {}  # nodes by name
        self.violations: list[str] = []
        self.instants = 0
        self.bound: dict[str, str] = {}
        self.gated_since: dict[str, float] = {}
        self.longest_gate = 0.0  # seconds
        self.evicted = 0

    def __enter__(self) -> "Watcher":
        paths = {
            "/api/v1/nodes": self._nodes,
            "/apis/policy/v1/poddisruptionbudgets": self._budgets,
            "/api/v1/pods": self._pods,
        }
        self._began = {path: threading.Event() for path in paths}
        self._threads = [threading.Thread(target=self._keep, args=item, daemon=True) for item in paths.items()]
        for path, thread in zip(paths, self._threads, strict=True):
            thread.start()
            assert self._began[path].wait(PATIENCE), f"no list of {path}"
        return self

    def __exit__(self, *error: object) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join(10)

    @property
    def gated(self) -> list[str]:
        """Pods that wait now."""
        with self._lock:
            return sorted(self.gated_since)

    # ---- what is seen -------------------------------------------------------------------------------------------------------

    def _see(self, known: dict[str, Json], kind: str, item: Json) -> None:
        with self._lock:
            self.instants += 1
            uid = item["metadata"]["uid"]
            before = known.get(uid)
            if kind == "DELETED":
                known.pop(uid, None)
            else:
                known[uid] = item
            if known is self._nodes:
                self._named[item["metadata"]["name"]] = item
            if known is self._pods:
                self._sort(before, None if kind == "DELETED" else item)
                self._see_pod(before, None if kind == "DELETED" else item, item)

    def _sort(self, before: Json | None, after: Json | None) -> None:
        """Keep the pods of each namespace and of each node together."""
        for pod in (before,) if before is not None else ():
            for place in _places(pod):
                self._beside[place].pop(pod["metadata"]["uid"], None)
        for pod in (after,) if after is not None else ():
            for place in _places(pod):
                self._beside[place][pod["metadata"]["uid"]] = pod

    def _see_pod(self, before: Json | None, after: Json | None, item: Json) -> None:
        name, now = f"{item['metadata']['namespace']}/{item['metadata']['name']}", time.monotonic()
        if before is not None and _healthy(before) and (after is None or not _healthy(after)):
            self.evicted += 1
            self._expect_enough(item, name)
        if after is not None and _waits(after):
            self.gated_since.setdefault(name, now)
        elif name in self.gated_since:
            self.longest_gate = max(self.longest_gate, now - self.gated_since.pop(name))
        node = after["spec"].get("nodeName") if after is not None else None
        if node and self.bound.get(name) != node:
            self.bound[name] = node
            self._expect_room(node, name)

    def _expect_enough(self, pod: Json, name: str) -> None:
        """A pod stops to serve: enough others must be left."""
        for budget in list(self._budgets.values()):
            if not _selects(budget, pod) or "desiredHealthy" not in budget.get("status", {}):
                continue
            healthy = sum(
                _healthy(other) for other in self._beside[pod["metadata"]["namespace"]].values() if _selects(budget, other)
            )
            if healthy < budget["status"]["desiredHealthy"]:
                wanted = budget["status"]["desiredHealthy"]
                self.violations.append(f"{name} stopped: {healthy} healthy, '{budget['metadata']['name']}' wants {wanted}")

    def _expect_room(self, node: str, name: str) -> None:
        there = self._named.get(node)
        if there is None:
            return
        used: defaultdict[str, float] = defaultdict(float)
        for pod in self._beside[f"[{node}]"].values():
            used["pods"] += 1
            for container in pod["spec"]["containers"]:
                for resource, text in container.get("resources", {}).get("requests", {}).items():
                    used[resource] += _amount(text)
        for resource, amount in used.items():
            if amount > _amount(there["status"]["allocatable"].get(resource, "0")) * (1 + 1e-9):
                self.violations.append(f"{name} bound to {node}, which has less {resource} than that")

    # ---- how it is seen -----------------------------------------------------------------------------------------------------

    def _keep(self, path: str, known: dict[str, Json]) -> None:
        """List and watch, and begin anew when the connection breaks or the version is too old."""
        while not self._ending.is_set():
            with suppress(OSError, http.client.HTTPException, ValueError, KeyError):
                version = self._list(path, known)
                self._began[path].set()
                while not self._ending.is_set():
                    version = self._watch(path, known, version)
            self._ending.wait(0.2)

    def _list(self, path: str, known: dict[str, Json]) -> str:
        with self._get(path) as stream:
            answer = json.loads(stream.read())
        with self._lock:
            there = {item["metadata"]["uid"] for item in answer["items"]}
            for item in answer["items"]:
                self._see(known, "MODIFIED", item)
            for uid in set(known) - there:
                self._see(known, "DELETED", known[uid])
        return str(answer["metadata"]["resourceVersion"])

    def _watch(self, path: str, known: dict[str, Json], version: str) -> str:
        with self._get(f"{path}?watch=true&timeoutSeconds=2&resourceVersion={version}") as stream:
            for line in stream:
                event = json.loads(line)
                version = event["object"]["metadata"]["resourceVersion"]  # of an ERROR there is none: a KeyError, and a new list
                self._see(known, event["type"], event["object"])
        return version

    @contextmanager
    def _get(self, path: str) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPSConnection(self._address, context=self._security, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            if answer.status != 200:
                raise OSError(answer.status)
            with answer:
                yield answer
        finally:
            connection.close()


def _connection(kubeconfig: Path) -> tuple[str, ssl.SSLContext]:
    read = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    cluster, user = read["clusters"][0]["cluster"], read["users"][0]["user"]
    security = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    with tempfile.NamedTemporaryFile() as file:
        file.write(base64.b64decode(user["client-certificate-data"]) + b"\n" + base64.b64decode(user["client-key-data"]))
        file.flush()
        security.load_cert_chain(file.name)
    return urlsplit(cluster["server"]).netloc, security


def _places(pod: Json) -> tuple[str, str]:
    return pod["metadata"]["namespace"], f"[{pod['spec'].get('nodeName', '')}]"


def _healthy(pod: Json) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def _waits(pod: Json) -> bool:
    return any(gate["name"] == GATE for gate in pod["spec"].get("schedulingGates") or ())


def _selects(budget: Json, pod: Json) -> bool:
    wanted = budget["spec"]["selector"]["matchLabels"]
    labels = pod["metadata"].get("labels") or {}
    same = budget["metadata"]["namespace"] == pod["metadata"]["namespace"]
    return same and all(labels.get(key) == value for key, value in wanted.items())


def _amount(text: str) -> float:
    unit = next(unit for unit in UNITS if text.endswith(unit))
    return float(text.removesuffix(unit)) * UNITS[unit]
