"""A connection to a Kubernetes API server: plain JSON in, plain JSON out.

Where the server is and who we are is read by the official client, in the order of `kubectl`: the file that is named, then
`KUBECONFIG`, `~/.kube/config`, and inside of a cluster its service account. Requests go through its connection as plain JSON,
because its typed models take ten times as long. An answer that is no success becomes one of two errors of the port: what may be
tried again, and what the server will refuse again. No message carries a token, a certificate or the body of a request.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from urllib.parse import urlencode

from bayplan.errors import UsageError, WorldError, expect_one_of
from bayplan.operate.orchestrator import PermanentError, TemporaryError

Json: TypeAlias = dict[str, Any]

_PAGE = 500  # objects of one answer to a list: what kubectl asks for
_SECONDS = 30.0  # for one answer
_JSON = "application/json"
_PATCH_TYPES = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}
_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class UnavailableError(TemporaryError):
    """The API server does not answer, or not now: 429, 5xx, a broken connection (status 0)."""

    def __init__(self, text: str, *, status: int, delay: float = 5.0, causes: tuple[str, ...] = ()) -> None:
        super().__init__(text, delay)
        self.status = status
        self.causes = causes  # the server's words for why: "DisruptionBudget" when an eviction has to wait


class RefusedError(PermanentError):
    """The API server refuses: 403 not permitted, 404 not there, 409 another one by now, 410 too old, 422 not valid."""

    def __init__(self, text: str, *, status: int, reason: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.reason = reason


class _Connection(Protocol):
    """What is used of urllib3's pool of connections."""

    def request(self, method: str, url: str, **options: Any) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All objects of one kind, and the version of the cluster that they show."""

    items: list[Json]
    resource_version: str


class Client:
    """A connection to one API server, as one identity."""

    def __init__(self, configuration: Any, *, context: str = "", namespace: str = "default") -> None:
        from kubernetes.client.rest import RESTClientObject

        self.context = context
        self.namespace = namespace  # of the context: what `-n` means when it is not given
        self.server = str(configuration.host).rstrip("/")
        self._configuration = configuration
        self._connections: _Connection = RESTClientObject(configuration).pool_manager

    @classmethod
    def connect(cls, *, context: str = "", kubeconfig: str = "") -> "Client":
        """The connection that `kubectl` would use: a named file, `KUBECONFIG`, `~/.kube/config`, or the cluster we run in."""
        official = _official_client()
        configuration = official.client.Configuration()
        chosen = kubeconfig or os.environ.get("KUBECONFIG", "") or str(Path("~/.kube/config").expanduser())
        files = [part for part in chosen.split(os.pathsep) if Path(part).expanduser().exists()]
        if not files and not kubeconfig and not context and _SERVICE_ACCOUNT.exists():
            official.config.load_incluster_config(client_configuration=configuration)
            return cls(configuration, context="in-cluster", namespace=(_SERVICE_ACCOUNT / "namespace").read_text().strip())
        if not files:
            raise UsageError(f"no kubeconfig: {chosen!r} does not exist; name one with --kubeconfig or KUBECONFIG")
        return cls._from_files(official, configuration, os.pathsep.join(files), context)

    @classmethod
    def _from_files(cls, official: Any, configuration: Any, files: str, context: str) -> "Client":
        try:
            contexts, current = official.config.list_kube_config_contexts(config_file=files)
            known = {entry["name"]: entry["context"] for entry in contexts}
            name = context or current["name"]
            expect_one_of(name, known, "context")
            official.config.load_kube_config(config_file=files, context=name, client_configuration=configuration)
        except official.config.ConfigException as error:
            raise UsageError(f"cannot use the kubeconfig {files!r}: {error}") from error
        return cls(configuration, context=name, namespace=known[name].get("namespace") or "default")

    def get(self, path: str, **parameters: Any) -> Json:
        """One object, or any other answer to a GET."""
        return self._ask("GET", path, parameters)

    def list(self, path: str, each: Callable[[Json], Json] | None = None, **parameters: Any) -> Listing:
        """All objects of a collection, page by page; begins anew when the server has forgotten the first page.

        `each` is done with every object as it comes, so that a long list need not stand in memory with all that it says.
        """
        for _ in range(3):
            try:
                return self._pages(path, parameters, each)
            except RefusedError as error:
                if error.status != 410:
                    raise
        return self._pages(path, parameters, each)

    def _pages(self, path: str, parameters: Mapping[str, Any], each: Callable[[Json], Json] | None) -> Listing:
        items: list[Json] = []
        token = ""
        while True:
            page = self._ask("GET", path, {**parameters, "limit": _PAGE, **({"continue": token} if token else {})})
            found = page.get("items") or []
            items += found if each is None else map(each, found)
            token = page["metadata"].get("continue", "")
            if not token:
                return Listing(items=items, resource_version=page["metadata"].get("resourceVersion", ""))

    def create(self, path: str, body: Json, **parameters: Any) -> Json:
        """Create an object in a collection, or a sub-resource such as an eviction."""
        return self._ask("POST", path, parameters, body)

    def replace(self, path: str, body: Json, **parameters: Any) -> Json:
        """Replace an object; its `metadata.resourceVersion`, if given, is a precondition."""
        return self._ask("PUT", path, parameters, body)

    def patch(self, path: str, body: Any, *, kind: str = "merge", **parameters: Any) -> Json:
        """Change an object: a `merge`, `strategic` or `json` patch, or a server-side `apply`."""
        return self._ask("PATCH", path, parameters, body, _PATCH_TYPES[kind])

    def delete(self, path: str, body: Json | None = None, **parameters: Any) -> Json:
        """Delete an object; `body` are the options, with their preconditions."""
        return self._ask("DELETE", path, parameters, body)

    def watch(self, path: str, resource_version: str, seconds: float, **parameters: Any) -> Iterator[Json]:
        """What changes after a version, for at most this long: `{"type": "ADDED", "object": {...}}` one by one.

        Ends early when the server ends it. A version that is too old for the server raises `RefusedError` with status 410.
        """
        asked = {**parameters, "watch": "true", "resourceVersion": resource_version, "timeoutSeconds": max(1, round(seconds))}
        with _translated(f"watch {path}"):
            answer = self._send("GET", path, {**asked, "allowWatchBookmarks": "true"}, seconds=seconds + 5, stream=True)
            try:
                for line in _lines(answer, time.monotonic() + seconds):
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        raise _error(event["object"].get("code", 500), event["object"], f"watch {path}", None)
                    yield event
            finally:
                answer.release_conn()
                answer.close()

    def _ask(self, method: str, path: str, parameters: Mapping[str, Any], body: Any = None, kind: str = _JSON) -> Json:
        with _translated(f"{method} {path}"):
            answer = self._send(method, path, parameters, body=body, kind=kind)
            return dict(json.loads(answer.data)) if answer.data else {}

    def _send(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, Any],
        *,
        body: Any = None,
        kind: str = _JSON,
        seconds: float = _SECONDS,
        stream: bool = False,
    ) -> Any:
        query = urlencode({name: value for name, value in parameters.items() if value is not None})
        answer = self._connections.request(
            method,
            f"{self.server}{path}{'?' + query if query else ''}",
            body=None if body is None else json.dumps(body).encode(),
            headers={"Accept": "application/json", "Content-Type": kind, "User-Agent": "bayplan", **self._identity()},
            timeout=seconds,
            retries=False,
            preload_content=not stream,
        )
        if answer.status >= 300:
            raise _error(answer.status, _status_object(answer.data), f"{method} {path}", answer.headers.get("Retry-After"))
        return answer

    def _identity(self) -> Mapping[str, str]:
        """The header that says who we are; fetched each time, because a short-lived token is renewed on the way."""
        token = self._configuration.get_api_key_with_prefix("BearerToken", "authorization")
        return {"Authorization": token} if token else {}


def _official_client() -> Any:
    try:
        import kubernetes
        import kubernetes.client
        import kubernetes.config
    except ImportError as error:
        raise UsageError("a live cluster needs the Kubernetes client: pip install 'bayplan[kube]'") from error
    return kubernetes


class _translated:  # noqa: N801 - reads as a word in `with`
    """Errors of the connection become errors of the port."""

    def __init__(self, doing: str) -> None:
        self.doing = doing

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, WorldError):
            return
        from urllib3.exceptions import HTTPError

        if isinstance(error, (HTTPError, OSError, json.JSONDecodeError)):
            name = type(error).__name__  # its text may hold the address with its parameters, never more; the name is enough
            raise UnavailableError(f"the API server does not answer ({self.doing}: {name})", status=0) from error


def _lines(answer: Any, deadline: float) -> Iterator[bytes]:
    """The lines of a stream, until it ends or its time is over."""
    rest = b""
    for piece in answer.stream(amt=None, decode_content=True):
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line for line in lines if line.strip())
        if time.monotonic() >= deadline:
            return


def _status_object(data: bytes) -> Json:
    try:
        read = json.loads(data)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _error(status: int, said: Json, doing: str, retry_after: str | None) -> UnavailableError | RefusedError:
    details = said.get("details") or {}
    message = str(said.get("message") or said.get("error") or "no reason given")  # "error": of what answers behind a proxy
    text = f"{doing}: {status} {said.get('reason') or ''}: {message}".replace(" : ", ": ")
    if status == 429 or status >= 500:
        seconds = retry_after or details.get("retryAfterSeconds") or 5
        causes = tuple(str(cause.get("reason", "")) for cause in details.get("causes") or ())
        return UnavailableError(text, status=status, delay=float(seconds), causes=causes)
    return RefusedError(text, status=status, reason=str(said.get("reason") or ""))
