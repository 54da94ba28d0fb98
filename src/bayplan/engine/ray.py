"""Jobs on a Ray cluster, or on Ray's processes on this machine. Needs `pip install 'bayplan[ray]'`."""

import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any, Self

from bayplan.engine.jobs import EngineLostError, Job, LossReport, T, in_order, log_loss
from bayplan.engine.pool import exit_text
from bayplan.engine.streaming import POLL, WorkerEvent, streamed
from bayplan.errors import UsageError, WorldError
from bayplan.model.interrupt import stop_requested

START = 120.0  # seconds until Ray has to be there
SILENCE = 30.0  # seconds without a sign of life until its driver counts as lost
END = 10.0  # seconds for it to end in order
ADVICE = "look at the logs of that node: ray logs"


class RayEngine:
    """The engine for more than one machine. bayplan has to be installed on all of them, in the same version.

    Without an address Ray is started here, or joined where RAY_ADDRESS says. A cluster has as many slots as it has CPUs, however
    many workers are wanted.
    """

    def __init__(self, address: str = "") -> None:
        self.name = f"ray:{address}" if address else "ray"
        self._address, self._open = address, 0
        self._driver: DriverProcess | None = None

    def __enter__(self) -> Self:
        self._open += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._open -= 1
        if not self._open and self._driver is not None:
            driver, self._driver = self._driver, None
            driver.close()

    def slots(self, workers: int) -> int:
        """The CPUs of the cluster; `workers` where Ray is started here."""
        with self:
            driver = self._connected(workers)
            driver.listen(0.0)
            return driver.slots

    def stream(
        self, jobs: Iterable[Job[T]], *, workers: int, seconds: float | None = None, lost: LossReport = log_loss
    ) -> Iterator[tuple[int, T]]:
        """Answers as they come; what runs on a node that dies is repeated on another."""
        with self:
            yield from streamed(self._connected(workers), jobs, seconds=seconds, lost=lost)

    def run(self, jobs: Sequence[Job[T]], *, workers: int, lost: LossReport = log_loss) -> list[T]:
        """What each job returns, in the order of the jobs."""
        return in_order(self.stream(jobs, workers=workers, lost=lost), len(jobs)) if jobs else []

    def _connected(self, workers: int) -> "DriverProcess":
        if self._driver is None or self._driver.ended:
            if find_spec("ray") is None:
                raise UsageError("engine 'ray' needs Ray: pip install 'bayplan[ray]'; expected 'pool' or 'here' without it")
            self._driver = DriverProcess(self.name, self._address, max(1, workers))
        return self._driver


class DriverProcess:
    """The process that speaks with Ray (`ray_driver`), and the jobs that it has."""

    def __init__(self, name: str, address: str, workers: int) -> None:
        self.slots, self.ended, self._name, self._heard = 0, False, name, time.monotonic()
        self._arrived: list[WorkerEvent] = []
        self._failure: WorldError | None = None
        here, there = socket.socketpair()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        self._connection = Connection(here.detach())
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "RAY_USAGE_STATS_ENABLED": "0"}
        with there:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bayplan.engine.ray_driver", str(there.fileno())],
                pass_fds=[there.fileno()],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                start_new_session=True,  # Ctrl-C is for us
            )
        try:
            self._connection.send((address, workers))
            self._wait_until_ready()
        except BaseException:
            self._kill()
            raise

    def send(self, ticket: int, job: Job[Any]) -> None:
        """Let Ray begin a job."""
        message = ("job", ticket, job.packed(), {each.key: str(each.file()) for each in job.shared})
        with suppress(OSError):  # it has died, which `receive` finds
            self._connection.send(message)

    def receive(self, seconds: float) -> list[WorkerEvent]:
        """Answers and losses, waiting at most this long for the first."""
        if self._failure is not None:
            raise self._failure
        try:
            self.listen(0.0 if self._arrived else seconds)
        except WorldError as failure:
            if not self._arrived:
                raise
            self._failure = failure  # first what came before it
        arrived, self._arrived = self._arrived, []
        return arrived

    def listen(self, seconds: float) -> None:
        """Take what the driver says, waiting at most this long for the first word."""
        while self._connection.poll(seconds):
            event = self._event(*self._message())
            self._arrived += [] if event is None else [event]
            seconds = 0.0
        if time.monotonic() - self._heard > SILENCE:
            raise self._lost(f"its driver gave no sign of life for {SILENCE:g} seconds")

    def give_up(self) -> None:
        """End all jobs at once."""
        with suppress(OSError):
            self._connection.send(("give_up",))

    def close(self) -> None:
        """End the process, and Ray if it was started here."""
        with suppress(OSError):
            self._connection.send(("end",))
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.0 if self.ended else END)
        self._kill()

    def _wait_until_ready(self) -> None:
        until = time.monotonic() + START
        while not self.slots:
            if stop_requested():
                raise KeyboardInterrupt
            if time.monotonic() > until:
                raise WorldError(f"engine '{self._name}' does not start: Ray was not ready after {START:g} seconds")
            if self._connection.poll(POLL):
                self._event(*self._message())

    def _message(self) -> tuple[Any, ...]:
        try:
            message: tuple[Any, ...] = self._connection.recv()
        except (EOFError, OSError):
            raise self._lost(f"its driver died: {self._last_words()}") from None
        self._heard = time.monotonic()
        return message

    def _event(self, kind: str, *about: Any) -> WorkerEvent | None:
        """What a message of the driver says about a job; None for one about itself."""
        if kind == "ended":
            return WorkerEvent(about[0], pickle.loads(about[1]))
        if kind == "lost":
            return WorkerEvent(about[0], None, about[1], ADVICE)
        if kind == "gone":
            raise self._lost(about[0])
        if kind == "refused":
            self._kill()
            raise WorldError(f"engine '{self._name}': {about[0]}")
        self.slots = about[0]
        return None

    def _lost(self, why: str) -> EngineLostError:
        self._kill()
        return EngineLostError(f"engine '{self._name}' is lost: {why}")

    def _last_words(self) -> str:
        """The last line that it wrote to stderr, or how it ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END)
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else exit_text(self._process.returncode or 0)

    def _kill(self) -> None:
        """End it and what it started; Ray ends the jobs of a driver that has ended."""
        self.ended = True
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._connection.close()
        self._log.close()
