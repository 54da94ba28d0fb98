"""Which workload a measured name belongs to: by the owners that Kubernetes states, never by the form of a name.

A name that several workloads could have is attributed to none.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

K = TypeVar("K", bound=str | tuple[str, str])


class KnownPod(NamedTuple):
    """One pod of the cluster, and what owns it."""

    namespace: str
    name: str
    workload: str  # as the snapshot calls it
    owners: tuple[tuple[str, str], ...] = ()  # (kind, name) from the pod up: ReplicaSet, Deployment
    labels: Mapping[str, str] = {}


class KnownService(NamedTuple):
    """One Service of the cluster."""

    namespace: str
    name: str
    selector: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownWorkloads:
    """Every name under which a workload of the cluster may be measured."""

    pods: Mapping[tuple[str, str], str] = field(default_factory=dict)  # (namespace, pod) -> workload
    owners: Mapping[tuple[str, str, str], str] = field(default_factory=dict)  # (namespace, kind in lower case, name) -> workload
    named: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)  # (namespace, owner of any kind) -> workloads
    services: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)  # (namespace, Service) -> those it selects
    anywhere: Mapping[str, frozenset[str]] = field(default_factory=dict)  # owner or Service of any namespace -> workloads
    scope: frozenset[str] = frozenset()  # the namespaces that were collected; empty: all of them

    @classmethod
    def of(
        cls, pods: Iterable[KnownPod], services: Iterable[KnownService] = (), *, scope: Iterable[str] = ()
    ) -> "KnownWorkloads":
        """The names of these pods, of what owns them, and of the Services that select them, in these namespaces."""
        inside = frozenset(scope)
        listed = [pod for pod in pods if not inside or pod.namespace in inside]
        owners: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        named: dict[tuple[str, str], set[str]] = defaultdict(set)
        for pod in listed:
            for kind, name in pod.owners:
                owners[pod.namespace, kind.lower(), name].add(pod.workload)
                named[pod.namespace, name].add(pod.workload)
        selected = _selected(listed, services)
        anywhere: dict[str, set[str]] = defaultdict(set)
        for (_, name), workloads in (*named.items(), *selected.items()):
            anywhere[name] |= workloads
        return cls(
            pods={(pod.namespace, pod.name): pod.workload for pod in listed},
            owners={key: next(iter(workloads)) for key, workloads in owners.items() if len(workloads) == 1},
            named=_frozen(named),
            services=_frozen(selected),
            anywhere=_frozen(anywhere),
            scope=inside,
        )

    def concerns(self, *namespaces: str) -> bool:
        """Is one of these namespaces collected, or none of them known?"""
        named = [namespace for namespace in namespaces if namespace]
        return not self.scope or not named or any(namespace in self.scope for namespace in named)

    def workload(self, namespace: str, name: str, kind: str = "") -> str | None:
        """The workload that is meant, if exactly one is. Without a namespace, the one in all namespaces that has this name."""
        if not name:
            return None
        if not namespace:
            return _only(self.anywhere.get(name))
        if kind == "Pod":
            return self.pods.get((namespace, name))
        if kind == "Service":
            return _only(self.services.get((namespace, name)))
        if kind:
            return self.owners.get((namespace, kind.lower(), name))
        if (workloads := self.named.get((namespace, name))) is not None:
            return _only(workloads)
        return self.pods.get((namespace, name)) or _only(self.services.get((namespace, name)))


def _selected(pods: Iterable[KnownPod], services: Iterable[KnownService]) -> dict[tuple[str, str], set[str]]:
    """The workloads whose pods each Service selects; one without a selector selects none."""
    by_label: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    listed = list(pods)
    for number, pod in enumerate(listed):
        for key, value in pod.labels.items():
            by_label[pod.namespace, key, value].add(number)
    selected: dict[tuple[str, str], set[str]] = {}
    for service in services:
        if service.selector:
            sets = [by_label.get((service.namespace, key, value), set()) for key, value in service.selector.items()]
            selected[service.namespace, service.name] = {listed[number].workload for number in set.intersection(*sets)}
    return selected


def _frozen(sets: Mapping[K, set[str]]) -> dict[K, frozenset[str]]:
    return {key: frozenset(members) for key, members in sets.items()}


def _only(workloads: frozenset[str] | None) -> str | None:
    """The member of a set of one."""
    return next(iter(workloads)) if workloads is not None and len(workloads) == 1 else None
