"""A service that runs in a thread of this process or in a process of its own, and a client that speaks plain HTTP with it."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bayplan.serve.running import RunningService
from bayplan.serve.settings import ServeSettings

ROOT = Path(__file__).parents[2]
PATIENCE = 240.0  # seconds


class Reply(NamedTuple):
    """An answer: status, headers (lower case) and content, which is JSON where it says so."""

    status: int
    headers: Mapping[str, str]
    content: Any

    @property
    def code(self) -> str:
        """The number of its first fault."""
        return str(self.content["faults"][0]["code"])


@dataclass(frozen=True, slots=True)
class Address:
    """Where a service listens; each call is one request on a connection of its own."""

    url: str
    token: str = ""

    def ask(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """One request; a body that is not bytes is sent as JSON."""
        connection = self.connect()
        try:
            given = {"Authorization": f"Bearer {self.token}"} if self.token else {}
            if body is not None and not isinstance(body, bytes):
                body, given = json.dumps(body).encode(), {**given, "Content-Type": "application/json"}
            connection.request(method, path, body, {**given, **(headers or {})})
            return reply_of(connection)
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Reply:
        """A GET."""
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Reply:
        """A POST; `idempotency_key="x"` sends Idempotency-Key: x."""
        return self.ask(
            "POST", path, {} if body is None else body, {name.replace("_", "-"): text for name, text in headers.items()}
        )

    def connect(self) -> http.client.HTTPConnection:
        """A new connection."""
        parts = urlsplit(self.url)
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)


def reply_of(connection: http.client.HTTPConnection) -> Reply:
    """The answer that comes next on a connection."""
    response = connection.getresponse()
    body = response.read()
    headers = {name.lower(): value for name, value in response.getheaders()}
    is_json = "json" in headers.get("content-type", "")
    return Reply(response.status, headers, json.loads(body) if is_json and body else body)


@contextmanager
def serving(
    settings: ServeSettings, log: list[dict[str, Any]] | None = None, running: list[RunningService] | None = None
) -> Iterator[Address]:
    """A service in a thread until the end of the block, then drained; `running` gets it."""
    started = threading.Event()
    lines = [] if log is None else log
    made = RunningService(settings, lambda event, fields: lines.append({"event": event, **fields}), lambda _: started.set())
    if running is not None:
        running.append(made)
    thread = threading.Thread(target=made.run, name="service", daemon=True)
    thread.start()
    try:
        assert started.wait(PATIENCE)
        yield Address(made.address, (*settings.operators, "")[0])
    finally:
        made.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


class ServerProcess:
    """`bayplan serve` in a process of its own, which can be killed, stopped and continued."""

    def __init__(self, *options: str, environment: Mapping[str, str] | None = None, folder: Path | None = None) -> None:
        command = [sys.executable, "-m", "bayplan", "serve", "--json", "--quiet", "--listen", "127.0.0.1:0", *options]
        paths = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": paths, **(environment or {})},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with {self.process.wait()}")
        told = line
        while not _is_whole(told):
            told += self.process.stdout.readline()
        token = (environment or {}).get("BAYPLAN_TOKEN", "")
        self.address = Address(json.loads(told)["address"], token)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """End it as a crash would, and wait until it is gone."""
        self.process.kill()
        self._ended()

    def end(self) -> int:
        """End it in order; its exit code."""
        self.process.terminate()
        return self._ended()

    def _ended(self) -> int:
        code = self.process.wait(PATIENCE)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code

    def __enter__(self) -> "ServerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def _is_whole(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
