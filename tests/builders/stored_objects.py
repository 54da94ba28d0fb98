"""An API server in memory: objects by path, versions, the answers 404, 409 and 422, and merge patches. Nothing else of one."""

import copy
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from bayplan.kubernetes.client import Json, Listing, RefusedError


class StoredObjects:
    """What a `Client` is connected to; `calls` are the requests that were made, `fail` may raise before one is carried out."""

    def __init__(self, objects: Mapping[str, Json] | None = None, *, namespace: str = "bayplan") -> None:
        self.namespace, self.context, self.server = namespace, "memory", "memory"
        self.objects: dict[str, Json] = {}
        self.calls: list[tuple[str, str]] = []
        self.fail: Callable[[str, str], None] = lambda method, path: None
        self._versions = itertools.count(1)
        for path, each in (objects or {}).items():
            self._store(path, each)

    def within(self, seconds: float) -> "StoredObjects":
        """Answers come at once."""
        return self

    def get(self, path: str, **parameters: Any) -> Json:
        self._begin("GET", path)
        return copy.deepcopy(self._known(path))

    def list(self, path: str, **parameters: Any) -> Listing:
        self._begin("GET", path)
        items = [copy.deepcopy(each) for at, each in self.objects.items() if at.rpartition("/")[0] == path]
        return Listing(items=items, resource_version=str(next(self._versions)))

    def create(self, path: str, body: Json, **parameters: Any) -> Json:
        self._begin("POST", path)
        name = body["metadata"].get("name") or f"{body['metadata']['generateName']}{next(self._versions)}"
        if f"{path}/{name}" in self.objects:
            raise RefusedError(f"{path}/{name} is there already", status=409, reason="AlreadyExists")
        return self._store(f"{path}/{name}", {**body, "metadata": {**body["metadata"], "name": name}})

    def replace(self, path: str, body: Json, **parameters: Any) -> Json:
        self._begin("PUT", path)
        expected = body["metadata"].get("resourceVersion")
        if expected not in (None, self._known(path)["metadata"]["resourceVersion"]):
            raise RefusedError(f"{path} is another version by now", status=409, reason="Conflict")
        return self._store(path, body)

    def patch(self, path: str, body: Any, *, kind: str = "merge", **parameters: Any) -> Json:
        self._begin("PATCH", path)
        known = self._known(path)
        if kind == "json":
            return self._store(path, json_patched(known, body))
        uid = body.get("metadata", {}).get("uid")
        if uid not in (None, known["metadata"].get("uid")):
            raise RefusedError(f"{path} has another uid", status=409, reason="Conflict")
        return self._store(path, merged(known, body))

    def delete(self, path: str, body: Json | None = None, **parameters: Any) -> Json:
        self._begin("DELETE", path)
        self._known(path)
        return self.objects.pop(path)

    def _begin(self, method: str, path: str) -> None:
        self.calls.append((method, path))
        self.fail(method, path)

    def _known(self, path: str) -> Json:
        if path not in self.objects:
            raise RefusedError(f"{path} is not there", status=404, reason="NotFound")
        return self.objects[path]

    def _store(self, path: str, body: Json) -> Json:
        stored = copy.deepcopy(body)
        stored.setdefault("metadata", {})["resourceVersion"] = str(next(self._versions))
        self.objects[path] = stored
        return copy.deepcopy(stored)


def merged(into: Any, patch: Any) -> Any:
    """RFC 7396: null removes, an object goes into an object, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(into) if isinstance(into, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def json_patched(into: Any, operations: Any) -> Any:
    """RFC 6902, as far as it is used: `test` and `remove`."""
    result = copy.deepcopy(into)
    for operation in operations:
        *parents, last = (part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:])
        inside = result
        for part in parents:
            inside = inside.get(part, {})
        if last not in inside or (operation["op"] == "test" and inside[last] != operation["value"]):
            raise RefusedError(f"{operation['path']} is not what was expected", status=422, reason="Invalid")
        if operation["op"] == "remove":
            del inside[last]
    return result
