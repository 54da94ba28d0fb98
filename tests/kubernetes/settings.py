"""How each part of the control plane is told to run: command lines and configuration files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from tests.kubernetes.stages import stages

LOOPBACK = "127.0.0.1"
REQUESTS_PER_SECOND = 2000  # of one part to the API server; the defaults of 20 to 50 make 20,000 pods a matter of an hour
WORKERS = 16  # of the controllers that tests wait for


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Where each part listens on the loopback interface."""

    etcd: int
    etcd_peer: int
    api_server: int
    controller_manager: int
    scheduler: int
    kwok: int


def etcd(folder: Path, ports: Ports) -> list[str]:
    """A store that forgets what a power cut would take, which makes it fast."""
    clients, peers = f"http://{LOOPBACK}:{ports.etcd}", f"http://{LOOPBACK}:{ports.etcd_peer}"
    return [
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
        "--unsafe-no-fsync",
        "--quota-backend-bytes=8589934592",
        "--log-level=error",
    ]


def api_server(folder: Path, ports: Ports) -> list[str]:
    """RBAC, tokens of service accounts, everything else as a cluster has it by default."""
    return [
        f"--etcd-servers=http://{LOOPBACK}:{ports.etcd}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={ports.api_server}",
        "--advertise-address=192.0.2.1",  # not the loopback interface, which an endpoint may not name; nothing connects to it
        "--endpoint-reconciler-type=none",
        *_serving(folder),
        f"--client-ca-file={folder / 'authority.crt'}",
        f"--service-account-key-file={folder / 'service-account.key'}",
        f"--service-account-signing-key-file={folder / 'service-account.key'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",
        "--max-requests-inflight=2000",
        "--max-mutating-requests-inflight=1000",
        "--profiling=false",
    ]


def controller_manager(folder: Path, ports: Ports) -> list[str]:
    """All controllers, quick, and patient with nodes: their heartbeats are rare, so that a large cluster costs little."""
    return [
        f"--kubeconfig={folder / 'kube-controller-manager.kubeconfig'}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={ports.controller_manager}",
        *_serving(folder),
        f"--root-ca-file={folder / 'authority.crt'}",
        f"--service-account-private-key-file={folder / 'service-account.key'}",
        "--use-service-account-credentials=true",
        "--leader-elect=false",
        f"--kube-api-qps={REQUESTS_PER_SECOND}",
        f"--kube-api-burst={2 * REQUESTS_PER_SECOND}",
        f"--concurrent-deployment-syncs={WORKERS}",
        f"--concurrent-replicaset-syncs={WORKERS}",
        f"--concurrent-statefulset-syncs={WORKERS}",
        f"--concurrent-daemonset-syncs={WORKERS}",
        f"--concurrent-namespace-syncs={WORKERS}",
        f"--concurrent-gc-syncs={WORKERS}",
        f"--concurrent-serviceaccount-token-syncs={WORKERS}",
        "--controllers=*,-ttl-controller",  # it writes to each node when there are many; only kubelets read that
        "--node-monitor-grace-period=24h",  # a fake kubelet that gets no processor time for ten minutes is not dead
    ]


def scheduler(folder: Path, ports: Ports) -> list[str]:
    """Everything but the connection is in its configuration file."""
    return [
        f"--config={folder / 'scheduler.yaml'}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={ports.scheduler}",
        *_serving(folder),
    ]


def scheduler_configuration(folder: Path, changes: dict[str, Any]) -> str:
    """The scheduler as a cluster has it by default, with `changes` such as `extenders` or `profiles`."""
    return yaml.safe_dump(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {
                "kubeconfig": str(folder / "kube-scheduler.kubeconfig"),
                "qps": REQUESTS_PER_SECOND,
                "burst": 2 * REQUESTS_PER_SECOND,
            },
            **changes,
        }
    )


def kwok(folder: Path, ports: Ports) -> list[str]:
    """The fake kubelet of all nodes."""
    return [
        f"--kubeconfig={folder / 'admin.kubeconfig'}",
        f"--config={folder / 'kwok.yaml'}",
        f"--server-address={LOOPBACK}:{ports.kwok}",
        "--v=WARN",
    ]


def kwok_configuration() -> str:
    """KWOK's settings and its stages."""
    settings = {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokConfiguration",
        "options": {
            "manageAllNodes": True,
            "nodeIP": "192.0.2.2",
            "cidr": "10.0.0.0/8",
            "podPlayStageParallelism": WORKERS,
            "nodePlayStageParallelism": WORKERS,
            "podsOnNodeSyncParallelism": WORKERS,
            "nodeLeaseDurationSeconds": 400,
            "nodeLeaseParallelism": WORKERS,
            "enableDebuggingHandlers": False,
        },
    }
    return yaml.safe_dump(settings) + "---\n" + stages()


def _serving(folder: Path) -> list[str]:
    return [f"--tls-cert-file={folder / 'server.crt'}", f"--tls-private-key-file={folder / 'server.key'}"]
