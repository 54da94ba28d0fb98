"""A real control plane on the loopback interface, with throw-away certificates, in a temporary folder.

`python -m tests.kubernetes.real_cluster [NODES]` starts one, prints its kubeconfig and keeps it until Ctrl-C.
"""

import base64
import json
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml
from tests.kubernetes import binary, settings
from tests.kubernetes.processes import Component, free_port
from tests.kubernetes.waiting import wait_until

from bayplan.errors import WorldError
from bayplan.kubernetes.client import Client

CONTEXT = "tests"


class ControlPlane:
    """etcd, API server, controller manager, scheduler and KWOK: each a `Component` that a test may kill and start again."""

    def __init__(self, executable: Path, folder: Path) -> None:
        self.executable = executable
        self.folder = folder
        self._ports = settings.Ports(**{name: free_port() for name in settings.Ports.__slots__})
        self.server = f"https://{settings.LOOPBACK}:{self._ports.api_server}"
        self.etcd = self._component("etcd", settings.etcd, f"http://{settings.LOOPBACK}:{self._ports.etcd}/health")
        self.api_server = self._component("kube-apiserver", settings.api_server, f"{self.server}/readyz")
        self.controller_manager = self._component(
            "kube-controller-manager",
            settings.controller_manager,
            f"https://{settings.LOOPBACK}:{self._ports.controller_manager}/healthz",
        )
        self.scheduler = self._component(
            "kube-scheduler", settings.scheduler, f"https://{settings.LOOPBACK}:{self._ports.scheduler}/readyz"
        )
        self.kwok = self._component("kwok", settings.kwok, f"http://{settings.LOOPBACK}:{self._ports.kwok}/healthz")

    def _component(self, name: str, arguments: Any, address: str) -> Component:
        command = [str(self.executable), name, *arguments(self.folder, self._ports)]
        return Component(name, command, folder=self.folder, ready=lambda: _answers(address, self.folder / "authority.crt"))

    @property
    def components(self) -> tuple[Component, ...]:
        """All parts, in the order in which they start."""
        return (self.etcd, self.api_server, self.controller_manager, self.scheduler, self.kwok)

    @property
    def kubeconfig(self) -> Path:
        """The file with which one may do everything."""
        return self.folder / "admin.kubeconfig"

    def client(self) -> Client:
        """A new connection that may do everything."""
        return Client.connect(kubeconfig=str(self.kubeconfig))

    def start(self) -> None:
        """Start all parts that do not run; wait until all are ready and service accounts are served."""
        if not self.kubeconfig.exists():
            self._write_files()
        self.etcd.start()
        self.api_server.start()
        if not self.kwok.running:
            # a KWOK that is gone still holds the leases of its nodes: the next one would leave their pods alone for minutes
            self.client().delete("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")
        for component in (self.controller_manager, self.scheduler, self.kwok):
            component.start(wait=False)
        for component in (self.controller_manager, self.scheduler, self.kwok):
            component.wait_ready()
        client = self.client()
        wait_until(lambda: _exists(client, "/api/v1/namespaces/default/serviceaccounts/default"), "the first service account")

    def stop(self) -> None:
        """Kill all parts: nothing of them is needed any more."""
        for component in reversed(self.components):
            component.kill()

    def memory(self) -> dict[str, int]:
        """Bytes of memory by part."""
        return {component.name: component.memory() for component in self.components}

    @contextmanager
    def scheduler_with(self, **changes: Any) -> Iterator[None]:
        """The scheduler runs with another configuration, such as `extenders=[...]`, until the end of the block."""
        try:
            self._restart_scheduler(changes)
            yield
        finally:
            self._restart_scheduler({})

    def _restart_scheduler(self, changes: dict[str, Any]) -> None:
        (self.folder / "scheduler.yaml").write_text(settings.scheduler_configuration(self.folder, changes), encoding="utf-8")
        self.scheduler.restart()

    def forget_versions(self) -> None:
        """Forget all versions before this one and restart the API server: pages and watches of an older one get 410."""
        self._compact()
        self.api_server.restart()  # it remembers more than the store does

    def save_store(self, target: Path) -> None:
        """Stop all parts and keep what is in the cluster in a folder, from which `running_control_plane(store=...)` starts."""
        self._compact()
        self._ask_etcd("maintenance/defragment", {})
        for component in reversed(self.components):
            component.stop()
        shutil.copytree(self.folder / "etcd", target)

    def _compact(self) -> None:
        revision = self._ask_etcd("maintenance/status", {})["header"]["revision"]
        self._ask_etcd("kv/compaction", {"revision": revision, "physical": True})

    def _ask_etcd(self, question: str, body: dict[str, Any]) -> dict[str, Any]:
        address = f"http://{settings.LOOPBACK}:{self._ports.etcd}/v3/{question}"
        with _opener(None).open(urllib.request.Request(address, data=json.dumps(body).encode()), timeout=300) as answer:
            return dict(json.load(answer))

    def write_kubeconfig(self, file: Path, *, namespace: str = "default", user: dict[str, str] | None = None) -> Path:
        """A kubeconfig for this control plane: as the one who may do everything, or as another user."""
        file.write_text(self._kubeconfig_text(namespace, user or self._certificate("admin")), encoding="utf-8")
        file.chmod(0o600)
        return file

    def service_account_kubeconfig(self, file: Path, namespace: str, service_account: str) -> Path:
        """A kubeconfig with a fresh token of a service account that exists."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{service_account}/token"
        answer = self.client().create(path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        return self.write_kubeconfig(file, namespace=namespace, user={"token": answer["status"]["token"]})

    def _write_files(self) -> None:
        subprocess.run([str(self.executable), "certificates", str(self.folder)], check=True)
        for name in ("kube-controller-manager", "kube-scheduler", "admin"):
            self.write_kubeconfig(self.folder / f"{name}.kubeconfig", user=self._certificate(name))
        (self.folder / "scheduler.yaml").write_text(settings.scheduler_configuration(self.folder, {}), encoding="utf-8")
        (self.folder / "kwok.yaml").write_text(settings.kwok_configuration(), encoding="utf-8")

    def _certificate(self, name: str) -> dict[str, str]:
        return {
            "client-certificate-data": _encoded(self.folder / f"{name}.crt"),
            "client-key-data": _encoded(self.folder / f"{name}.key"),
        }

    def _kubeconfig_text(self, namespace: str, user: dict[str, str]) -> str:
        cluster = {"server": self.server, "certificate-authority-data": _encoded(self.folder / "authority.crt")}
        return yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": CONTEXT, "cluster": cluster}],
                "users": [{"name": CONTEXT, "user": user}],
                "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT, "namespace": namespace}}],
                "current-context": CONTEXT,
            }
        )


@contextmanager
def running_control_plane(store: Path | None = None) -> Iterator[ControlPlane]:
    """A control plane until the end of the block, empty or with what was saved; nothing of it is left then."""
    folder = Path(tempfile.mkdtemp(prefix="bayplan-control-plane-"))
    if store is not None:
        shutil.copytree(store, folder / "etcd")
    plane = ControlPlane(binary.built(), folder)
    try:
        plane.start()
        yield plane
    finally:
        plane.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _answers(address: str, authority: Path) -> bool:
    context = ssl.create_default_context(cafile=str(authority)) if address.startswith("https:") else None
    try:
        with _opener(context).open(address, timeout=1) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _opener(context: ssl.SSLContext | None) -> urllib.request.OpenerDirector:
    """Connects without a proxy, whatever the environment says."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))


def _exists(client: Client, path: str) -> bool:
    try:
        return bool(client.get(path))
    except WorldError:
        return False


def _encoded(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()


def wait_for_interrupt(plane: ControlPlane) -> None:
    """Print the kubeconfig and keep the control plane until Ctrl-C or SIGTERM."""
    print(f"export KUBECONFIG={plane.kubeconfig}", flush=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        signal.pause()


def _main(arguments: list[str]) -> None:
    from tests.kubernetes.nodes import make_nodes

    with running_control_plane() as plane:
        make_nodes(plane.client(), int(arguments[0]) if arguments else 3)
        wait_for_interrupt(plane)


if __name__ == "__main__":
    _main(sys.argv[1:])
