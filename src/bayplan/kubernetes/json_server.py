"""JSON over HTTP for the control plane: kube-scheduler and API servers ask, each connection in a thread of its own.

Limits keep one client from harming the others: bytes of a body, seconds to send it, connections at a time. An error is a status
and one line of JSON.
"""

import contextlib
import json
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from bayplan.errors import Fault, InputError, UsageError, WorldError
from bayplan.kubernetes.client import Json
from bayplan.kubernetes.controller.health import read_address
from bayplan.version import __version__

MOST_BYTES = 64 * 1024 * 1024  # of a body: 5,000 whole nodes with their images
MOST_CONNECTIONS = 64
SECONDS_FOR_BODY = 10.0
SECONDS_IDLE = 120.0  # of a connection: longer than kube-scheduler keeps it (90), so that it never meets a closed one
PIECE = 1 << 20
Tell = Callable[[str, Json], None]


class JsonAnswer(NamedTuple):
    """What is answered, and what the log says about it."""

    body: Any
    said: Json


Answer = Callable[[str, bytes], JsonAnswer]  # of the rest of the path, and the body; InputError if the body is none


class RequestError(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class JsonServer(ThreadingHTTPServer):
    """Answers POST by path: the longest beginning that is known. `GET /healthz` and `GET /readyz` say how it is."""

    daemon_threads = True
    request_queue_size = MOST_CONNECTIONS

    def __init__(
        self,
        answers: Mapping[str, Answer],
        listen: str,
        *,
        tell: Tell,
        ready: Callable[[], bool] = lambda: True,
        tls: tuple[str, str] | None = None,
    ) -> None:
        self.answers, self.tell, self.ready = answers, tell, ready
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._tls = _tls_context(*tls) if tls else None
        host, port = read_address(listen)
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise WorldError(f"cannot listen on '{listen}': {error.strerror or error}") from error

    @property
    def address(self) -> str:
        """Where it listens, with the port that it got."""
        host, port = self.server_address[:2]
        return f"{'https' if self._tls else 'http'}://{'[' + str(host) + ']' if ':' in str(host) else str(host)}:{port}"

    def answer_to(self, path: str) -> tuple[Answer, str]:
        """What answers a path, and the rest of that path; RequestError if nothing does."""
        for known in sorted(self.answers, key=len, reverse=True):
            if path == known or (known.endswith("/") and path.startswith(known)):
                return self.answers[known], path.removeprefix(known)
        raise RequestError(404, f"no verb '{path[:80]}'; expected {' or '.join(self.answers)}")

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread for a new connection, unless there are too many."""
        if not self._free.acquire(blocking=False):
            self.tell("refused", {"reason": f"more than {MOST_CONNECTIONS} connections"})
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One connection, from its handshake to its end."""
        try:
            request.settimeout(SECONDS_FOR_BODY)
            if self._tls is not None:
                request = self._tls.wrap_socket(request, server_side=True)
            super().process_request_thread(request, client_address)
        except (OSError, ssl.SSLError):  # a handshake that failed or took too long: the client's matter
            self.shutdown_request(request)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is no error of ours."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            self.tell("failed", {"reason": f"{type(error).__name__}: {error}"})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # kube-scheduler keeps its connection: a new one for each pod would cost more than the answer
    server_version = f"bayplan/{__version__}"
    sys_version = ""
    timeout = SECONDS_IDLE
    disable_nagle_algorithm = True
    server: JsonServer

    def do_GET(self) -> None:
        """Is it alive, is it ready?"""
        if self.path == "/healthz":
            self._answer(200, {"status": "ok"})
        elif self.path == "/readyz":
            ready = self.server.ready()
            self._answer(200 if ready else 503, {"status": "ok" if ready else "nodes and pods are not known yet"})
        else:
            self._answer(404, {"error": f"no page '{self.path[:80]}'; expected /healthz or /readyz"})

    def do_POST(self) -> None:
        """A question of the control plane."""
        started = time.perf_counter()
        try:
            body = self._body()  # read in any case: what is left of it would be taken for the next request
            answer, rest = self.server.answer_to(self.path.partition("?")[0])
            answered = answer(rest, body)
        except RequestError as error:
            self.close_connection = True
            self._refuse(error.status, str(error))
        except InputError as error:
            self._refuse(400, str(error.faults[0]))
        except WorldError as error:
            self._refuse(503, str(error))
        else:
            self._answer(200, answered.body)
            milliseconds = round(1000 * (time.perf_counter() - started), 3)
            self.server.tell("answered", {"verb": self.path[1:80], "milliseconds": milliseconds, **answered.said})

    def _body(self) -> bytes:
        """What was sent, within the limits."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise RequestError(411, "expected a body with its Content-Length")
        if int(length) > MOST_BYTES:
            raise RequestError(413, str(_too_long(length)))
        pieces, missing, deadline = [], int(length), time.monotonic() + SECONDS_FOR_BODY
        while missing:
            self.connection.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                piece = self.rfile.read1(min(missing, PIECE))
            except TimeoutError as error:
                raise RequestError(408, f"the body did not come within {SECONDS_FOR_BODY:.0f} seconds") from error
            if not piece:
                raise RequestError(400, f"the body ends {missing} bytes early")
            pieces.append(piece)
            missing -= len(piece)
        self.connection.settimeout(SECONDS_IDLE)
        return b"".join(pieces)

    def _refuse(self, status: int, text: str) -> None:
        self.server.tell("refused", {"verb": self.path[1:80], "status": status, "reason": text})
        self._answer(status, {"error": text})

    def _answer(self, status: int, answer: Any) -> None:
        """Head and body in one piece: sent apart, the second would wait for the acknowledgement of the first."""
        body = json.dumps(answer, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        head = b"".join(self._headers_buffer) + b"\r\n"
        self._headers_buffer: list[bytes] = []
        with contextlib.suppress(OSError):  # a client that has gone needs no answer
            self.wfile.write(head + body)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 (the name of the overridden method's argument)
        """Nothing: `tell` says it."""


def _too_long(length: str) -> Fault:
    expected = f"at most {MOST_BYTES}"
    return Fault(code="E2503", kind="request", name="", problem="is too long", value=f"{length} bytes", expected=expected)


def _tls_context(certificate: str, key: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"cannot use the certificate '{certificate}' with its key: {type(error).__name__}") from error
    return context
