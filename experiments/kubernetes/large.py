"""`python -m experiments.kubernetes.large [--moves 500] [--seconds 60] [--nodes 2000 --pods 20000]`

A large cluster of fake nodes on a real control plane, filled once by Deployments and kube-scheduler; traffic in a real
Prometheus. `bayplan plan --context` reads, measures and plans; `bayplan apply --yes` carries the plan out, while a watcher with
its own connection sees every instant. One row of large.csv: seconds, CPU seconds and memory of each command, and what became of
the plan.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.builders import prometheus
from tests.kubernetes.exporter import SHAPES, Place
from tests.kubernetes.large_cluster import filled_control_plane, large_workloads
from tests.kubernetes.real_cluster import ControlPlane
from tests.kubernetes.watcher import Watcher

from experiments.results import ROOT, append, commit, machine

CELLS = Path(__file__).parent / "large.csv"
EDGES_EACH, POWER, BUSIEST = 2, 0.8, 500.0  # pairs for each Deployment; requests per second by a power law
HISTORY = 2 * 3600.0  # seconds of traffic that Prometheus has seen
ALIVE = "0.9"  # as the disruption budgets: a tenth of each Deployment may be missing


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and append the row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in (("nodes", 2_000), ("pods", 20_000), ("moves", 500), ("seconds", 60)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    asked = parser.parse_args(argv)
    with filled_control_plane(asked.nodes, asked.pods) as plane, tempfile.TemporaryDirectory() as folder:
        row = _measured(plane, Path(folder), asked)
    counts = {"nodes": asked.nodes, "pods": asked.pods, "moves_allowed": asked.moves, "search_seconds": asked.seconds}
    whole = {**counts, **row, "commit": commit(), "machine": machine()}
    append(CELLS, list(whole), [{name: str(value) for name, value in whole.items()}])
    print(json.dumps({**counts, **row}, indent=1))


def _measured(plane: ControlPlane, folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    now = time.time()
    history = prometheus.History(series=_series(asked.pods), start=now - HISTORY, end=now, step=60.0)
    with prometheus.server(history=history) as server:
        where = ["--kubeconfig", str(plane.kubeconfig), "-A"]
        measure = ["--prometheus", server.url, "--traffic", "istio"]
        plan, file = ["plan", *where, *measure], str(folder / "plan.json")
        limits = ["--max-moves", str(asked.moves), "--seconds", str(asked.seconds), "--alive", ALIVE, "--young", "0s"]
        planned, cost = _run(*plan, "--goal", "local-traffic", *limits, "--out", file, "--json")
        with Watcher(plane.kubeconfig) as watcher:
            store = ["--store", str(folder / "record.db"), "--settle", "0s", "--alive", ALIVE, "--json", "--yes"]
            applied, price = _run("apply", file, *where, *store)
        memory = {f"{name}_mb": round(amount / 2**20) for name, amount in plane.memory().items()}
    done = applied["done"] or {}
    return {
        **{f"plan_{name}": value for name, value in cost.items()},
        "planned": planned["moved"],
        "local_before": f"{planned['before']['affinity']:.5g}",
        "promised": f"{planned['score']['affinity']:.5g}",
        **{f"apply_{name}": value for name, value in price.items()},
        "status": applied["status"],
        "moved": done.get("moved", 0),
        "instants": watcher.instants,
        "violations": len(watcher.violations),
        "gates_left": len(watcher.gated),
        **memory,
    }


def _series(pods: int) -> list[Any]:
    draw = random.Random("traffic of a large cluster")
    places = [Place(space, thing["metadata"]["name"]) for space, things in large_workloads(pods).items() for thing in things[::2]]
    pairs = {tuple(draw.sample(places, 2)) for _ in range(EDGES_EACH * len(places))}
    ordered = sorted(pairs)
    draw.shuffle(ordered)
    return SHAPES["istio"]({(a, b): BUSIEST * (rank + 1) ** -POWER for rank, (a, b) in enumerate(ordered)})


def _run(*words: str) -> tuple[Mapping[str, Any], dict[str, str]]:
    """One command: its answer; seconds, CPU seconds, and megabytes at most."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    wall = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "bayplan", *words], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # so that nothing waits for it again
    cost = {
        "seconds": f"{time.perf_counter() - wall:.1f}",
        "cpu_seconds": f"{used.ru_utime + used.ru_stime:.1f}",
        "mb": f"{used.ru_maxrss / 1024:.0f}",
        "exit": str(process.returncode),
    }
    return json.loads(said), cost


if __name__ == "__main__":
    main()
