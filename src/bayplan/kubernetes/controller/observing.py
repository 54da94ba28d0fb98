"""What a controller sees of its cluster: objects become an observation with what was measured, and references to write on."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from bayplan.errors import WorldError
from bayplan.kubernetes.client import Client
from bayplan.kubernetes.collect.objects import Objects
from bayplan.kubernetes.collect.observation import observation_of
from bayplan.kubernetes.collect.settings import CollectSettings
from bayplan.kubernetes.collect.snapshot import Collected, collected
from bayplan.kubernetes.controller.references import (
    LastReferences,
    ObjectReference,
    References,
    WrittenHold,
    owner_reference,
    pod_reference,
)
from bayplan.kubernetes.measure import MeasurementRequest
from bayplan.kubernetes.measurements import NOT_MEASURED, Measurements
from bayplan.kubernetes.prometheus.presets import NONE
from bayplan.operate.orchestrator import Observation

AGAIN = 300.0  # seconds after which is measured again: steps are checked every few seconds, usage changes more slowly
RETRY = 60.0  # ... after a failure


class ObservedCluster:
    """Makes observations of one cluster. `show` is what the orchestrator calls with the objects that it has read."""

    def __init__(
        self,
        client: Client,
        *,
        scope: Sequence[str] = (),
        settings: CollectSettings | None = None,
        measure: MeasurementRequest | None = None,
        problem: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.references = LastReferences()
        self._client, self._scope, self._settings = client, tuple(scope), settings
        self._measure, self._problem = measure, problem
        self._measured, self._next = NOT_MEASURED, -float("inf")

    def show(self, objects: Objects) -> Observation:
        """The observation of these objects."""
        measurements = NOT_MEASURED if self._measure is None else self._fresh(self._measure, objects)
        read = collected(
            objects, scope=self._scope, settings=self._settings, measurements=measurements, name=self._client.context
        )
        self.references.take(references_of(read))
        return observation_of(read, objects, measurements)

    def _fresh(self, request: MeasurementRequest, objects: Objects) -> Measurements:
        """What was measured lately. If Prometheus fails, what was measured before: the loop knows its age, and steps go on."""
        if time.monotonic() < self._next:
            return self._measured
        try:
            self._measured = only_what_was_asked(request, request.of(objects, self._client, self._scope))
            self._next = time.monotonic() + AGAIN
        except WorldError as error:
            self._next = time.monotonic() + RETRY
            self._problem(f"nothing new could be measured: {error}")
            if self._measured is NOT_MEASURED:
                self._measured = Measurements(missing=(str(error),))
        return self._measured


def only_what_was_asked(request: MeasurementRequest, measurements: Measurements) -> Measurements:
    """The measurements, in which what was not to be measured counts as fresh: it cannot be out of date."""
    if request.settings.traffic == NONE:
        return replace(measurements, traffic_at=measurements.usage_at)
    if not request.settings.usage:
        return replace(measurements, usage_at=measurements.traffic_at)
    return measurements


def references_of(read: Collected) -> References:
    """Where the pods and owners of a collection are, and which holds are written on them."""
    pods = [*read.pods.values(), *read.second.values(), *read.stopping]
    owners: dict[str, ObjectReference] = {}
    holds: dict[str, WrittenHold] = {}
    for workload, owner in read.owners.items():
        reference = owner_reference(owner.kind, owner.namespace, owner.name, owner.uid)
        if reference is not None and owner.known:
            owners[workload] = reference
            if owner.hold_until:
                holds[workload] = WrittenHold(until=owner.hold_until, reason=owner.hold_reason)
    return References(pods={pod.uid: pod_reference(pod.namespace, pod.name, pod.uid) for pod in pods}, owners=owners, holds=holds)


def read_namespace(scope: Sequence[str]) -> str:
    """The namespace that is read; empty for all: several are read as all, and only theirs may move."""
    return scope[0] if len(scope) == 1 else ""
