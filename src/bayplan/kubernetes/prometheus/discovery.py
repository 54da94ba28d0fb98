"""Prometheus as a Service of the cluster: by its label, or by the names that its charts and its operator give it."""

from collections.abc import Mapping, Sequence
from typing import Any

from bayplan.errors import UsageError
from bayplan.kubernetes.client import Client, Json
from bayplan.kubernetes.prometheus.address import ServerAddress
from bayplan.kubernetes.prometheus.server import HttpTransport, Prometheus, ProxyTransport

DISCOVER = "discover"
_LABEL = "app.kubernetes.io/name=prometheus"
NAMES = (  # best first; the operator's headless Service last, since it stands behind the others
    "prometheus-server",
    "prometheus-k8s",
    "kube-prometheus-stack-prometheus",
    "prometheus-kube-prometheus-prometheus",
    "prometheus",
    "prometheus-operated",
)
_PORTS = ("web", "http-web", "http", "https-web", "https")  # names of ports, best first


def connected(text: str, client: Client | None) -> Prometheus:
    """The server that `--prometheus` names: an address, NAMESPACE/SERVICE[:PORT] of the cluster, or `discover`."""
    if "://" in text:
        return Prometheus(HttpTransport(ServerAddress.parse(text)))
    if client is None:
        raise UsageError(f"--prometheus '{text}' is no address, and there is no cluster to look in: give one, or a --context")
    if text == DISCOVER:
        return discovered(client)
    namespace, slash, service = text.partition("/")
    name, _, port = service.partition(":")
    if not slash or not namespace or not name:
        raise UsageError(f"--prometheus '{text}': expected an address, NAMESPACE/SERVICE[:PORT] or '{DISCOVER}'")
    return _proxied(client, client.get(f"/api/v1/namespaces/{namespace}/services/{name}"), port)


def discovered(client: Client) -> Prometheus:
    """The one Prometheus of a cluster; UsageError if there is none, or more than one."""
    labelled = [each for each in client.list("/api/v1/services", labelSelector=_LABEL).items if _port(each)]
    candidates = _one_each(labelled) or _one_each(_named(client))
    if not candidates:
        raise UsageError(
            f"no Service of the cluster is labelled {_LABEL} or named {', '.join(NAMES)}; give --prometheus an address"
        )
    if len(candidates) > 1:
        names = ", ".join(f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each in candidates)
        raise UsageError(f"the cluster has more than one Prometheus: {names}; name one with --prometheus")
    return _proxied(client, candidates[0], "")


def _named(client: Client) -> list[Json]:
    named = [each for each in client.list("/api/v1/services").items if each["metadata"]["name"] in NAMES]
    return sorted(named, key=lambda service: NAMES.index(service["metadata"]["name"]))


def _one_each(services: Sequence[Json]) -> list[Json]:
    """One Service for each server: those that select the same pods, or stand beside a headless one, are the same."""
    chosen: dict[tuple[str, ...], Json] = {}
    for service in sorted(services, key=_headless):
        namespace, selector = service["metadata"]["namespace"], service["spec"].get("selector") or {}
        if _headless(service) and any(key[0] == namespace for key in chosen):
            continue
        chosen.setdefault((namespace, *(f"{key}={value}" for key, value in sorted(selector.items()))), service)
    return list(chosen.values())


def _headless(service: Mapping[str, Any]) -> bool:
    return bool(service["spec"].get("clusterIP") == "None")


def _proxied(client: Client, service: Json, port: str) -> Prometheus:
    namespace, name = service["metadata"]["namespace"], service["metadata"]["name"]
    chosen = port or _port(service)
    if not chosen:
        raise UsageError(f"Service {namespace}/{name} has no port that can be Prometheus'; name it: {namespace}/{name}:PORT")
    return Prometheus(ProxyTransport(client, namespace, name, chosen))


def _port(service: Mapping[str, Any]) -> str:
    """Its port by name or number: the one whose name says so, 9090, or the only one; nothing if none is clear."""
    ports = service["spec"].get("ports") or []
    by_name = {port.get("name", ""): port for port in ports}
    named = [by_name[name] for name in _PORTS if name in by_name]
    numbered = [port for port in ports if port["port"] == 9090]
    chosen = next(iter([*named, *numbered, *(ports if len(ports) == 1 else [])]), None)
    return "" if chosen is None else str(chosen["port"])
