"""The gate: a policy of the API server that lets new pods of a few controllers wait for a step of ours.

It names these controllers by their uid, in a literal list: nothing else in the cluster is touched, and a rollout, which has a
ReplicaSet of its own, goes on by itself. If it cannot be evaluated, pods are created without it (`failurePolicy: Ignore`). The
policy carries its reservation as annotations, so whoever comes after us knows for what pods wait, and until when.
"""

import re
from datetime import UTC, datetime

from bayplan.kubernetes.client import Client, Json, RefusedError
from bayplan.kubernetes.execute.marks import GATE, MANAGED_BY, OURS, SELECTOR
from bayplan.kubernetes.execute.reservation import PodReservation, reservation_of
from bayplan.operate.orchestrator import PermanentError

GROUP, POLICIES, BINDINGS = "admissionregistration.k8s.io", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"
SERVED = ("v1", "v1beta1")  # of the group, best first: 1.36; 1.34 where it was switched on
UNTIL, NAME, RESERVED = "bayplan.io/until", "bayplan.io/reservation", "bayplan.io/reserved"
NOT_FOUND, CONFLICT = 404, 409


class GatePolicies:
    """The policies of ours on one API server, one for each reservation."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._version = ""  # of the API group, once it is known

    @property
    def version(self) -> str:
        """The version of the API that the server offers; empty if it offers none."""
        if not self._version:
            self._version = next((version for version in SERVED if self._offers(version)), "")
        return self._version

    def expect_offered(self) -> None:
        """PermanentError if the server has no such policies: then no replica can be steered."""
        if not self.version:
            raise PermanentError(
                "the API server offers no MutatingAdmissionPolicy, so new pods cannot be made to wait for their machine; "
                "expected Kubernetes 1.36 or later, or an earlier one on which it was switched on"
            )

    def _offers(self, version: str) -> bool:
        try:
            resources = self.client.get(f"/apis/{GROUP}/{version}")["resources"]
        except RefusedError as error:
            if error.status != NOT_FOUND:
                raise
            return False
        return any(resource["name"] == POLICIES for resource in resources)

    def reservations(self) -> list[PodReservation]:
        """All that are on the cluster, also those of other processes and those that are overdue."""
        if not self.version:
            return []
        listing = self.client.list(self._path(POLICIES), labelSelector=SELECTOR)
        return [_read(item) for item in listing.items if NAME in (item["metadata"].get("annotations") or {})]

    def reservation(self, name: str) -> PodReservation | None:
        """One of them; None if there is none by that name."""
        if not self.version:
            return None
        try:
            return _read(self.client.get(f"{self._path(POLICIES)}/{object_name(name)}"))
        except RefusedError as error:
            if error.status != NOT_FOUND:
                raise
            return None

    def write(self, reservation: PodReservation) -> PodReservation:
        """Put a reservation on the cluster, or change it; refused (409) if another process has changed it since it was read.

        What is there then, to be changed further.
        """
        self.expect_offered()
        policy = _policy(reservation, f"{GROUP}/{self.version}")
        if reservation.version:
            policy["metadata"]["resourceVersion"] = reservation.version
            written = self.client.replace(f"{self._path(POLICIES)}/{policy['metadata']['name']}", policy)
        else:
            written = self.client.create(self._path(POLICIES), policy)
        try:
            self.client.create(self._path(BINDINGS), _binding(reservation, f"{GROUP}/{self.version}"))
        except RefusedError as error:
            if error.status != CONFLICT:  # it is there already
                raise
        return _read(written)

    def remove(self, name: str) -> None:
        """Take a reservation off the cluster; one that is not there is no fault."""
        for kind in (BINDINGS, POLICIES) if self.version else ():
            self._delete(kind, object_name(name))

    def objects(self) -> list[tuple[str, str]]:
        """Kind and name of everything that is ours, bindings first."""
        kinds = (BINDINGS, POLICIES) if self.version else ()
        listed = [(kind, self.client.list(self._path(kind), labelSelector=SELECTOR)) for kind in kinds]
        return [(kind, item["metadata"]["name"]) for kind, listing in listed for item in listing.items]

    def remove_all(self) -> None:
        """Take everything off that is ours."""
        for kind, name in self.objects():
            self._delete(kind, name)

    def _delete(self, kind: str, name: str) -> None:
        try:
            self.client.delete(f"{self._path(kind)}/{name}")
        except RefusedError as error:
            if error.status != NOT_FOUND:
                raise

    def _path(self, kind: str) -> str:
        return f"/apis/{GROUP}/{self.version}/{kind}"


def object_name(reservation: str) -> str:
    """The name of the objects that hold a reservation."""
    return f"bayplan-steer-{re.sub('[^a-z0-9-]', '-', reservation.lower()).strip('-')}"


def _policy(reservation: PodReservation, version: str) -> Json:
    return {
        "apiVersion": version,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {
            "name": object_name(reservation.name),
            "labels": {MANAGED_BY: OURS},
            "annotations": {
                NAME: reservation.name,
                UNTIL: datetime.fromtimestamp(reservation.until, UTC).isoformat(),
                RESERVED: reservation.to_text(),
            },
        },
        "spec": {
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "Never",
            "matchConstraints": _matched(reservation),
            "matchConditions": [{"name": "is-moved", "expression": _is_moved(reservation)}],
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": _GATED}}],
        },
    }


_GATED = f'Object{{spec: Object.spec{{schedulingGates: [Object.spec.schedulingGates{{name: "{GATE}"}}]}}}}'


def _matched(reservation: PodReservation) -> Json:
    """New pods in the namespaces of the reservation."""
    names = sorted(reservation.namespaces) or ["bayplan-none"]
    there = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": names}
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    return {"matchPolicy": "Equivalent", "namespaceSelector": {"matchExpressions": [there]}, "resourceRules": [rule]}


def _is_moved(reservation: PodReservation) -> str:
    """CEL: is the pod's controller one of those whose replicas we move? Names come from the API server: uids, no quotes."""
    owners = ", ".join(f'"{owner}"' for owner in sorted(reservation.owners))
    if not owners:
        return "false"
    ours = f"has(o.controller) && o.controller && o.uid in [{owners}]"
    return f"has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, {ours})"


def _binding(reservation: PodReservation, version: str) -> Json:
    name = object_name(reservation.name)
    return {
        "apiVersion": version,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name, "labels": {MANAGED_BY: OURS}},
        "spec": {"policyName": name},
    }


def _read(policy: Json) -> PodReservation:
    metadata = policy["metadata"]
    written = metadata["annotations"]
    until = datetime.fromisoformat(written[UNTIL]).timestamp()
    return reservation_of(written[NAME], until, written[RESERVED], metadata["resourceVersion"])
