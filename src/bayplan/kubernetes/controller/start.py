"""A controller of a live cluster, put together: connection, collection, execution, record, and what surrounds the loop."""

import time
from dataclasses import dataclass, replace

from bayplan.kubernetes.client import Client
from bayplan.kubernetes.collect.settings import CollectSettings
from bayplan.kubernetes.controller.controller import Controller, ControllerSettings
from bayplan.kubernetes.controller.logs import EventLog
from bayplan.kubernetes.controller.observing import ObservedCluster, read_namespace
from bayplan.kubernetes.execute.gate_webhook import WebhookAddress
from bayplan.kubernetes.execute.orchestrator import KubernetesOrchestrator
from bayplan.kubernetes.execute.settings import ExecuteSettings
from bayplan.kubernetes.measure import MeasurementRequest
from bayplan.model import Way
from bayplan.model.record import Event
from bayplan.operate.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterScope:
    """What of a cluster a controller looks after."""

    namespaces: tuple[str, ...] = ()  # whose pods may move; none: all
    kinds: frozenset[str] = frozenset()  # further kinds of owners whose pods may move: StatefulSet, Job, ...
    measure: MeasurementRequest | None = None  # traffic and usage; None: not measured
    surge: bool = False  # may a Deployment be scaled up by one for a while, where a replica must not be missing?
    webhook: WebhookAddress | None = None  # by which new pods wait; None: by a policy of the API server

    @property
    def way(self) -> Way:
        """How pods move: they are evicted first, and their replacements are steered; by surge only where it is needed."""
        return Way.AUTO if self.surge else Way.REPLACE

    @property
    def execution(self) -> ExecuteSettings:
        """How steps are carried out."""
        return ExecuteSettings(namespace=read_namespace(self.namespaces), surge=self.surge, webhook=self.webhook)


def cluster_controller(
    client: Client, store: Store, settings: ControllerSettings, scope: ClusterScope, log: EventLog
) -> Controller:
    """A controller that moves the pods of a scope."""

    def problem(text: str) -> None:
        log.write(Event(at=time.time(), kind="problem", text=text))

    collect = CollectSettings(kinds=scope.kinds, young=settings.loop.young)
    view = ObservedCluster(client, scope=scope.namespaces, settings=collect, measure=scope.measure, problem=problem)
    orchestrator = KubernetesOrchestrator(client, view.show, scope.execution)
    chosen = replace(settings, loop=replace(settings.loop, way=scope.way))
    return Controller(client, orchestrator, store, chosen, references=view.references, log=log, sweep=orchestrator.end_overdue)
