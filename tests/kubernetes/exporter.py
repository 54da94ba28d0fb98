"""Series in the shapes of service meshes, network observers and kubelets, whose values are functions of time.

They are served on loopback for a Prometheus to scrape (`exporter`), or written down for a whole span of time at once
(`openmetrics`), which `promtool` turns into the history of a Prometheus. A counter is its rate times the time, so what a test
puts in is what it must measure.
"""

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

EPOCH = 1_700_000_000.0  # counters are zero then


class Series(NamedTuple):
    """One series: a metric, its labels, and its value at a time."""

    metric: str
    labels: Mapping[str, str]
    value: Callable[[float], float]
    counter: bool = True


class Place(NamedTuple):
    """One end of traffic: a workload of the cluster, a Service, or something outside."""

    namespace: str
    name: str
    kind: str = "Deployment"


class PodUsage(NamedTuple):
    """What a pod uses: cpu is a wave around its mean, memory is constant."""

    cpu: float  # cores
    memory: float  # bytes
    wave: float = 0.0  # cores above and below the mean
    period: float = 3600.0  # seconds of one wave


Edges = Mapping[tuple[Place, Place], float]
OUTSIDE = Place("", "unknown", "")


def rate(per_second: float) -> Callable[[float], float]:
    """A counter that grows evenly."""
    return lambda at: per_second * max(0.0, at - EPOCH)


def istio(edges: Edges) -> list[Series]:
    """Both proxies count every request, and its bytes: a tenth at the source is answered with an error."""
    return [
        Series("istio_requests_total", {**_istio_ends(a, b), "reporter": reporter, "response_code": code}, rate(share * amount))
        for (a, b), amount in edges.items()
        for reporter in _istio_reporters(a, b)
        for code, share in (("200", 0.9), ("503", 0.1))
    ]


def istio_bytes(edges: Edges) -> list[Series]:
    """A request of one part in four, a response of one in two, the rest as TCP in both directions."""
    shares = {
        "istio_request_bytes_sum": 0.25,
        "istio_response_bytes_sum": 0.5,
        "istio_tcp_sent_bytes_total": 0.2,
        "istio_tcp_received_bytes_total": 0.05,
    }
    return [
        Series(metric, {**_istio_ends(a, b), "reporter": reporter}, rate(share * amount))
        for (a, b), amount in edges.items()
        for reporter in _istio_reporters(a, b)
        for metric, share in shares.items()
    ]


def _istio_ends(source: Place, destination: Place) -> dict[str, str]:
    return {
        "source_workload": source.name,
        "source_workload_namespace": source.namespace or "unknown",
        "destination_workload": destination.name,
        "destination_workload_namespace": destination.namespace or "unknown",
        "destination_service": f"{destination.name}.{destination.namespace}.svc.cluster.local",
    }


def _istio_reporters(source: Place, destination: Place) -> list[str]:
    """An end outside of the mesh has no proxy that counts."""
    ends = {"source": source, "destination": destination}
    return [reporter for reporter, end in ends.items() if end != OUTSIDE]


def linkerd(edges: Edges, *, metric: str = "response_total") -> list[Series]:
    """The client's proxy counts outbound, the server's inbound, which must not count twice; each client has two pods."""
    outbound = [
        Series(
            metric,
            {**_linkerd_end("", a), "pod": f"{a.name}-{pod}", **_linkerd_end("dst_", b), "direction": "outbound"},
            rate(amount / 2),
        )
        for (a, b), amount in edges.items()
        for pod in ("x1", "x2")
    ]
    inbound = [
        Series(metric, {**_linkerd_end("", b), "client": a.name, "direction": "inbound"}, rate(amount))
        for (a, b), amount in edges.items()
    ]
    return outbound + inbound


def _linkerd_end(prefix: str, place: Place) -> dict[str, str]:
    if place == OUTSIDE:
        return {}
    label = {"Service": "service", "Job": "k8s_job"}.get(place.kind, place.kind.lower())
    return {f"{prefix}namespace": place.namespace, f"{prefix}{label}": place.name}


def hubble(edges: Edges, *, metric: str = "hubble_http_requests_total", context: str = "labels") -> list[Series]:
    """As httpV2 or the older http count; `context`: "labels" (labelsContext), "workload" or "workload-name" (sourceContext)."""
    flow = metric == "hubble_flows_processed_total"
    own: list[dict[str, str]] = (
        [{"verdict": "FORWARDED", "subtype": "to-endpoint", "type": "Trace", "protocol": "TCP"}]
        if flow
        else [
            {"method": "GET", "protocol": "HTTP/1.1", "status": "200", "reporter": reporter} for reporter in ("client", "server")
        ]
    )
    counted = [
        Series(metric, {**_hubble_end("source", a, context), **_hubble_end("destination", b, context), **labels}, rate(amount))
        for (a, b), amount in edges.items()
        for labels in own
    ]
    if not flow:
        return counted
    ignored = {
        "verdict": "FORWARDED",
        "subtype": "from-endpoint",
        "type": "Trace",
        "protocol": "TCP",
    }  # the same event, seen at its start
    return counted + [Series(metric, {**one.labels, **ignored}, one.value) for one in counted]


