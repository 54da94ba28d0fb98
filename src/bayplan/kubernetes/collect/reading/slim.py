"""Pods without what placement does not depend on; equal parts of their specs are one object in memory."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from bayplan.kubernetes.client import Json

_SPEC = (  # of a pod, kept as they are
    "activeDeadlineSeconds",
    "affinity",
    "hostNetwork",
    "nodeName",
    "nodeSelector",
    "os",
    "overhead",
    "priority",
    "priorityClassName",
    "resourceClaims",
    "resources",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "schedulingGates",
    "schedulingGroup",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
    "workloadRef",
)
_STATUS = ("allocatedResources", "nominatedNodeName", "phase", "reason", "resources", "startTime")
_OWN_CONTENT = ("configMap", "downwardAPI", "emptyDir", "image", "projected", "secret")  # volumes that come with any machine


class SharedSpecs:
    """Makes pods slim. The parts of specs that pods have in common are kept once: replicas differ in little but their names."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def slim_as(self, kind: str) -> Callable[[Json], Json]:
        """What to do with each object of a kind."""
        return self.slim_pod if kind == "Pod" else _without_managed_fields

    def slim_pod(self, pod: Json) -> Json:
        """The pod with the fields that this package reads, in the shape that the API has."""
        spec, status = pod.get("spec") or {}, pod.get("status") or {}
        slim = {key: self._shared(spec[key]) for key in _SPEC if key in spec}
        slim["containers"] = self._shared([_container(one) for one in spec.get("containers") or ()])
        if spec.get("initContainers"):
            slim["initContainers"] = self._shared([_container(one) for one in spec["initContainers"]])
        volumes = [one for one in spec.get("volumes") or () if not any(key in one for key in _OWN_CONTENT)]
        if volumes:
            slim["volumes"] = volumes
        known = {key: self._shared(status[key]) for key in _STATUS if key in status}
        known["conditions"] = [_condition(one) for one in status.get("conditions") or ()]
        for key in ("containerStatuses", "initContainerStatuses"):
            resources = [_resources(one) for one in status.get(key) or () if "resources" in one or "allocatedResources" in one]
            if resources:
                known[key] = self._shared(resources)
        return {"kind": "Pod", "metadata": self._metadata(pod.get("metadata") or {}), "spec": slim, "status": known}

    def _metadata(self, metadata: Json) -> Json:
        slim = {key: value for key, value in metadata.items() if key not in ("managedFields", "generateName", "selfLink")}
        for key in ("labels", "ownerReferences"):
            if key in slim:
                slim[key] = self._shared(slim[key])
        return slim

    def _shared(self, value: Any) -> Any:
        if not isinstance(value, dict | list):
            return value
        return self._known.setdefault(json.dumps(value), value)


def _container(container: Mapping[str, Any]) -> Json:
    slim = {key: container[key] for key in ("name", "resources", "restartPolicy") if key in container}
    ports = [port for port in container.get("ports") or () if port.get("hostPort")]
    return {**slim, "ports": ports} if ports else slim


def _condition(condition: Mapping[str, Any]) -> Json:
    return {key: condition[key] for key in ("type", "status", "reason") if key in condition}


def _resources(status: Mapping[str, Any]) -> Json:
    slim: Json = {key: status[key] for key in ("name", "allocatedResources") if key in status}
    if "resources" in status:
        slim["resources"] = {"requests": (status["resources"] or {}).get("requests") or {}}
    return slim


def _without_managed_fields(item: Json) -> Json:
    item.get("metadata", {}).pop("managedFields", None)
    return item
