"""A Prometheus server: a query in, series out, and every way in which that can fail.

It is reached at its address, or through the API server as a Service of the cluster. Whatever speaks Prometheus' query API
will do: Thanos, Mimir, VictoriaMetrics. A redirect is not followed, because the token would go with it. No message holds a
token or a password.
"""

import json
import math
import re
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, NamedTuple, Protocol

from bayplan.errors import Fault, InputError
from bayplan.kubernetes.client import Client, Json, RefusedError, UnavailableError
from bayplan.kubernetes.prometheus.address import ServerAddress
from bayplan.operate.orchestrator import PermanentError, TemporaryError

_SECONDS = 120.0  # for one answer: as long as a server works on a query by default
_TOO_LARGE = re.compile(r"too many samples|timed out|limit exceeded|maximum number of|max number of", re.IGNORECASE)
_NOT_PERMITTED = (401, 403)


class PrometheusUnavailableError(TemporaryError):
    """Prometheus does not answer, or not now."""


class QueryRefusedError(PermanentError):
    """Prometheus refuses a query, and will refuse it again. The text has its words."""


class QueryTooLargeError(QueryRefusedError):
    """A query touches more samples, or takes longer, than Prometheus allows: a shorter window may do."""


class Sample(NamedTuple):
    """One series of an answer, with its value at the time that was asked for."""

    labels: Mapping[str, str]
    value: float  # may be NaN or infinite, as Prometheus' values may


class Transport(Protocol):
    """A way to a server."""

    @property
    def label(self) -> str:
        """What messages call the server; no secret is in it."""

    def ask(self, path: str, parameters: Mapping[str, str]) -> Json:
        """The body of an answer; raises one of the errors above."""


class Prometheus:
    """A connection to one server, and the warnings that came with its answers."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.label = transport.label
        self.warnings: list[str] = []  # each once: a part of the data may be missing, the server says

    def query(self, expression: str, at: float) -> list[Sample]:
        """The series that an expression gives at one time."""
        body = self._ask("/api/v1/query", {"query": expression, "time": f"{at:.3f}"})
        kind, result = body.get("resultType"), body.get("result")
        if kind == "scalar" and isinstance(result, list):
            return [Sample({}, float(result[1]))]
        if kind != "vector" or not isinstance(result, list):
            fault = Fault(
                code="E2601", kind="query", name=expression, problem="does not give a value per series", value=str(kind)
            )
            raise InputError(self.label, [fault])
        return [Sample(series["metric"], float(series["value"][1])) for series in result]

    def newest(self, selector: str, at: float, window: float) -> float:
        """When the newest sample of these series was taken, not after `at`; 0.0 if there is none in the window."""
        fresh = self.query(f"max(timestamp({selector}))", at)
        if not fresh:  # older than five minutes, beyond which an instant shows nothing
            fresh = self.query(f"max_over_time((max(timestamp({selector})))[{promql_time(window)}:1m])", at)
        return fresh[0].value if fresh and math.isfinite(fresh[0].value) else 0.0

    def metric_names(self) -> list[str]:
        """The names of all metrics that it holds."""
        names = self._ask("/api/v1/label/__name__/values", {})
        return [str(name) for name in names.get("", [])]

    def _ask(self, path: str, parameters: Mapping[str, str]) -> Json:
        answer = self._transport.ask(path, parameters)
        if answer.get("status") != "success" or "data" not in answer:
            raise PrometheusUnavailableError(f"{self.label} does not answer as Prometheus does; check the address")
        for warning in (*answer.get("warnings", ()), *answer.get("infos", ())):
            if warning not in self.warnings:
                self.warnings.append(str(warning))
        return answer["data"] if isinstance(answer["data"], dict) else {"": answer["data"]}


class HttpTransport:
    """A server at an address."""

    def __init__(self, address: ServerAddress) -> None:
        self._address = address

    @property
    def label(self) -> str:
        """The address without what is secret in it."""
        return f"Prometheus at {self._address.url}"

    def ask(self, path: str, parameters: Mapping[str, str]) -> Json:
        """POST, since a query may be longer than an address may be; GET for what takes no parameters."""
        from urllib.error import HTTPError

        try:
            with self._address.open(path, parameters, _SECONDS) as answer:
                return _json(answer.read())
        except HTTPError as error:
            if 300 <= error.code < 400:
                there = ServerAddress.shown(error.headers.get("Location", ""))
                raise QueryRefusedError(f"{self.label} redirects to '{there}'; give the address that answers itself") from error
            raise _refusal(self.label, error.code, _json(error.read())) from error
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise PrometheusUnavailableError(f"{self.label} does not answer: {reason}") from error


class ProxyTransport:
    """A server that is a Service of the cluster, through the API server: needs `get` on `services/proxy`."""

    def __init__(self, client: Client, namespace: str, service: str, port: str) -> None:
        self._client = client
        self._namespace = namespace
        self._service = service
        self._port = port

    @property
    def label(self) -> str:
        """Which Service it is."""
        return f"Prometheus in the cluster ({self._namespace}/{self._service}:{self._port})"

    def ask(self, path: str, parameters: Mapping[str, str]) -> Json:
        """GET, since the API server's proxy of services asks for another right for POST."""
        proxy = f"/api/v1/namespaces/{self._namespace}/services/{self._service}:{self._port}/proxy"
        try:
            return self._client.get(f"{proxy}{path}", **parameters)
        except RefusedError as error:
            raise _refusal(self.label, error.status, {"error": str(error)}) from error
        except UnavailableError as error:
            if _TOO_LARGE.search(str(error)):
                raise QueryTooLargeError(f"{self.label}: {error}") from error
            raise PrometheusUnavailableError(f"{self.label} does not answer: {error}", error.delay) from error


def promql_time(seconds: float) -> str:
    """A length of time as PromQL writes it: `3600s`, `1500ms`."""
    return f"{round(seconds)}s" if seconds >= 1 and float(seconds).is_integer() else f"{round(seconds * 1000)}ms"


def _refusal(label: str, status: int, body: Json) -> PermanentError | TemporaryError:
    """The error for an answer that is no success."""
    words = str(body.get("error") or body.get("message") or f"status {status}, no reason given")
    if status in _NOT_PERMITTED:
        hint = "give a token in BAYPLAN_PROMETHEUS_TOKEN, or the right to get services/proxy"
        return QueryRefusedError(f"{label} does not permit it ({status}: {words}); {hint}")
    if body.get("errorType") == "timeout" or _TOO_LARGE.search(words):
        return QueryTooLargeError(f"{label} refuses a query that is too large: {words}")
    if status == 404:
        return QueryRefusedError(f"{label} has no query API at this address ({words})")
    if status == 429 or status >= 500:
        return PrometheusUnavailableError(f"{label} does not answer now: {words}")
    return QueryRefusedError(f"{label} refuses a query: {words}")


def _json(data: bytes) -> Json:
    """The object that a body holds; an empty one if it is anything else."""
    try:
        read: Any = json.loads(data)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