def _hubble_end(end: str, place: Place, context: str) -> dict[str, str]:
    if place == OUTSIDE:
        return {end: "reserved:world"} if context != "labels" else {}
    if context == "workload":
        return {end: f"{place.namespace}/{place.name}"}
    if context == "workload-name":
        return {end: place.name, f"{end}_namespace": place.namespace}
    return {f"{end}_namespace": place.namespace, f"{end}_workload": place.name}


def caretta(edges: Edges) -> list[Series]:
    """The client's node sees what the client sends, a quarter; the server's node what the server sends."""
    return [
        Series(
            "caretta_links_observed",
            {
                **_caretta_end("client", a),
                **_caretta_end("server", b),
                "server_port": "8080",
                "role": role,
                "link_id": f"{a}{b}{role}",
            },
            rate(share * amount),
            counter=False,  # a gauge by its type, that only grows
        )
        for (a, b), amount in edges.items()
        for role, share in (("1", 0.25), ("2", 0.75))
    ]


def _caretta_end(end: str, place: Place) -> dict[str, str]:
    if place == OUTSIDE:
        return {f"{end}_namespace": "external", f"{end}_name": "203.0.113.7", f"{end}_kind": "external"}
    return {f"{end}_namespace": place.namespace, f"{end}_name": place.name, f"{end}_kind": place.kind}


def otel(edges: Edges, *, metric: str = "traces_service_graph_request_total", dimensions: bool = False) -> list[Series]:
    """Names of services only, as by default; with `dimensions` the namespace and the owner too."""
    return [
        Series(
            metric,
            {**_otel_end("client", a, dimensions), **_otel_end("server", b, dimensions), "connection_type": ""},
            rate(amount),
        )
        for (a, b), amount in edges.items()
    ]


def _otel_end(end: str, place: Place, dimensions: bool) -> dict[str, str]:
    name = "user" if place == OUTSIDE else place.name
    if not dimensions or place == OUTSIDE:
        return {end: name}
    return {end: name, f"{end}_k8s_namespace_name": place.namespace, f"{end}_k8s_{place.kind.lower()}_name": place.name}


SHAPES: Mapping[str, Callable[[Edges], list[Series]]] = {  # preset -> its series
    "istio": istio,
    "istio-bytes": istio_bytes,
    "linkerd": linkerd,
    "hubble": hubble,
    "hubble-flows": lambda edges: hubble(edges, metric="hubble_flows_processed_total"),
    "caretta": caretta,
    "otel": otel,
}


def cadvisor(pods: Mapping[tuple[str, str], PodUsage]) -> list[Series]:
    """Two containers in each pod, three quarters and one; the pod's own total and the pause container, which must not count."""
    series = []
    for (namespace, pod), used in pods.items():
        for container, share in (("app", 0.75), ("sidecar", 0.25), ("", 1.0), ("POD", 0.001)):
            labels = {"namespace": namespace, "pod": pod, "container": container, "node": "n", "id": f"/{pod}/{container}"}
            series.append(Series("container_cpu_usage_seconds_total", labels, _cpu(used, share)))
            series.append(
                Series("container_memory_working_set_bytes", labels, lambda at, u=used, s=share: u.memory * s, counter=False)
            )
    return series


def _cpu(used: PodUsage, share: float) -> Callable[[float], float]:
    """The seconds used so far: the integral of mean + wave * sin."""
    turn = 2 * math.pi / used.period
    return lambda at: share * (used.cpu * (at - EPOCH) + used.wave / turn * (1 - math.cos(turn * (at - EPOCH))))


def exposition(series: Iterable[Series], at: float) -> str:
    """What a scrape at this time reads."""
    return "".join(f"{one.metric}{{{_written(one.labels)}}} {one.value(at)!r}\n" for one in series)


def openmetrics(series: Sequence[Series], start: float, end: float, step: float) -> Iterator[str]:
    """All samples of a span of time, for `promtool tsdb create-blocks-from openmetrics`."""
    times = [start + step * number for number in range(int((end - start) / step) + 1)]
    for metric in dict.fromkeys(one.metric for one in series):
        yield f"# TYPE {metric} unknown\n"
        for one in series:
            if one.metric == metric:
                name = f"{metric}{{{_written(one.labels)}}}"
                yield from (f"{name} {one.value(at)!r} {at:.3f}\n" for at in times)
    yield "# EOF\n"


def _written(labels: Mapping[str, str]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items() if value)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


@contextmanager
def exporter(series: Callable[[], Iterable[Series]], clock: Callable[[], float] = time.time) -> Iterator[str]:
    """Serves series at `/metrics` of an address on loopback, HOST:PORT, until the block ends; asked anew for each scrape."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = exposition(series(), clock()).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
