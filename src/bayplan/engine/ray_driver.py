"""The process that speaks with Ray for us: `python -m bayplan.engine.ray_driver FD`, started by `bayplan.engine.ray`.

Ray ends a process whose cluster is lost, and keeps one cluster per process. In a process of its own it can do neither to our
caller. The other end of the socket FD sends jobs and gets what became of them; when it closes, this process ends, and Ray ends
the jobs of a driver that has ended.
"""

import mmap
import os
import re
import secrets
import socket
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np

from bayplan.engine import ray_task
from bayplan.engine.jobs import ATTEMPTS, parts_of
from bayplan.engine.worker import versions

LOCAL = "local"  # as Ray calls an address that is none: start it here
POLL = 0.02  # seconds between two looks at what came back
BEAT = 1.0  # seconds between two signs of life, and two looks at the cluster
UNANSWERED = 5.0  # seconds without an answer of the head until it counts as lost
REACHABLE = 5.0  # seconds for a first answer
KEPT = 8  # shared inputs that stay in the object store; the files of older ones are read again
FULL = "its object store is full, and so is the disk behind it: start Ray with more --object-store-memory"
OWN_NODE = "the Ray node of this machine died"
TOKEN = "the cluster wants its token: set RAY_AUTH_MODE=token here, and give Ray the token as on the cluster's other machines"


class RayRefusalError(Exception):
    """Ray cannot be used, in a sentence."""


class RayGoneError(Exception):
    """Ray cannot be used any more, in a sentence."""


class Driver:
    """Jobs that were sent to Ray, and the way back to who sent them."""

    def __init__(self, ray: Any, connection: Connection) -> None:
        self._ray, self._connection, self._sending = ray, connection, Lock()
        self._send = ray.remote(num_cpus=1, max_retries=0)(ray_task.attempt_on_ray).remote
        self._ticket_of: dict[Any, int] = {}  # by what Ray returned for it
        self._keys_of: dict[int, list[str]] = {}
        self._shared: dict[str, Any] = {}

    def serve(self) -> None:
        """Take jobs and bring back what became of them, until the other end wants no more."""
        while True:
            while self._connection.poll(0 if self._ticket_of else POLL):
                command, *arguments = self._connection.recv()
                if command == "end":
                    return
                getattr(self, f"_{command}")(*arguments)
            self._collect()

    def say(self, *message: Any) -> None:
        """Tell the other end."""
        with self._sending:
            self._connection.send(message)

    def _job(self, ticket: int, packed: bytes, file_of: Mapping[str, str]) -> None:
        try:
            shared = [self._shared.pop(key, None) or self._put(path) for key, path in file_of.items()]
            sent = self._send(versions(), packed, list(file_of), *shared)
        except self._full() as error:
            raise RayRefusalError(FULL) from error
        except self._ray.exceptions.LocalRayletDiedError as error:
            raise RayGoneError(OWN_NODE) from error
        self._shared.update(zip(file_of, shared, strict=True))  # the last used come last
        self._shared = dict(list(self._shared.items())[-KEPT:])
        self._ticket_of[sent], self._keys_of[ticket] = ticket, list(file_of)

    def _put(self, path: str) -> Any:
        """A shared input in the object store, from where each node fetches it once."""
        with Path(path).open("rb") as file:
            head, *buffers = parts_of(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))
        return self._ray.put([bytes(head), *(np.array(buffer, dtype=np.uint8, copy=False) for buffer in buffers)])

    def _give_up(self) -> None:
        for sent in self._ticket_of:
            self._ray.cancel(sent, force=True)
        self._ticket_of.clear()

    def _collect(self) -> None:
        if not self._ticket_of:
            return
        ended, _ = self._ray.wait(list(self._ticket_of), num_returns=len(self._ticket_of), timeout=POLL)
        for each in ended:
            self._bring(each, self._ticket_of.pop(each))

    def _bring(self, sent: Any, ticket: int) -> None:
        faults, keys = self._ray.exceptions, self._keys_of.pop(ticket)
        try:
            refusal, data = self._ray.get(sent)
        except self._full() as error:
            raise RayRefusalError(FULL) from error
        except faults.RayTaskError as error:
            raise RayRefusalError(f"a worker failed before it began: {_line(error.cause)}") from error
        except faults.LocalRayletDiedError as error:
            raise RayGoneError(OWN_NODE) from error
        except faults.RayError as error:
            if isinstance(error, faults.ObjectLostError):
                for key in keys:
                    self._shared.pop(key, None)  # put it again
            self.say("lost", ticket, self._cause(error))
            return
        if refusal:
            raise RayRefusalError(refusal)
        self.say("ended", ticket, data)

    def _full(self) -> tuple[type[Exception], ...]:
        return self._ray.exceptions.ObjectStoreFullError, self._ray.exceptions.OutOfDiskError

    def _cause(self, error: Exception) -> str:
        """Why a job was lost."""
        faults, text = self._ray.exceptions, _line(error)
        ip = re.search(r"\bIP:? ([0-9a-fA-F.:]*[0-9a-fA-F])", str(error))
        node = f" {ip[1]}" if ip else ""
        if isinstance(error, faults.NodeDiedError):
            return f"its node{node} died"
        if isinstance(error, faults.OutOfMemoryError):
            return f"its node{node} had no memory left, and Ray ended its worker, which died"
        if isinstance(error, faults.WorkerCrashedError):
            return f"its worker{' on' + node if node else ''} died"
        return text


