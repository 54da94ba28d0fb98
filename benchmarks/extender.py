"""Measure how long kube-scheduler waits for the extender: filter and prioritize over HTTP, 1,000 and 5,000 nodes, ten pods each.

One connection is kept, as kube-scheduler does. *node names* is `nodeCacheCapable: true`, *whole nodes* is false, with nodes of
about four kilobytes. Processor time is that of the client, too. Rows are appended to `benchmarks/extender.csv`.

    python -m benchmarks.extender
"""

import http.client
import json
import statistics
import threading
import time
from pathlib import Path
from typing import Any

from experiments.results import append, commit, machine

from bayplan.api.machine_scores import LivePlacement, RunningContainer
from bayplan.kubernetes.extender import Extender, ExtenderServer

RESULTS = Path(__file__).parent / "extender.csv"
COLUMNS = ("commit", "machine", "nodes", "form", "verb", "answers", "p50_ms", "p99_ms", "cpu_ms")
SIZES = (1000, 5000)
PODS_EACH = 10
APPLICATIONS = 200
ANSWERS = {"node names": 500, "whole nodes": 40}


def main() -> None:
    """Measure every size, form and verb, and append the rows."""
    for size in SIZES:
        names = [f"node-{m}" for m in range(size)]
        server = ExtenderServer(Extender(live=_live(names)), "127.0.0.1:0", tell=lambda event, fields: None)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for form, answers in ANSWERS.items():
            body = _question(names, whole=form == "whole nodes")
            for verb in ("filter", "prioritize"):
                append(RESULTS, COLUMNS, [_row(size, form, verb, *_milliseconds(server, verb, body, answers))])
        server.shutdown()
        server.server_close()


def _live(names: list[str]) -> LivePlacement:
    live = LivePlacement(2)
    live.replace_machines(dict.fromkeys(names, (16000.0, 64.0 * 2**30)))
    running = {}
    for number in range(PODS_EACH * len(names)):
        workload = f"shop/w-{number % (3 * APPLICATIONS)}"
        service, on = f"shop/s-{number % APPLICATIONS}", names[number % len(names)]
        running[str(number)] = RunningContainer(machine=on, workload=workload, service=service, request=(500.0, 2.0**30))
    live.replace_containers(running)
    return live


def _question(names: list[str], *, whole: bool) -> bytes:
    labels = {"app.kubernetes.io/part-of": "s-7"}
    spec = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}]}
    about = {"name": "new", "namespace": "shop", "uid": "new", "labels": labels}
    pod = {"metadata": about, "spec": spec}
    nodes: dict[str, Any] = {"Nodes": {"items": [_node(name) for name in names]}} if whole else {"NodeNames": names}
    return json.dumps({"Pod": pod, **nodes}).encode()


def _node(name: str) -> dict[str, Any]:
    images = [{"names": [f"registry.example/team/image-{i}:1.{i}"], "sizeBytes": 10_000_000 + i} for i in range(35)]
    return {"metadata": {"name": name, "labels": {f"label-{i}": name for i in range(12)}}, "status": {"images": images}}


def _milliseconds(server: ExtenderServer, verb: str, body: bytes, answers: int) -> tuple[list[float], float]:
    """Of each answer, and of the processor for one answer."""
    connection = http.client.HTTPConnection(*server.server_address[:2])
    taken, began = [], time.process_time()
    for _ in range(answers):
        started = time.perf_counter()
        connection.request("POST", f"/{verb}", body)
        connection.getresponse().read()
        taken.append(1000 * (time.perf_counter() - started))
    connection.close()
    return taken, 1000 * (time.process_time() - began) / answers


def _row(size: int, form: str, verb: str, taken: list[float], processor: float) -> dict[str, Any]:
    hundredths = statistics.quantiles(taken, n=100)
    times = {"p50_ms": hundredths[49], "p99_ms": hundredths[98], "cpu_ms": processor}
    words = {name: f"{value:.2f}" for name, value in times.items()}
    print(f"{size} nodes, {form}, {verb}: p50 {words['p50_ms']} ms, p99 {words['p99_ms']} ms, cpu {words['cpu_ms']} ms")
    return {"commit": commit(), "machine": machine(), "nodes": size, "form": form, "verb": verb, "answers": len(taken), **words}


if __name__ == "__main__":
    main()
