"""What the placement of a pod depends on, as one value that all pods share that agree in it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from bayplan.kubernetes.client import Json
from bayplan.kubernetes.collect.requests import PODS, pod_request
from bayplan.kubernetes.collect.selectors import LabelSelector
from bayplan.kubernetes.marks import GATE, PINNED

CRITICAL = ("system-cluster-critical", "system-node-critical")
EVERY_ADDRESS = "0.0.0.0"
HIGHEST_OF_USERS = 1_000_000_000  # priorities above are those of the system


class PodTerm(NamedTuple):
    """A required term of pod affinity or anti-affinity: which pods are meant, and in which domain."""

    key: str  # of the topology
    selector: LabelSelector
    namespaces: frozenset[str]
    namespace_selector: LabelSelector

    @property
    def words(self) -> str:
        """For people: 'app=web by zone'."""
        return f"{self.selector.words} by {self.key}"


class SpreadTerm(NamedTuple):
    """A topology spread constraint that must hold."""

    key: str
    selector: LabelSelector
    limit: int
    min_domains: int
    honor_affinity: bool
    honor_taints: bool


class HostPort(NamedTuple):
    """A port of the node that a pod uses."""

    ip: str
    protocol: str
    port: int

    def conflicts(self, other: "HostPort") -> bool:
        """Can both not be used on one node?"""
        anywhere = EVERY_ADDRESS in (self.ip, other.ip)
        return self.port == other.port and self.protocol == other.protocol and (anywhere or self.ip == other.ip)


@dataclass(frozen=True, slots=True, kw_only=True)
class PodFacts:
    """What placement depends on, in what a pod states. Texts are JSON as the API has it."""

    namespace: str
    request: tuple[tuple[str, int], ...]  # base units; one of "pods" among them
    node_selector: str = "{}"
    node_terms: str = ""  # the terms of the required node affinity; empty if there is none
    tolerations: str = "[]"
    os: str = ""
    together: tuple[PodTerm, ...] = ()
    apart: tuple[PodTerm, ...] = ()
    spread: tuple[SpreadTerm, ...] = ()
    ports: frozenset[HostPort] = frozenset()
    scheduler: str = "default-scheduler"
    priority: int = 0
    critical: bool = False
    refused: tuple[str, ...] = ()  # what the model has no rule for

    @property
    def label_keys(self) -> frozenset[str]:
        """The labels of pods that its terms ask about."""
        terms: Iterable[PodTerm | SpreadTerm] = (*self.together, *self.apart, *self.spread)
        return frozenset(key for term in terms for key in term.selector.keys)


class PodReader:
    """Reads facts from pods. Pods that state the same get the same value, and are read once."""

    def __init__(self) -> None:
        self._by_text: dict[str, PodFacts] = {}
        self._same: dict[PodFacts, PodFacts] = {}

    def facts(self, pod: Json, *, stays: bool) -> PodFacts:
        """The facts of a pod. Of one that stays where it is, what keeps it from other nodes is left out."""
        text = _text(pod, stays)
        facts = self._by_text.get(text)
        if facts is None:
            facts = _facts(pod, stays)
            facts = self._same.setdefault(facts, facts)
            self._by_text[text] = facts
        return facts

    @property
    def all(self) -> Sequence[PodFacts]:
        """Every distinct value that was read."""
        return tuple(self._same)


def _text(pod: Json, stays: bool) -> str:
    """All that the facts are read from, as one text."""
    spec, status, metadata = pod["spec"], pod.get("status") or {}, pod["metadata"]
    own = [value for key, value in spec.items() if key not in ("nodeName", *(_AWAY if stays else ()))]
    resizing = [one.get("reason") for one in status.get("conditions") or () if one.get("type") == "PodResizePending"]
    states = [status.get(key) for key in ("containerStatuses", "initContainerStatuses", "resources", "allocatedResources")]
    keyed = (
        [metadata.get("labels")] if any(one.get("matchLabelKeys") for one in spec.get("topologySpreadConstraints") or ()) else []
    )
    anti = _anti_affinity(spec) if stays else None
    return json.dumps([stays, metadata.get("namespace"), list(spec), own, anti, states, resizing, keyed, _pinned(metadata)])


_AWAY = ("affinity", "nodeSelector", "tolerations", "topologySpreadConstraints", "volumes")  # of no interest where a pod stays


def _anti_affinity(spec: Json) -> Sequence[Json]:
    anti = (spec.get("affinity") or {}).get("podAntiAffinity") or {}
    terms: Sequence[Json] = anti.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    return terms


def _facts(pod: Json, stays: bool) -> PodFacts:
    spec, metadata = pod["spec"], pod["metadata"]
    namespace = str(metadata.get("namespace", ""))
    request = {**pod_request(pod, f"pod {namespace}/{metadata['name']}"), PODS: 1}
    priority = int(spec.get("priority") or 0)
    always = PodFacts(
        namespace=namespace,
        request=tuple(sorted((name, amount) for name, amount in request.items() if amount)),
        apart=tuple(_term(one, namespace) for one in _anti_affinity(spec)),
        ports=frozenset(_ports(spec)),
        scheduler=str(spec.get("schedulerName") or "default-scheduler"),
        priority=priority,
        critical=priority > HIGHEST_OF_USERS or spec.get("priorityClassName") in CRITICAL,
    )
    return always if stays else _with_constraints(always, spec, metadata)


def _with_constraints(always: PodFacts, spec: Json, metadata: Json) -> PodFacts:
    """The facts with what decides on which nodes a pod can run."""
    affinity = spec.get("affinity") or {}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = _node_terms((affinity.get("nodeAffinity") or {}).get(required), _pinned(metadata))
    labels: Mapping[str, str] = metadata.get("labels") or {}
    return replace(
        always,
        node_selector=json.dumps(spec.get("nodeSelector") or {}, sort_keys=True),
        node_terms="" if terms is None else json.dumps(terms, sort_keys=True),
        tolerations=json.dumps(spec.get("tolerations") or [], sort_keys=True),
        os=str((spec.get("os") or {}).get("name") or ""),
        together=tuple(_term(one, always.namespace) for one in (affinity.get("podAffinity") or {}).get(required) or ()),
        spread=tuple(_spread(spec.get("topologySpreadConstraints") or (), labels)),
        refused=tuple(_refused(spec)),
    )


def _pinned(metadata: Json) -> str:
    """The node that we tied the pod to; empty if we did not."""
    return str((metadata.get("annotations") or {}).get(PINNED, ""))


def _node_terms(required: Json | None, pinned: str) -> Sequence[Json] | None:
    """The terms that its owner states: what we have added to tie it to a node does not count. None: there are none."""
    if required is None:
        return None
    terms: Sequence[Json] = required.get("nodeSelectorTerms") or []
    if not pinned:
        return terms
    ours = {"key": "metadata.name", "operator": "In", "values": [pinned]}
    stated = [{**term, "matchFields": [one for one in term.get("matchFields") or () if one != ours]} for term in terms]
    return [term for term in stated if term["matchFields"] or term.get("matchExpressions")] or None


def _term(stated: Json, namespace: str) -> PodTerm:
    named, selector = stated.get("namespaces") or (), stated.get("namespaceSelector")
    return PodTerm(
        key=str(stated.get("topologyKey")),
        selector=LabelSelector.of(stated.get("labelSelector")),
        namespaces=frozenset(named) if named or selector is not None else frozenset({namespace}),
        namespace_selector=LabelSelector.of(selector),
    )


def _spread(stated: Sequence[Json], labels: Mapping[str, str]) -> Iterable[SpreadTerm]:
    for one in stated:
        if one.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule":
            merged = {key: labels[key] for key in one.get("matchLabelKeys") or () if key in labels}
            yield SpreadTerm(
                key=str(one.get("topologyKey")),
                selector=LabelSelector.of(one.get("labelSelector")).with_labels(merged),
                limit=int(one["maxSkew"]),
                min_domains=int(one.get("minDomains") or 1),
                honor_affinity=one.get("nodeAffinityPolicy", "Honor") == "Honor",
                honor_taints=one.get("nodeTaintsPolicy", "Ignore") == "Honor",
            )


def _ports(spec: Json) -> Iterable[HostPort]:
    """The ports of the node that containers and sidecars use."""
    sidecars = [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
    for container in (*(spec.get("containers") or ()), *sidecars):
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                yield HostPort(port.get("hostIP") or EVERY_ADDRESS, port.get("protocol") or "TCP", int(port["hostPort"]))


_VOLUMES = ("persistentVolumeClaim", "hostPath", "nfs", "cephfs", "glusterfs", "azureFile", "fc", "flexVolume", "gitRepo")
_KNOWN_VOLUMES = (*_VOLUMES, "configMap", "downwardAPI", "emptyDir", "image", "projected", "secret")


def _refused(spec: Json) -> Iterable[str]:
    """What the model has no rule for, in words."""
    if spec.get("resourceClaims"):
        yield "it has resource claims (dynamic resource allocation)"
    if spec.get("schedulingGroup") or spec.get("workloadRef"):
        yield "it is scheduled as part of a group"
    gates = [str(one.get("name")) for one in spec.get("schedulingGates") or () if one.get("name") != GATE]
    if gates:
        yield f"it waits for the scheduling gate {gates[0]}"
    for volume in spec.get("volumes") or ():
        if not any(key in volume for key in _KNOWN_VOLUMES):
            kind = next((key for key in volume if key != "name"), "unknown")
            yield f"its volume '{volume.get('name')}' is of the kind {kind}"
