"""Is the loop alive, and is it ready? Over HTTP, with the metrics: `/healthz`, `/readyz`, `/metrics`."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from bayplan.errors import UsageError, WorldError
from bayplan.kubernetes.controller.election import steady_clock
from bayplan.kubernetes.controller.metrics import TEXT, Metrics

LONGEST_ANSWER = 10.0  # seconds that one request may take to arrive


class Heartbeat:
    """When the thread of the loop was last seen to make progress."""

    def __init__(self, limit: float, clock: Callable[[], float] = steady_clock) -> None:
        self.limit, self._clock = limit, clock  # seconds without progress after which it counts as stuck
        self._at = clock()

    def beat(self) -> None:
        """Progress was made."""
        self._at = self._clock()

    @property
    def age(self) -> float:
        """Seconds since then."""
        return self._clock() - self._at


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The answer to a probe."""

    well: bool
    facts: dict[str, Any]


class ListenAddress(NamedTuple):
    """Where a server listens."""

    host: str  # "" for all interfaces
    port: int


def read_address(text: str) -> ListenAddress:
    """`127.0.0.1:8080`, `[::1]:8080` or `:8080`; port 0 is any that is free.

    >>> read_address(":8080")
    ListenAddress(host='', port=8080)
    """
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535 or (":" in host and not host.startswith("[")):
        raise UsageError(f"--listen '{text}': expected an address and a port, such as 127.0.0.1:8080 or :8080")
    return ListenAddress(host=host.strip("[]"), port=int(port))


class HealthServer:
    """Answers probes and Prometheus in threads of its own, so that it does while the loop solves."""

    def __init__(
        self, address: ListenAddress, metrics: Metrics, *, alive: Callable[[], Health], ready: Callable[[], Health]
    ) -> None:
        answers = {"/metrics": lambda: (200, TEXT, metrics.text()), "/healthz": _probe(alive), "/readyz": _probe(ready)}
        handler = type("Handler", (_Handler,), {"answers": answers})
        try:
            self._server = _server_class(address.host)((address.host, address.port), handler)
        except OSError as error:
            where = f"{address.host}:{address.port}"
            raise WorldError(f"cannot listen on '{where}': {error.strerror}; choose another address with --listen") from error
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, name="health", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()


def _probe(look: Callable[[], Health]) -> Callable[[], tuple[int, str, bytes]]:
    def answer() -> tuple[int, str, bytes]:
        health = look()
        return 200 if health.well else 503, "application/json", json.dumps(health.facts).encode() + b"\n"

    return answer


def _server_class(host: str) -> type[ThreadingHTTPServer]:
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return type("Server", (ThreadingHTTPServer,), {"address_family": family, "daemon_threads": True})


class _Handler(BaseHTTPRequestHandler):
    """GET only; what is asked is never logged."""

    timeout = LONGEST_ANSWER
    answers: dict[str, Callable[[], tuple[int, str, bytes]]]

    def do_GET(self) -> None:
        """Answer one request."""
        answer = self.answers.get(self.path.partition("?")[0])
        status, kind, body = (404, "text/plain", b"/metrics, /healthz, /readyz\n") if answer is None else answer()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the name is the base class's
        """Say nothing."""
