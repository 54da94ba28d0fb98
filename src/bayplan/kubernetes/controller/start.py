"""A controller of a live cluster, put together: connection, collection, execution, record, and what surrounds the loop."""

import time
from dataclasses import replace

from bayplan.kubernetes.client import Client
from bayplan.kubernetes.collect.settings import CollectSettings
from bayplan.kubernetes.controller.controller import Controller, ControllerSettings
from bayplan.kubernetes.controller.logs import EventLog
from bayplan.kubernetes.controller.observing import ObservedCluster
from bayplan.kubernetes.execute.orchestrator import KubernetesOrchestrator
from bayplan.kubernetes.execute.settings import ExecuteSettings
from bayplan.kubernetes.measure import MeasurementRequest
from bayplan.model import Way
from bayplan.model.record import Event
from bayplan.operate.store import Store


def cluster_controller(
    client: Client,
    store: Store,
    settings: ControllerSettings,
    *,
    namespace: str = "",
    measure: MeasurementRequest | None = None,
    log: EventLog,
) -> Controller:
    """A controller that moves the pods of a namespace, or of all; pods are evicted first, and their replacements are steered."""

    def problem(text: str) -> None:
        log.write(Event(at=time.time(), kind="problem", text=text))

    scope = (namespace,) if namespace else ()
    view = ObservedCluster(
        client, scope=scope, settings=CollectSettings(young=settings.loop.young), measure=measure, problem=problem
    )
    orchestrator = KubernetesOrchestrator(client, view.show, ExecuteSettings(namespace=namespace))
    chosen = replace(settings, loop=replace(settings.loop, way=Way.REPLACE))
    return Controller(client, orchestrator, store, chosen, references=view.references, log=log, sweep=orchestrator.end_overdue)
