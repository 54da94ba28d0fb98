"""Each arm on a running cluster: what acts is a process of its own, so its processor time is its own."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.builders import prometheus
from tests.kubernetes.descheduler import run_descheduler
from tests.kubernetes.real_cluster import ControlPlane

from experiments.kubernetes.apps import apps_of, series_of, traffic_of
from experiments.kubernetes.cluster import started_cluster, wait_settled
from experiments.kubernetes.measures import PendingWatcher, figures, listed
from experiments.kubernetes.settings import ALONE, PASSES, PLANS, POLICIES, Cell
from experiments.results import ROOT

HISTORY = 2 * 3600.0  # seconds of traffic that Prometheus has seen
NOTHING: Mapping[str, str] = {"passes": "", "planned": "", "moved": "", "promised": "", "status": ""}


def measured(cell: Cell) -> dict[str, str]:
    """The row of a cell."""
    traffic = traffic_of(apps_of(cell.scope, cell.seed), cell.seed)
    with started_cluster(cell.scope, cell.seed) as plane, _prometheus(traffic) as address:
        client = plane.client()
        before = listed(client)
        with PendingWatcher(plane.kubeconfig) as watcher:
            wall, processor = time.perf_counter(), _children()
            said = _act(cell, plane, address)
            processor = _children() - processor
            wait_settled(client, cell.scope.pods)
            wall = time.perf_counter() - wall
        after = listed(client)
    numbers = figures(after, traffic) | {"disrupted": len(before.uids - after.uids)} | watcher.counted()
    start = {f"{name}_before": number for name, number in figures(before, traffic).items() if name != "pending"}
    times = {"seconds": f"{wall:.1f}", "cpu_seconds": f"{processor:.1f}"}
    return {name: f"{number:.5g}" for name, number in (start | numbers).items()} | NOTHING | said | times


def _act(cell: Cell, plane: ControlPlane, address: str) -> dict[str, str]:
    if cell.arm in POLICIES:
        return {"passes": str(_descheduled(cell, plane))}
    if cell.arm in PLANS:
        return _planned(cell, plane, address)
    assert cell.arm == ALONE
    return {}


def _descheduled(cell: Cell, plane: ControlPlane) -> int:
    """Run again, as it does every few minutes in a cluster, until a pass evicts nothing; how many passes there were."""
    client = plane.client()
    for number in range(PASSES):
        before = listed(client).uids
        run_descheduler(plane.kubeconfig, POLICIES[cell.arm])
        wait_settled(client, cell.scope.pods)
        if not before - listed(client).uids:
            return number + 1
    return PASSES


def _planned(cell: Cell, plane: ControlPlane, address: str) -> dict[str, str]:
    ask = PLANS[cell.arm]
    with tempfile.TemporaryDirectory(prefix="bayplan-compared-") as folder:
        asked = {
            "kubeconfig": str(plane.kubeconfig),
            "prometheus": address,
            "goal": ask.goal,
            "max_moves": ask.max_moves,
            "seconds": cell.scope.plan_seconds,
            "folder": folder,
        }
        command = [sys.executable, "-m", "experiments.kubernetes.planned", json.dumps(asked)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{cell.arm} failed: {done.stderr[-3000:]}")
    said: dict[str, str] = json.loads(done.stdout)
    return said


@contextmanager
def _prometheus(traffic: Mapping[tuple[str, str], float]) -> Iterator[str]:
    """A real one that has recorded the traffic of the last hours; it runs beside every arm."""
    now = time.time()
    history = prometheus.History(series=series_of(traffic), start=now - HISTORY, end=now)
    with prometheus.server(history=history) as server:
        yield server.url


def _children() -> float:
    """Seconds of the processor of processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
