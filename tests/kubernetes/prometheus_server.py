"""A real Prometheus on the loopback interface that scrapes exporters of ours every second: Debian's package `prometheus`."""

import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import yaml
from tests.kubernetes.processes import Component, free_port

INTERVAL = "1s"


def missing() -> str:
    """What there is not, in words; nothing if Prometheus can be started."""
    return "" if shutil.which("prometheus") else "no prometheus on the PATH: install Debian's package prometheus"


@contextmanager
def running_prometheus(targets: Sequence[int | str], *, folder: Path | None = None) -> Iterator[str]:
    """The address of a server that scrapes these targets, ports of the loopback interface or `host:port`, until the end."""
    home = Path(tempfile.mkdtemp(prefix="bayplan-prometheus-")) if folder is None else folder
    port = free_port()
    (home / "prometheus.yaml").write_text(_configuration(targets), encoding="utf-8")
    address = f"http://127.0.0.1:{port}"
    server = Component("prometheus", _command(home, port), folder=home, ready=lambda: _ready(address))
    try:
        server.start()
        yield address
    finally:
        server.kill()
        shutil.rmtree(home, ignore_errors=True)


def _configuration(targets: Sequence[int | str]) -> str:
    addresses = [f"127.0.0.1:{target}" if isinstance(target, int) else target for target in targets]
    scraped = {"job_name": "tests", "honor_labels": True, "static_configs": [{"targets": addresses}]}
    return yaml.safe_dump({"global": {"scrape_interval": INTERVAL, "scrape_timeout": INTERVAL}, "scrape_configs": [scraped]})


def _command(home: Path, port: int) -> list[str]:
    return [
        "prometheus",
        f"--config.file={home / 'prometheus.yaml'}",
        f"--storage.tsdb.path={home / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    ]


def _ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/-/ready", timeout=1) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
