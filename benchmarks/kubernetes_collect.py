"""Measure how long a large cluster of Kubernetes takes from the text of kubectl to a snapshot, and how much memory.

The text is made here, as `kubectl get ... -A -o json` prints it: nodes, pods with environment, probes, volumes and statuses, as
real ones have them; Deployments with node affinity, anti-affinity, topology spread and disruption budgets, and DaemonSets on
every node. Rows are appended to `benchmarks/kubernetes_collect.csv`.

    python -m benchmarks.kubernetes_collect [NODES PODS]
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.results import append, commit, machine

from benchmarks.measure import best_of

RESULTS = Path(__file__).parent / "kubernetes_collect.csv"
COLUMNS = ("commit", "machine", "nodes", "pods", "text_mb", "parse_seconds", "seconds", "ratio", "peak_mb")
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
DAEMON_SETS = 2
REPLICAS = (2, 3, 5, 10, 20, 80)
TIMES = 2
Json = dict[str, Any]
BODY = "read = collect_file({path!r}); assert len(read.pods) == {pods}"
PARSE = "json.loads(open({path!r}).read())"


def main() -> None:
    """Make the text, measure, and append the row."""
    nodes, pods = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (5_000, 50_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        write_cluster(path, nodes, pods)
        collected = best_of(
            TIMES, BODY.format(path=str(path), pods=pods), "from bayplan.kubernetes.snapshots import collect_file"
        )
        parsed = best_of(TIMES, PARSE.format(path=str(path)))
        row = {
            "commit": commit(),
            "machine": machine(),
            "nodes": nodes,
            "pods": pods,
            "text_mb": round(path.stat().st_size / 2**20),
            "parse_seconds": f"{parsed.seconds:.2f}",
            "seconds": f"{collected.seconds:.2f}",
            "ratio": f"{collected.seconds / parsed.seconds:.2f}",
            "peak_mb": round(collected.peak_mb),
        }
    append(RESULTS, COLUMNS, [row])
    print(f"{nodes:,} nodes, {pods:,} pods, {row['text_mb']} MB of text: {row['seconds']} s, {row['peak_mb']} MB of memory")


def write_cluster(path: Path, nodes: int, pods: int, seed: int = 0) -> None:
    """The text of kubectl for a cluster of this size."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{\n    "apiVersion": "v1",\n    "items": [\n')
        for number, item in enumerate(_items(nodes, pods, random.Random(seed))):
            file.write((",\n" if number else "") + json.dumps(item, indent=4))
        file.write('\n    ],\n    "kind": "List",\n    "metadata": {"resourceVersion": ""}\n}\n')


def _items(nodes: int, pods: int, chance: random.Random) -> Iterator[Json]:
    for m in range(nodes):
        yield _node(m)
    yield _object("v1", "Namespace", "", "shop", labels={"kubernetes.io/metadata.name": "shop"})
    for d in range(DAEMON_SETS):
        yield _object("apps/v1", "DaemonSet", "shop", f"agent-{d}", spec={}, status={})
        for m in range(nodes):
            yield _pod(f"agent-{d}-{m}", m, "DaemonSet", f"agent-{d}", {"tolerations": [{"operator": "Exists"}], **_only(m)})
    left, number = pods - DAEMON_SETS * nodes, 0
    while left > 0:
        replicas = min(left, chance.choice(REPLICAS))
        yield from _deployment(number, replicas, nodes, chance)
        left, number = left - replicas, number + 1


def _object(version: str, kind: str, namespace: str, name: str, labels: Json | None = None, **parts: Any) -> Json:
    metadata: Json = {"name": name, "uid": f"{kind}-{name}", "resourceVersion": "123456", "generation": 1, "labels": labels or {}}
    metadata["creationTimestamp"] = "2026-01-01T00:00:00Z"
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {**metadata, **({"namespace": namespace} if namespace else {})},
        **parts,
    }


def _node(m: int) -> Json:
    amounts = {"cpu": "63770m", "memory": "251Gi", "pods": "110", "ephemeral-storage": "94477937300"}
    labels = {HOST: f"node-{m}", ZONE: f"zone-{m % 3}", "kubernetes.io/os": "linux", "disk": "ssd" if m % 2 else "hdd"}
    images = [{"names": [f"registry.example/team/image-{k}@sha256:{k:064x}"], "sizeBytes": 123456789} for k in range(30)]
    conditions = [
        {"type": kind, "status": "False", "reason": "Fine", "message": "as it should be"}
        for kind in ("DiskPressure", "PIDPressure")
    ]
    status = {
        "allocatable": amounts,
        "capacity": amounts,
        "images": images,
        "conditions": [*conditions, {"type": "Ready", "status": "True"}],
    }
    return _object("v1", "Node", "", f"node-{m}", labels, spec={}, status=status)


