"""Volumes: on which nodes a pod's claims can be used, and which of them keep a pod where it is."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bayplan.kubernetes.client import Json
from bayplan.kubernetes.collect.nodes import REGION, ZONE, NodeTable
from bayplan.kubernetes.collect.objects import Objects
from bayplan.kubernetes.collect.settings import in_scope
from bayplan.model import BoolArray

_OLD_LABELS = {"failure-domain.beta.kubernetes.io/zone": ZONE, "failure-domain.beta.kubernetes.io/region": REGION}
_UNLIMITED = ("local", "hostPath", "nfs", "fc", "cephfs", "glusterfs", "azureFile", "flexVolume")  # sources that no node limits
_SINGLE = ("ReadWriteOnce", "ReadWriteOncePod")


class Reach(NamedTuple):
    """Where the volumes of a pod can be used."""

    machines: bytes = b""  # a mask of nodes as bytes, so that it can be compared; empty: everywhere
    refused: str = ""  # why that cannot be said
    words: str = ""

    def mask(self) -> BoolArray:
        """(node,) where they can be used."""
        return np.frombuffer(self.machines, dtype=np.bool_)


EVERYWHERE = Reach()


def claims_of(pod: Json) -> tuple[str, ...]:
    """The names of the volume claims that a pod states."""
    volumes = pod["spec"].get("volumes") or ()
    return tuple(one["persistentVolumeClaim"]["claimName"] for one in volumes if one.get("persistentVolumeClaim"))


class Volumes:
    """What is known about volume claims and volumes."""

    def __init__(self, objects: Objects, nodes: NodeTable, scope: Sequence[str]) -> None:
        self._nodes, self._scope = nodes, scope
        self._claims = {_key(one): one for one in objects.of("PersistentVolumeClaim")}
        self._volumes = {one["metadata"]["name"]: one for one in objects.of("PersistentVolume")}
        self._read = {kind: objects.has(kind) for kind in ("PersistentVolumeClaim", "PersistentVolume", "CSINode")}
        self._limited = frozenset(_limited_drivers(objects.of("CSINode")))
        self._users = Counter(
            (str(pod["metadata"].get("namespace", "")), claim) for pod in objects.of("Pod") for claim in set(claims_of(pod))
        )

    def reach(self, namespace: str, claims: Iterable[str]) -> Reach:
        """Where a pod with these claims can run."""
        mask: BoolArray = np.ones(len(self._nodes), dtype=np.bool_)
        names = []
        for claim in claims:
            item = self._claims.get((namespace, claim))
            problem = self._problem(namespace, claim, item)
            if problem or item is None:
                return Reach(refused=problem)
            volume = self._volumes[item["spec"]["volumeName"]]
            mask = mask & self._of_volume(volume)
            names.append(claim)
        if not names or mask.all():
            return EVERYWHERE
        return Reach(
            machines=mask.tobytes(), words=f"volume of claim {namespace}/{names[0]}" + (" and others" if names[1:] else "")
        )

    def _problem(self, namespace: str, claim: str, item: Json | None) -> str:
        """Why a claim keeps a pod where it is; empty if it does not."""
        if item is None:
            unread = not self._read["PersistentVolumeClaim"] or not in_scope(namespace, self._scope)
            return "volume claims were not read" if unread else f"its volume claim '{claim}' does not exist"
        spec = item.get("spec") or {}
        modes = spec.get("accessModes") or ()
        if "ReadWriteOncePod" in modes:
            return f"its volume claim '{claim}' is for one pod at a time"
        if any(mode in _SINGLE for mode in modes) and self._users[namespace, claim] > 1:
            return f"its volume claim '{claim}' is for one node at a time, and another pod uses it"
        if not spec.get("volumeName") or (item.get("status") or {}).get("phase", "Bound") != "Bound":
            return f"its volume claim '{claim}' is not bound"
        volume = self._volumes.get(spec["volumeName"])
        if volume is None:
            return "volumes were not read" if not self._read["PersistentVolume"] else f"the volume of its claim '{claim}' is gone"
        return self._limit(volume.get("spec") or {})

    def _limit(self, spec: Json) -> str:
        """Why it cannot be said whether a node can take one more volume of this kind; empty if it always can."""
        driver = (spec.get("csi") or {}).get("driver")
        if driver is None:
            return "" if any(source in spec for source in _UNLIMITED) else "its volume is of a kind that nodes may limit"
        if not self._read["CSINode"]:
            return f"limits of the volume driver {driver} were not read"
        return f"its volume driver {driver} limits volumes per node" if driver in self._limited else ""

    def _of_volume(self, volume: Json) -> BoolArray:
        """(node,) where a volume can be used: by its node affinity, and by its labels of zone and region."""
        return self._by_affinity(volume) & self._by_labels(volume["metadata"].get("labels") or {})

    def _by_affinity(self, volume: Json) -> BoolArray:
        """Kubernetes asks for labels only: a term that names a node by a field is met by every node."""
        required = (volume["spec"].get("nodeAffinity") or {}).get("required")
        everywhere = np.ones(len(self._nodes), dtype=np.bool_)
        terms = [] if required is None else required.get("nodeSelectorTerms") or []
        if required is None or any(term.get("matchFields") and not term.get("matchExpressions") for term in terms):
            return everywhere
        return self._nodes.labels.selected([{"matchExpressions": term.get("matchExpressions")} for term in terms])

    def _by_labels(self, stated: Mapping[str, str]) -> BoolArray:
        """Nodes in the zone and region that the volume states; those that do not say where they are can use it too."""
        labels, keys = self._nodes.labels, (ZONE, REGION, *_OLD_LABELS)
        mask = np.ones(len(self._nodes), dtype=np.bool_)
        placed = np.any([labels.with_any(key) for key in keys], axis=0)
        for key in stated.keys() & set(keys):
            values = frozenset(part.strip() for part in stated[key].split("__"))
            here = labels.with_any(key, values.__contains__)
            if key in _OLD_LABELS:
                here |= labels.with_any(_OLD_LABELS[key], values.__contains__) & ~labels.with_any(key)
            mask &= here | ~placed
        return mask


def _key(item: Json) -> tuple[str, str]:
    return str(item["metadata"].get("namespace", "")), str(item["metadata"]["name"])


def _limited_drivers(csi_nodes: Iterable[Json]) -> Iterable[str]:
    for node in csi_nodes:
        for driver in (node.get("spec") or {}).get("drivers") or ():
            if (driver.get("allocatable") or {}).get("count") is not None:
                yield str(driver["name"])