def _line(error: object) -> str:
    """The text of an error of Ray on one line: its first paragraph."""
    text = " ".join(str(error).strip().split("\n\n")[0].split())
    return text or type(error).__name__


def connect(ray: Any, address: str, workers: int) -> tuple[str, int] | None:
    """Connect to a cluster, or start Ray here if the address is local. The host and port of its head; None if that is ours."""
    os.environ.setdefault("RAY_DEFAULT_PYTHON_VERSION_MATCH_LEVEL", "minor")
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "CRITICAL"}
    try:
        if address == LOCAL:
            ray.init(address=LOCAL, num_cpus=workers, include_dashboard=False, **quiet)
            return None
        if address not in ("auto",) and "://" not in address:
            _expect_reachable(_host_and_port(address))
        _join(ray, address, quiet)
    except (OSError, RuntimeError, ValueError) as error:
        raise RayRefusalError(TOKEN if _wants_token(error) else f"it does not start: {_line(error)}") from error
    return _host_and_port(ray.get_runtime_context().gcs_address)


def _join(ray: Any, address: str, options: Mapping[str, Any]) -> None:
    """Connect to a cluster; a head that has just started may not be ready at once."""
    for again in reversed(range(ATTEMPTS)):
        try:
            ray.init(address=address, **options)
            return
        except ConnectionError as error:
            if not again or address == "auto" or _wants_token(error):
                raise
            time.sleep(REACHABLE)


def _wants_token(error: BaseException) -> bool:
    """Does the cluster refuse us because we show no token, or another than its own?"""
    return "AuthenticationError" in f"{error} {error.__cause__}" or "InvalidAuthToken" in f"{error} {error.__cause__}"


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise RayRefusalError(f"address '{address}' is not understood; expected HOST:PORT such as 10.0.0.1:6379, or auto")
    return host, int(port)


def _answers(head: tuple[str, int], seconds: float) -> str:
    """Why nothing answers there; empty if something does."""
    try:
        socket.create_connection(head, timeout=seconds).close()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _expect_reachable(head: tuple[str, int]) -> None:
    if fault := _answers(head, REACHABLE):
        where = f"{head[0]}:{head[1]}"
        raise RayRefusalError(
            f"nothing answers at {where} ({fault}); expected the head of a Ray cluster: ray start --head, then its address"
        )


def look_after(ray: Any, driver: Driver, head: tuple[str, int] | None) -> None:
    """Signs of life with the number of slots, until the head is lost: then say so and end this process."""
    answered = time.monotonic()
    while True:
        if head is None or not _answers(head, BEAT):
            answered = time.monotonic()
            driver.say("slots", slots_of(ray))
        elif time.monotonic() - answered > UNANSWERED:
            driver.say("gone", f"the head of the Ray cluster at {head[0]}:{head[1]} does not answer any more")
            os._exit(1)
        time.sleep(BEAT)


def slots_of(ray: Any) -> int:
    """How many jobs of one CPU the cluster can run at a time; at least one, for those that grow on demand."""
    return max(1, int(ray.cluster_resources().get("CPU", 0)))


def main() -> None:
    """Connect, then serve."""
    connection = Connection(int(sys.argv[1]))
    address, workers = connection.recv()
    address = address or os.environ.get("RAY_ADDRESS") or LOCAL
    if address == LOCAL and "RAY_AUTH_MODE" not in os.environ:  # else Ray would leave a token for good in the user's home
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    ray: Any = import_module("ray")  # it reads its environment once
    ray.cloudpickle.register_pickle_by_value(ray_task)
    driver = None
    try:
        head = connect(ray, address, workers)
        driver = Driver(ray, connection)
        driver.say("slots", slots_of(ray))
        Thread(target=look_after, args=(ray, driver, head), daemon=True).start()
        driver.serve()
    except (RayRefusalError, RayGoneError) as error:
        kind = "refused" if isinstance(error, RayRefusalError) else "gone"
        (driver.say if driver else lambda *message: connection.send(message))(kind, str(error))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # our caller has ended
    ray.shutdown()


if __name__ == "__main__":
    main()
