"""A controller on a simulated cluster: its API server is in memory, its time is virtual, its lease is quick."""

import io
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.builders.operated import Operation
from tests.builders.stored_objects import StoredObjects

from bayplan.kubernetes.controller.controller import Controller, ControllerSettings
from bayplan.kubernetes.controller.health import read_address
from bayplan.kubernetes.controller.lease import LeaseTimes
from bayplan.kubernetes.controller.logs import EventLog, LogForm
from bayplan.kubernetes.controller.references import LastReferences, References, owner_reference, pod_reference
from bayplan.operate.orchestrator import Observation
from bayplan.operate.store import Store

QUICK = LeaseTimes(retry=0.05)  # a machine that is busy must not lose it
LEASE = "/apis/coordination.k8s.io/v1/namespaces/bayplan/leases/bayplan"


class ReferencedCluster:
    """A simulated orchestrator whose containers are pods and whose workloads are Deployments of the namespace `shop`."""

    def __init__(self, inner: Any, server: StoredObjects) -> None:
        self.inner, self.server, self.references = inner, server, LastReferences()
        self.calls: list[str] = []
        self.before: Callable[[str], None] = lambda name: None  # called before each call that acts

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.inner, name)
        if name not in ("prepare", "release", "execute", "cancel"):
            return value

        def called(*arguments: Any) -> Any:
            self.before(name)
            self.calls.append(name)
            return value(*arguments)

        return called

    def observe(self) -> Observation:
        observation: Observation = self.inner.observe()
        names = observation.snapshot.cluster.workloads.name
        owners = {}
        for workload in names:
            owner = owner_reference("Deployment", "shop", workload, f"uid-of-{workload}")
            assert owner is not None
            owners[workload] = owner
            if owner.path not in self.server.objects:
                self.server.objects[owner.path] = {"metadata": {"name": workload, "uid": owner.uid, "annotations": {}}}
        pods = {uid: pod_reference("shop", f"{state.name}-{uid}", uid) for uid, state in observation.by_uid.items()}
        self.references.take(References(pods=pods, owners=owners, holds={}))
        return observation


@dataclass(kw_only=True, eq=False)
class Controlled:
    """One controller in a thread of its own."""

    controller: Controller
    cluster: ReferencedCluster
    server: StoredObjects
    stream: io.StringIO
    thread: threading.Thread
    turns: list[int] = field(default_factory=list)

    def start(self) -> "Controlled":
        self.thread.start()
        return self

    def stop(self, seconds: float = 20.0) -> None:
        self.controller.ending.ask()
        self.thread.join(seconds)
        assert not self.thread.is_alive(), "the controller did not end"

    def lines(self, event: str = "") -> list[dict[str, Any]]:
        read = [json.loads(line) for line in self.stream.getvalue().splitlines()]
        return [line for line in read if not event or line["event"] == event]

    def metric(self, name: str, **labels: str) -> float:
        return self.controller.metrics.registry.get_sample_value(name, labels) or 0.0

    def events(self) -> list[dict[str, Any]]:
        return [each for path, each in self.server.objects.items() if "/events/" in path]


def controlled(o: Operation, identity: str = "one", *, server: StoredObjects | None = None, **settings: Any) -> Controlled:
    """A controller over an operation's cluster, with the record of its own or the operation's."""
    server = server or StoredObjects()
    cluster = ReferencedCluster(o.cluster, server)
    stream = io.StringIO()
    store: Store = settings.pop("store", o.store)
    sweep = settings.pop("sweep_hook", lambda: [])
    chosen = ControllerSettings(
        loop=settings.pop("loop", replace(o.context.settings, mode="auto")),
        identity=identity,
        lease_namespace="bayplan",
        times=QUICK,
        **settings,
    )
    log = EventLog(LogForm.JSON, stream, identity=identity)
    controller = Controller(server, cluster, store, chosen, references=cluster.references, log=log, sweep=sweep)  # type: ignore[arg-type]
    turns: list[int] = []
    thread = threading.Thread(target=lambda: turns.append(controller.run()), daemon=True)
    return Controlled(controller=controller, cluster=cluster, server=server, stream=stream, thread=thread, turns=turns)


def wait_for(condition: Callable[[], Any], seconds: float = 30.0) -> Any:
    """The first true answer; AssertionError after the deadline."""
    end = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < end, "it did not come in time"
        time.sleep(0.01)
    return answer


ANY_PORT = read_address("127.0.0.1:0")
