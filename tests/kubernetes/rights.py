"""Rights as sets: what rules grant, what requests need, and what a real API server says to a request."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

from tests.kubernetes.objects import Json

from bayplan.kubernetes.client import Client, RefusedError, UnavailableError

VERSIONS = {
    "": "v1",
    "apps": "v1",
    "batch": "v1",
    "policy": "v1",
    "autoscaling": "v2",
    "storage.k8s.io": "v1",
    "events.k8s.io": "v1",
}
CLUSTER_WIDE = {
    "nodes",
    "namespaces",
    "persistentvolumes",
    "csinodes",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
}
PATH = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/v\w+(?:/namespaces/[^/]+)?/(?P<resource>[a-z]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>\w+))?"
)
CHANGES = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Right(NamedTuple):
    """One verb on one resource."""

    verb: str
    group: str
    resource: str  # with its sub-resource: pods/eviction

    @property
    def changes(self) -> bool:
        """Does it change anything?"""
        return self.verb not in ("get", "list", "watch")


def granted(rules: Iterable[Json]) -> set[Right]:
    """Everything that rules of RBAC allow."""
    return {
        Right(verb, group, resource)
        for rule in rules
        for group in rule.get("apiGroups", ())
        for resource in rule.get("resources", ())
        for verb in rule["verbs"]
    }


def needed(method: str, path: str, parameters: Any) -> Right | None:
    """The right that a request needs; None for what everyone may ask, such as which versions there are."""
    if path.startswith("/api/v1/namespaces") and path.count("/") == 4 and method == "GET":
        return Right("get", "", "namespaces")
    match = PATH.fullmatch(path)
    if match is None:
        return None
    resource = match["resource"] + (f"/{match['sub']}" if match["sub"] else "")
    reading = "watch" if "watch" in parameters else "get" if match["name"] else "list"
    return Right(reading if method == "GET" else CHANGES[method], match["group"] or "", resource)


@contextmanager
def recorded() -> Iterator[set[Right]]:
    """Everything that is asked of an API server in this process until the end of the block."""
    rights: set[Right] = set()
    send = Client._send

    def recording(self: Client, method: str, path: str, parameters: Any, **more: Any) -> Any:
        right = needed(method, path, parameters)
        if right is not None:
            rights.add(right)
        return send(self, method, path, parameters, **more)

    with patch.object(Client, "_send", recording):
        yield rights


def may(client: Client, right: Right, namespace: str) -> bool:
    """Does the API server let a real request through to the object? Nothing is changed: no such object exists, or it is tried."""
    resource, _, sub = right.resource.partition("/")
    root = f"/apis/{right.group}/{VERSIONS.get(right.group, 'v1')}" if right.group else "/api/v1"
    collection = f"{root}/{resource}" if resource in CLUSTER_WIDE else f"{root}/namespaces/{namespace}/{resource}"
    one = f"{collection}/no-such-object{'/' + sub if sub else ''}"
    asked = {
        "get": lambda: client.get(one),
        "list": lambda: client.list(collection),
        "watch": lambda: next(client.watch(collection, "0", 1.0), None),
        "create": lambda: client.create(one if sub else collection, {"metadata": {"name": "no-such-object"}}, dryRun="All"),
        "update": lambda: client.replace(one, {"metadata": {"name": "no-such-object"}}, dryRun="All"),
        "patch": lambda: client.patch(one, {"metadata": {"annotations": {"a": "b"}}}, dryRun="All"),
        "delete": lambda: client.delete(one, dryRun="All"),
    }
    try:
        asked[right.verb]()
    except RefusedError as error:
        return error.status != 403
    except UnavailableError as error:
        assert error.status in (500, 503), error  # a Service that is not there cannot be reached: that is behind the right
    return True
