"""A simulated cluster in a process of its own: it lives on when a loop that works on it is killed.

It listens on a Unix socket (a path) or on a loopback port ("127.0.0.1:5000"). Whoever connects must know the key in a file, which
`serve` writes: beside the socket, if no other file is named. Several clients may connect; calls are carried out one at a time.
Time goes forward to the farthest time that a client waits for: two clients that wait for an hour, wait for the same one.
"""

import contextlib
import multiprocessing
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

from bayplan.check.operation import Instant
from bayplan.errors import UsageError, WorldError
from bayplan.model import IntArray, Snapshot
from bayplan.operate.orchestrator import Observation, StepOrder, StepReport, TemporaryError
from bayplan.operate.simulated.faults import Faults
from bayplan.operate.simulated.instances import SimulatedInstance
from bayplan.operate.simulated.simulated_orchestrator import SimulatedOrchestrator

LOOPBACK = ("127.0.0.1", "localhost")
LONGEST_START = 60.0  # seconds until a new process listens
BROKEN = (EOFError, ConnectionError, OSError)
MakeOrchestrator = Callable[[], SimulatedOrchestrator]


def _place(address: str) -> str | tuple[str, int]:
    """A path, or the host and port of a loopback address."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal():
        return address
    if host not in LOOPBACK:
        raise UsageError(f"address '{address}': expected the path of a socket, or a port of {LOOPBACK[0]}")
    return host, int(port)


def _key_file(address: str, key_file: str | Path | None) -> Path:
    if key_file is not None:
        return Path(key_file)
    if not isinstance(_place(address), str):
        raise UsageError(f"address '{address}': expected a file for the key, too")
    return Path(f"{address}.key")


# ---- the cluster's side --------------------------------------------------------------------------------------------------------


def serve(orchestrator: SimulatedOrchestrator, address: str, key_file: str | Path | None = None) -> None:
    """Answer clients until this process ends."""
    file, key = _key_file(address, key_file), secrets.token_bytes(32)
    file.touch(mode=0o600)
    file.write_bytes(key)
    answering = _Answering(orchestrator)
    with Listener(_place(address), authkey=key) as listener:
        while True:
            with contextlib.suppress(AuthenticationError, *BROKEN):
                threading.Thread(target=answering.client, args=(listener.accept(),), daemon=True).start()


class _Answering:
    """Carries out the calls of all clients, one at a time."""

    def __init__(self, orchestrator: SimulatedOrchestrator) -> None:
        self._orchestrator, self._lock = orchestrator, threading.Lock()
        self._instants: list[Instant] = []
        orchestrator.listeners.append(self._instants.append)
        ours: Mapping[str, Callable[..., Any]] = {
            "watch": orchestrator.watch_until,
            "universe": lambda: orchestrator.universe,
            "instants": lambda since: self._instants[since:],
        }
        names = ("now", "observe", "prepare", "release", "execute", "cancel", "advance", "inject", "instances", "loads")
        self._calls = {**{name: getattr(orchestrator, name) for name in names}, **ours}

    def client(self, connection: Connection) -> None:
        """Answer one client until it is gone."""
        with connection, contextlib.suppress(*BROKEN):
            while True:
                name, arguments = connection.recv()
                with self._lock:
                    answer = self._answer(name, arguments)
                connection.send(answer)

    def _answer(self, name: str, arguments: tuple[Any, ...]) -> tuple[Any, Exception | None, float]:
        """The value or the error, and the time; an error of ours passes through, too: the cluster must live on."""
        value, error = None, None
        try:
            value = self._calls[name](*arguments)
        except Exception as raised:
            error = raised
        return value, error, self._orchestrator.time


class ClusterProcess:
    """A process that serves a simulated cluster, from entering to leaving the context.

    `make` is called in the new process, so it must be a function of a module, or a `functools.partial` of one.
    """

    def __init__(self, make: MakeOrchestrator, address: str, key_file: str | Path | None = None) -> None:
        self.address, self.key_file = address, _key_file(address, key_file)
        self._process = multiprocessing.get_context("spawn").Process(
            target=_made_and_served, args=(make, address, str(self.key_file)), daemon=True
        )

    def __enter__(self) -> "ClusterProcess":
        self._process.start()
        until = time.monotonic() + LONGEST_START
        while True:
            try:
                connect(self.address, self.key_file).close()
                return self
            except WorldError:
                if not self._process.is_alive() or time.monotonic() > until:
                    self.__exit__()
                    raise
                self._process.join(0.05)

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()
        self._process.close()
        place = _place(self.address)
        for file in (self.key_file, *([Path(place)] if isinstance(place, str) else [])):
            file.unlink(missing_ok=True)

    def connect(self) -> "ServedOrchestrator":
        """A new client."""
        return connect(self.address, self.key_file)


def _made_and_served(make: MakeOrchestrator, address: str, key_file: str) -> None:
    serve(make(), address, key_file)


# ---- the client's side ---------------------------------------------------------------------------------------------------------


def connect(address: str, key_file: str | Path | None = None) -> "ServedOrchestrator":
    """A client of the cluster that is served there; WorldError if nothing answers."""
    return ServedOrchestrator(address, _key_file(address, key_file))


class ServedOrchestrator:
    """An orchestrator whose cluster lives in another process. Errors are raised as there; a broken connection is temporary."""

    def __init__(self, address: str, key_file: Path) -> None:
        self._address, self._key_file = address, key_file
        self._connection = self._connected()
        self._time = 0.0  # of the last answer
        self.now()

    def _connected(self) -> Connection:
        try:
            return Client(_place(self._address), authkey=self._key_file.read_bytes())
        except (AuthenticationError, *BROKEN) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
            raise TemporaryError(f"no simulated cluster answers at '{self._address}': {reason}") from error

    def _call(self, name: str, *arguments: Any) -> Any:
        if self._connection.closed:
            self._connection = self._connected()
        try:
            self._connection.send((name, arguments))
            value, error, self._time = self._connection.recv()
        except BROKEN as broken:
            self._connection.close()
            raise TemporaryError(f"the simulated cluster at '{self._address}' broke the connection") from broken
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    # ---- the port -----------------------------------------------------------------------------------------------------------

    def now(self) -> float:
        """The virtual time, as the clock tells it."""
        return float(self._call("now"))

    def wait(self, seconds: float) -> None:
        """Let virtual time pass, counted from the last answer that this client got."""
        self._call("advance", self._time + max(0.0, seconds))

    def observe(self) -> Observation:
        """The cluster as it is."""
        observation: Observation = self._call("observe")
        return observation

    def prepare(self, reservation: str, orders: Sequence[StepOrder], until: float) -> None:
        """Reserve for these orders until a time."""
        self._call("prepare", reservation, tuple(orders), until)

    def release(self, reservation: str) -> None:
        """End a reservation."""
        self._call("release", reservation)

    def execute(self, order: StepOrder) -> StepReport:
        """Begin a step."""
        report: StepReport = self._call("execute", order)
        return report

    def watch(self, tokens: Sequence[str], seconds: float) -> Sequence[StepReport]:
        """Let time pass until one of the steps has ended, at most as long as this."""
        reports: Sequence[StepReport] = self._call("watch", tuple(tokens), self._time + max(0.0, seconds))
        return reports

    def cancel(self, token: str) -> StepReport:
        """Give a step up."""
        report: StepReport = self._call("cancel", token)
        return report

    # ---- for tests and referees ---------------------------------------------------------------------------------------------

    def inject(self, faults: Faults) -> None:
        """From now on these faults, and no others."""
        self._call("inject", faults)

    def instances(self) -> list[SimulatedInstance]:
        """Everything that is not gone."""
        instances: list[SimulatedInstance] = self._call("instances")
        return instances

    def loads(self) -> IntArray:
        """(machine of the universe, resource) requests of all that is charged."""
        loads: IntArray = self._call("loads")
        return loads

    @property
    def universe(self) -> Snapshot:
        """The first snapshot, with every machine that has ever joined."""
        universe: Snapshot = self._call("universe")
        return universe

    def instants(self, since: int = 0) -> list[Instant]:
        """All changes of the cluster from the beginning, or from a number on."""
        instants: list[Instant] = self._call("instants", since)
        return instants
