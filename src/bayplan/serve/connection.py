"""How a client speaks with a service: requests that are tried again where that is safe, problems as errors, event streams."""

import http.client
import json
import os
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from bayplan.codes import CODES
from bayplan.errors import Fault, InputError, UsageError, WorldError

TRIES = 5
PAUSE, LONGEST = 0.2, 10.0  # seconds before the second try, doubled for each further one; and the longest that a server asks for
BUSY = (429, 503)
WRONG = (400, 422)  # the request itself: what the library would refuse, too
LONGEST_LINE = 1 << 22  # bytes of one line of an event stream


class ServiceError(WorldError):
    """A service refused a request; `status`, `code` and `faults` say why."""

    def __init__(self, text: str, *, status: int, faults: tuple[Fault, ...] = ()) -> None:
        super().__init__(text)
        self.status, self.faults = status, faults
        self.code = faults[0].code if faults else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a service answered."""

    status: int
    headers: Mapping[str, str]  # lower case
    body: bytes

    def document(self) -> dict[str, Any]:
        """The object that it holds; WorldError if it holds none."""
        try:
            document = json.loads(self.body)
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise WorldError("the server answered with something else than a JSON object; is it a bayplan service?")
        return document


class ServiceConnection:
    """Requests to one service, each on a connection of its own."""

    def __init__(self, address: str, *, token: str, seconds: float, authority: str | os.PathLike[str] | None) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
            raise UsageError(f"address '{address}': expected http://HOST:PORT or https://HOST:PORT")
        self.address, self._host, self._port = address.rstrip("/"), parts.hostname, parts.port
        self._token, self._seconds = token, seconds
        self._tls = ssl.create_default_context(cafile=authority) if parts.scheme == "https" else None

    def ask(self, method: str, path: str, body: Any = None, *, key: str = "") -> Reply:
        """The answer to a request; a problem is raised as what it is.

        A request is tried again if the server is busy or cannot be reached. A write has a `key`, or its effect is the same twice.
        """
        pause = PAUSE
        for left in reversed(range(TRIES)):
            try:
                reply = self._once(method, path, body, key)
            except OSError as error:
                if not left:
                    raise WorldError(f"cannot reach {self.address}: {error}; is `bayplan serve` running there?") from error
            else:
                if reply.status not in BUSY or not left:
                    return _expect_success(reply)
                pause = max(pause, min(LONGEST, _seconds(reply.headers.get("retry-after", ""))))
            time.sleep(pause)
            pause *= 2
        raise AssertionError("the last try returns or raises")

    def stream(self, path: str, after: int, is_over: Callable[[int], bool]) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """Number, kind and data of each event; where a connection breaks, the next one goes on after the last event seen.

        Where a stream has nothing to say and ends, `is_over` says whether there will ever be more after an event.
        """
        failures = 0
        while True:
            silent = False
            connection = self._connect()
            try:
                connection.request("GET", path, headers={**self._headers(), "Last-Event-ID": str(after)})
                response = connection.getresponse()
                if response.status != 200:
                    _expect_success(_reply(response))
                silent = True
                for event in _events(response):
                    failures, after, silent = 0, event[0], False
                    yield event
                    if event[1] == "ended":
                        return
            except (OSError, http.client.HTTPException) as error:
                failures, silent = failures + 1, False
                if failures >= TRIES:
                    raise WorldError(f"cannot reach {self.address}: {error}; is `bayplan serve` running there?") from error
            except ServiceError as error:
                failures += 1
                if error.status not in BUSY or failures >= TRIES:
                    raise
            finally:
                connection.close()
            if silent and is_over(after):
                return
            time.sleep(PAUSE * 2**failures)

    def _once(self, method: str, path: str, body: Any, key: str) -> Reply:
        headers = self._headers()
        if isinstance(body, bytes):
            headers["Content-Type"] = "application/octet-stream"
        elif body is not None:
            body, headers["Content-Type"] = json.dumps(body, allow_nan=False).encode(), "application/json"
        if key:
            headers["Idempotency-Key"] = key
        connection = self._connect()
        try:
            connection.request(method, path, body, headers)
            return _reply(connection.getresponse())
        except http.client.HTTPException as error:
            raise ConnectionError(f"the answer was cut off ({type(error).__name__})") from error
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        if self._tls is not None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=self._seconds, context=self._tls)
        return http.client.HTTPConnection(self._host, self._port, timeout=self._seconds)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}


def _reply(response: http.client.HTTPResponse) -> Reply:
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Reply(status=response.status, headers=headers, body=response.read())


def _expect_success(reply: Reply) -> Reply:
    if reply.status < 400:
        return reply
    try:
        document = json.loads(reply.body)
        faults = tuple(_fault(fault) for fault in document["faults"])
        detail = str(document["detail"])
    except (ValueError, KeyError, TypeError):
        faults, detail = (), f"the server answered {reply.status}"
    if reply.status in WRONG and faults:
        raise InputError("request", faults)
    raise ServiceError(detail, status=reply.status, faults=faults)


def _fault(fault: Mapping[str, Any]) -> Fault:
    """A fault as the server says it; one of a newer server keeps its words under a number that is known here."""
    code = fault["code"] if fault["code"] in CODES else "E2716"
    texts: dict[str, Any] = {name: str(fault.get(name, "")) for name in ("kind", "name", "problem", "value", "expected")}
    return Fault(code=code, **texts)


def _seconds(text: str) -> float:
    return float(text) if text.isdecimal() else 0.0


def _events(response: http.client.HTTPResponse) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The events of a stream, as far as it goes."""
    fields: dict[str, str] = {}
    while line := response.readline(LONGEST_LINE):
        text = line.decode("utf-8").rstrip("\r\n")
        if text:
            name, _, value = text.partition(":")
            fields[name] = value.removeprefix(" ")
        elif fields.get("id", "").isdecimal() and "data" in fields:
            yield int(fields["id"]), fields.get("event", "message"), json.loads(fields["data"])
            fields = {}
        else:
            fields = {}
