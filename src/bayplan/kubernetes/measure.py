"""`measure`: what Prometheus knows about the workloads of a cluster, in one call."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bayplan.kubernetes.client import Client
from bayplan.kubernetes.collect.objects import Objects, read_objects
from bayplan.kubernetes.measurements import Measurements
from bayplan.kubernetes.prometheus import MeasurementSettings, TrafficQuery, connected, measured
from bayplan.kubernetes.prometheus.cluster_names import known_workloads
from bayplan.kubernetes.prometheus.discovery import DISCOVER
from bayplan.kubernetes.prometheus.measure import HOUR
from bayplan.kubernetes.prometheus.presets import AUTO


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementRequest:
    """Where to measure, and what."""

    prometheus: str = DISCOVER  # an address, NAMESPACE/SERVICE[:PORT] of the cluster, or `discover`
    settings: MeasurementSettings = field(default_factory=MeasurementSettings)

    def of(self, objects: Objects, client: Client | None, scope: Sequence[str] = (), *, at: float | None = None) -> Measurements:
        """What was measured of the workloads in these objects until `at`, or now. Without a client, only at an address."""
        server = connected(self.prometheus, client)
        return measured(server, known_workloads(objects, client, scope=scope), self.settings, at=at)


def measure(
    prometheus: str = DISCOVER,
    *,
    context: str = "",
    kubeconfig: str = "",
    namespaces: Sequence[str] = (),
    traffic: str | TrafficQuery = AUTO,
    window: float = HOUR,
    usage: bool = True,
    at: float | None = None,
) -> Measurements:
    """The traffic between the workloads of a cluster, and what their containers used, over the last `window` seconds.

    `at` is the end of the window in seconds since 1970, now if it is None; `at_peak` takes the busiest of several windows.
    `prometheus` is an address, NAMESPACE/SERVICE[:PORT] of the cluster, or `discover`. `traffic` is a preset (istio, istio-bytes,
    linkerd, hubble, hubble-flows, caretta, otel), `auto` for the one that is there, `none`, or a `TrafficQuery`.
    """
    client = Client.connect(context=context, kubeconfig=kubeconfig)
    settings = MeasurementSettings(traffic=traffic, window=window, usage=usage)
    objects = read_objects(client, namespaces)
    return MeasurementRequest(prometheus=prometheus, settings=settings).of(objects, client, namespaces, at=at)
