"""A real Ray cluster of several nodes on this machine: each a process group of its own on loopback, with one CPU."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest

from bayplan.engine import Engine, engine_of

STORE = 100 * 2**20  # bytes of the object store of a node
LOOPBACK = "127.0.0.{}"  # each node has its own, the head 2: for 127.0.0.1 Ray would take the address of the network card
PATIENCE = 240.0  # seconds until a node is there, on a busy machine
OWN_TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # only these tests may use these clusters
ROOT = Path(__file__).parents[2]


def missing() -> str:
    """What is missing for a Ray cluster, or nothing."""
    return "" if find_spec("ray") is not None else "no Ray: install the extra [ray]"


def skip_or_fail(words: str) -> None:
    """Skip with one line, unless BAYPLAN_RAY says that these tests have to run."""
    if os.environ.get("BAYPLAN_RAY") == "required":
        pytest.fail(words)
    pytest.skip(words)


@dataclass(slots=True, eq=False)
class Node:
    """One node: the process that `ray start --block` is, and its process group."""

    process: subprocess.Popen[bytes]
    name: str
    ip: str

    def busy(self) -> bool:
        """Does it run a job now?"""
        return any("attempt_on_ray" in _command(pid) for pid in _descendants(self.process.pid))

    def kill(self) -> None:
        """End the whole node at once, as a power cut does."""
        for pid in _descendants(self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass(slots=True, eq=False)
class RayCluster:
    """A head and its workers."""

    port: int
    folder: Path
    nodes: list[Node] = field(default_factory=list)
    started: int = 0

    @property
    def address(self) -> str:
        return f"{LOOPBACK.format(2)}:{self.port}"

    def add_head(self, **environment: str) -> Node:
        where = ["--head", f"--port={self.port}", f"--temp-dir={self.folder}", "--include-dashboard=false"]
        return self._add("head", where, environment)

    def add_worker(self, **environment: str) -> Node:
        return self._add(f"worker-{self.started}", [f"--address={self.address}"], environment)

    def replace(self, node: Node, engine: Engine) -> None:
        """A new worker for one that was killed, once it is there."""
        self.nodes.remove(node)
        waited(lambda: engine.slots(1) == len(self.nodes), seconds=PATIENCE)
        self.add_worker()
        waited(lambda: engine.slots(1) == len(self.nodes), seconds=PATIENCE)

    def alive(self) -> bool:
        """True; AssertionError with the last words of a node that has ended by itself."""
        for node in self.nodes:
            assert node.process.poll() is None, (self.folder / f"{node.name}.log").read_text()[-2000:]
        return True

    def stop(self) -> None:
        for node in reversed(self.nodes):
            node.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _add(self, name: str, where: list[str], environment: Mapping[str, str]) -> Node:
        ip = LOOPBACK.format(2 + self.started)
        self.started += 1
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *where, "--block", "--num-cpus=1"]
        command += [f"--node-ip-address={ip}", f"--object-store-memory={STORE}", "--disable-usage-stats"]
        patient = {"RAY_raylet_start_wait_time_s": f"{PATIENCE:g}"}
        everything = {**os.environ, **patient, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", **environment}
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(command, env=everything, stdout=log, stderr=log, start_new_session=True)
        node = Node(process, name, ip)
        self.nodes.append(node)
        return node


def _descendants(pid: int) -> list[int]:
    """All processes below one, from /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found, open_ends = [], [pid]
    while open_ends:
        below = children.get(open_ends.pop(), [])
        found += below
        open_ends += below
    return found


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def waited(there: Callable[[], bool], *, seconds: float) -> None:
    """Wait until something is true."""
    until = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK.format(2), 0))
        return int(probe.getsockname()[1])


@contextmanager
def ray_cluster(workers: int = 2, *, head: Mapping[str, str] = {}, worker: Mapping[str, str] = {}) -> Iterator[RayCluster]:
    """A cluster with a head and some workers, all of them ready; stopped completely afterwards."""
    cluster = RayCluster(free_port(), Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp")))
    before = {name: os.environ.get(name) for name in OWN_TOKEN}
    os.environ.update(OWN_TOKEN)  # for its nodes, and for us
    try:
        cluster.add_head(**head)
        waited(lambda: "Ray runtime started" in (cluster.folder / "head.log").read_text(), seconds=PATIENCE)
        for _ in range(workers):
            cluster.add_worker(**worker)
        yield cluster
    finally:
        cluster.stop()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@contextmanager
def connected(cluster: RayCluster) -> Iterator[Engine]:
    """The engine on a cluster, once all of its nodes are there."""
    with engine_of(f"ray:{cluster.address}") as engine:
        waited(lambda: cluster.alive() and engine.slots(1) == len(cluster.nodes), seconds=PATIENCE)
        yield engine