def _deployment(number: int, replicas: int, nodes: int, chance: random.Random) -> Iterator[Json]:
    name, spec = f"app-{number}", _constraints(f"app-{number}", number)
    settled = {"observedGeneration": 1, "replicas": replicas, "updatedReplicas": replicas}
    yield _object("apps/v1", "Deployment", "shop", name, spec={"replicas": replicas}, status=settled)
    owned = _object("apps/v1", "ReplicaSet", "shop", f"{name}-rs", spec={"replicas": replicas}, status=settled)
    owned["metadata"]["ownerReferences"] = _owner("Deployment", name)
    yield owned
    budget = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": name}}}
    yield _object("policy/v1", "PodDisruptionBudget", "shop", name, spec=budget, status={})
    for k in range(replicas):
        yield _pod(f"{name}-rs-{k}", chance.randrange(nodes), "ReplicaSet", f"{name}-rs", spec, name)


def _constraints(name: str, number: int) -> Json:
    selector = {"matchLabels": {"app": name}}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    spec: Json = {
        "tolerations": [
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        ]
    }
    if number % 3 == 0:
        spec["topologySpreadConstraints"] = [
            {"maxSkew": 5, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
        ]
    if number % 3 == 1:
        spec["affinity"] = {"podAntiAffinity": {required: [{"topologyKey": HOST, "labelSelector": selector}]}}
    if number % 5 == 0:
        spec["nodeSelector"] = {"disk": "ssd"}
    return spec


def _only(m: int) -> Json:
    field = {"key": "metadata.name", "operator": "In", "values": [f"node-{m}"]}
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [field]}]}}
    return {"affinity": {"nodeAffinity": terms}}


def _owner(kind: str, name: str) -> list[Json]:
    return [
        {
            "apiVersion": "apps/v1",
            "kind": kind,
            "name": name,
            "uid": f"{kind}-{name}",
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def _pod(name: str, m: int, kind: str, owner: str, spec: Json, app: str = "agent") -> Json:
    requests = {"cpu": "250m", "memory": "512Mi"}
    container = {
        "name": "main",
        "image": "registry.example/team/service:1.2.3",
        "args": [f"--option-{k}=value" for k in range(6)],
        "env": [{"name": f"VARIABLE_{k}", "value": f"http://service-{k}.shop.svc:8080"} for k in range(12)],
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "readinessProbe": {
            "httpGet": {"path": "/ready", "port": "http", "scheme": "HTTP"},
            "periodSeconds": 10,
            "timeoutSeconds": 1,
        },
        "livenessProbe": {
            "httpGet": {"path": "/live", "port": "http", "scheme": "HTTP"},
            "periodSeconds": 10,
            "timeoutSeconds": 1,
        },
        "resources": {"limits": {"memory": "512Mi"}, "requests": requests},
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/config"},
            {"name": f"kube-api-access-{name[-5:]}", "mountPath": "/var/run/x"},
        ],
    }
    volumes = [
        {"name": "config", "configMap": {"name": "config"}},
        {"name": f"kube-api-access-{name[-5:]}", "projected": {"sources": [{}]}},
    ]
    state = {
        "name": "main",
        "ready": True,
        "restartCount": 0,
        "image": "x",
        "imageID": "sha256:0",
        "resources": {"requests": requests},
    }
    conditions = [
        {"type": known, "status": "True", "lastProbeTime": None, "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for known in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    status = {
        "phase": "Running",
        "hostIP": "10.0.0.1",
        "podIP": "10.1.0.1",
        "conditions": conditions,
        "containerStatuses": [state],
        "qosClass": "Burstable",
    }
    body = {
        "nodeName": f"node-{m}",
        "containers": [container],
        "volumes": volumes,
        "schedulerName": "default-scheduler",
        "priority": 0,
        **spec,
    }
    pod = _object("v1", "Pod", "shop", name, {"app": app, "pod-template-hash": "5d8f"}, spec=body, status=status)
    pod["metadata"]["ownerReferences"] = _owner(kind, owner)
    return pod


if __name__ == "__main__":
    main()
