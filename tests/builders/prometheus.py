"""A throw-away Prometheus, from Debian's package, on loopback in a temporary folder.

Tests skip where there is none; with BAYPLAN_PROMETHEUS=required, as in CI, they fail.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from tests.kubernetes.exporter import Series, openmetrics

PROGRAMS = ("prometheus", "promtool")
SECONDS = 60.0  # to wait for anything
CONFIGURATION = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: exporter
    honor_labels: true
    static_configs: [{{targets: [{targets}]}}]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Series that a server has from its start, sample by sample."""

    series: Sequence[Series]
    start: float
    end: float
    step: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server."""

    url: str
    folder: Path


def missing() -> str:
    """What there is not, in words; nothing if a server can be started."""
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    return f"no {' and no '.join(absent)}: install Debian's prometheus" if absent else ""


def skip_or_fail(words: str) -> NoReturn:
    """Skip a test with a reason, or fail it where Prometheus is required."""
    if os.environ.get("BAYPLAN_PROMETHEUS") == "required":
        pytest.fail(words, pytrace=False)
    pytest.skip(words)


@contextmanager
def server(
    *, scrape: Sequence[str] = (), history: History | None = None, options: Sequence[str] = (), host: str = "127.0.0.1"
) -> Iterator[Server]:
    """A server until the end of the block. It scrapes HOST:PORT addresses every second, and has a history from its start."""
    folder = Path(tempfile.mkdtemp(prefix="bayplan-prometheus-"))
    try:
        (folder / "prometheus.yml").write_text(CONFIGURATION.format(targets=", ".join(map(repr, scrape))), encoding="utf-8")
        if history is not None:
            _backfill(folder, history)
        with _running(folder, options, host) as url:
            yield Server(url=url, folder=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _backfill(folder: Path, history: History) -> None:
    text = folder / "history.txt"
    with text.open("w", encoding="utf-8") as file:
        file.writelines(openmetrics(history.series, history.start, history.end, history.step))
    command = ["promtool", "tsdb", "create-blocks-from", "--quiet", "openmetrics", str(text), str(folder / "data")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise RuntimeError(f"promtool failed: {done.stderr}{done.stdout}")
    text.unlink()


@contextmanager
def _running(folder: Path, options: Sequence[str], host: str) -> Iterator[str]:
    address = f"{host}:{_free_port(host)}"
    command = [
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--storage.tsdb.retention.time=100y",
        f"--web.listen-address={address}",
        "--log.level=error",
        *options,
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        until(lambda: _ready(f"http://{address}", process, folder / "log"), "Prometheus is ready")
        yield f"http://{address}"
    finally:
        process.terminate()
        process.wait(SECONDS)


def _ready(url: str, process: subprocess.Popen[bytes], log: Path) -> bool:
    if process.poll() is not None:
        raise RuntimeError(f"Prometheus ended: {log.read_text(encoding='utf-8')}")
    try:
        with urlopen(f"{url}/-/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def until(holds: Callable[[], object], words: str) -> None:
    """Wait until a condition holds; fails after a minute."""
    deadline, pause = time.monotonic() + SECONDS, threading.Event()
    while not holds():
        if time.monotonic() > deadline:
            pytest.fail(f"waited {SECONDS:g} s in vain until {words}", pytrace=False)
        pause.wait(0.05)


def _free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
