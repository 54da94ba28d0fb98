"""Where traffic is measured: the metrics of service meshes and network observers, and which labels name its two ends.

A preset is data: metrics, a filter, the labels of both ends, a unit. `docs/kubernetes/traffic.md` says what each measures.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from bayplan.errors import UsageError
from bayplan.kubernetes.prometheus.server import promql_time

ANY = ""  # a workload, a pod or a Service: whichever has that name


class EndLabels(NamedTuple):
    """The labels that name one end of traffic."""

    namespace: str  # label; "": the name stands alone
    name: str  # label
    kind: str = ANY  # a kind of Kubernetes: "Deployment", "Pod", "Service"
    kind_label: str = ""  # the label that has the kind

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that are read."""
        return tuple(label for label in (self.namespace, self.name, self.kind_label) if label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One product's way to measure traffic."""

    about: str  # one line, for `--help`
    metrics: tuple[tuple[str, ...], ...]  # alternatives, the first that has series is used; the counters of one are added up
    unit: str
    source: tuple[EndLabels, ...]  # the first of which the name is not empty counts
    destination: tuple[EndLabels, ...]
    matching: str = ""  # label matchers: which series count
    reporter: str = ""  # label of which end counted it: both may, so the larger of their counts is taken
    virtual: tuple[str, str] | None = None  # label and value of series whose destination is no workload
    setup: str = ""  # what to turn on if the ends have no names

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that its queries keep."""
        read = [label for end in (*self.source, *self.destination) for label in end.labels]
        return tuple(dict.fromkeys([*read, *(self.virtual or ())[:1]]))

    def selector(self, metric: str) -> str:
        """Its series of one metric."""
        return f"{metric}{{{self.matching}}}" if self.matching else metric

    def query(self, metric: str, window: float) -> str:
        """The rate between each pair of ends, per second over the window."""
        rate = f"rate({self.selector(metric)}[{promql_time(window)}])"
        if not self.reporter:
            return f"sum by ({', '.join(self.labels)}) ({rate})"
        return f"max without ({self.reporter}) (sum by ({', '.join((*self.labels, self.reporter))}) ({rate}))"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficQuery:
    """An expression of the user's own, whose series are pairs of ends."""

    expression: str  # `$window` stands for the window
    labels: tuple[str, str, str, str]  # namespace and name of the source, namespace and name of the destination

    @classmethod
    def parse(cls, expression: str, labels: str) -> "TrafficQuery":
        """The options `--traffic-query` and `--traffic-labels`."""
        names = [name.strip() for name in labels.split(",")]
        if len(names) != 4 or not names[1] or not names[3]:
            raise UsageError(
                f"--traffic-labels '{labels}': expected four labels, source_namespace,source,destination_namespace,destination; "
                "a namespace may be left empty"
            )
        return cls(expression=expression, labels=(names[0], names[1], names[2], names[3]))

    def query(self, window: float) -> str:
        """The expression for this window."""
        return self.expression.replace("$window", promql_time(window))


_LINKERD_KINDS = {
    "deployment": "Deployment",
    "statefulset": "StatefulSet",
    "daemonset": "DaemonSet",
    "replicaset": "ReplicaSet",
    "replicationcontroller": "ReplicationController",
    "k8s_job": "Job",
}
_OTEL_KINDS = {"deployment": "Deployment", "statefulset": "StatefulSet", "daemonset": "DaemonSet", "job": "Job"}
_ISTIO_SOURCE = (EndLabels("source_workload_namespace", "source_workload"),)
_ISTIO_DESTINATION = (EndLabels("destination_workload_namespace", "destination_workload"),)


def _linkerd(prefix: str) -> tuple[EndLabels, ...]:
    return tuple(EndLabels(f"{prefix}namespace", f"{prefix}{label}", kind) for label, kind in _LINKERD_KINDS.items())


def _hubble(end: str) -> tuple[EndLabels, ...]:
    return (
        EndLabels(f"{end}_namespace", f"{end}_workload", kind_label=f"{end}_workload_kind"),
        EndLabels(f"{end}_namespace", f"{end}_pod", "Pod"),
        EndLabels(f"{end}_namespace", end),
    )


def _otel(end: str) -> tuple[EndLabels, ...]:
    owners = (EndLabels(f"{end}_k8s_namespace_name", f"{end}_k8s_{label}_name", kind) for label, kind in _OTEL_KINDS.items())
    return (*owners, EndLabels(f"{end}_k8s_namespace_name", end))


_HUBBLE_SETUP = "labelsContext=source_namespace,source_workload,destination_namespace,destination_workload"

PRESETS: Mapping[str, Preset] = {
    "istio": Preset(
        about="Istio: HTTP and gRPC requests, as either proxy counted them",
        metrics=(("istio_requests_total",),),
        unit="requests/s",
        source=_ISTIO_SOURCE,
        destination=_ISTIO_DESTINATION,
        reporter="reporter",
    ),
    "istio-bytes": Preset(
        about="Istio: bytes of requests, responses and TCP connections",
        metrics=(
            (
                "istio_request_bytes_sum",
                "istio_response_bytes_sum",
                "istio_tcp_sent_bytes_total",
                "istio_tcp_received_bytes_total",
            ),
        ),
        unit="bytes/s",
        source=_ISTIO_SOURCE,
        destination=_ISTIO_DESTINATION,
        reporter="reporter",
    ),
    "linkerd": Preset(
        about="Linkerd: responses to requests, as the client's proxy counted them",
        metrics=(("response_total",), ("request_total",)),
        unit="requests/s",
        matching='direction="outbound"',
        source=_linkerd(""),
        destination=(*_linkerd("dst_"), EndLabels("dst_namespace", "dst_service", "Service")),
        setup="the labels of linkerd.io/proxy-* on pods, mapped by Prometheus' relabel rules",
    ),
    "hubble": Preset(
        about="Cilium Hubble: HTTP requests",
        metrics=(("hubble_http_requests_total",),),
        unit="requests/s",
        source=_hubble("source"),
        destination=_hubble("destination"),
        reporter="reporter",
        setup=f"httpV2:{_HUBBLE_SETUP} in hubble.metrics.enabled",
    ),
    "hubble-flows": Preset(
        about="Cilium Hubble: network events that reached a container, of any protocol",
        metrics=(("hubble_flows_processed_total",),),
        unit="flows/s",
        matching='verdict="FORWARDED", subtype="to-endpoint"',
        source=_hubble("source"),
        destination=_hubble("destination"),
        setup=f"flow:{_HUBBLE_SETUP} in hubble.metrics.enabled",
    ),
    "caretta": Preset(
        about="Caretta: bytes that both ends sent, seen by eBPF",
        metrics=(("caretta_links_observed",),),
        unit="bytes/s",
        source=(EndLabels("client_namespace", "client_name", kind_label="client_kind"),),
        destination=(EndLabels("server_namespace", "server_name", kind_label="server_kind"),),
    ),
    "otel": Preset(
        about="OpenTelemetry or Tempo service graphs: requests seen in traces",
        metrics=(("traces_service_graph_request_total",), ("servicegraph_traces_service_graph_request_total",)),
        unit="requests/s",
        source=_otel("client"),
        destination=_otel("server"),
        virtual=("connection_type", "database"),
    ),
}
AUTO = "auto"  # the one preset whose metric is there
NONE = "none"  # traffic is not measured
