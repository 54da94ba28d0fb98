"""What is put on the API server to let new pods of a few controllers wait: a policy, or the configuration of a webhook."""

import re

from bayplan.kubernetes.client import Json
from bayplan.kubernetes.execute.reservation import PodReservation
from bayplan.kubernetes.marks import GATE, MANAGED_BY, OURS

GROUP = "admissionregistration.k8s.io"
POLICIES, BINDINGS = "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"
WEBHOOKS = "mutatingwebhookconfigurations"
SECONDS = 2  # that an API server waits for the answer of a webhook; then the pod is created without it
_GATED = f'Object{{spec: Object.spec{{schedulingGates: [Object.spec.schedulingGates{{name: "{GATE}"}}]}}}}'


def object_name(reservation: str) -> str:
    """The name of the objects that hold a reservation."""
    return f"bayplan-steer-{re.sub('[^a-z0-9-]', '-', reservation.lower()).strip('-')}"


def policy(reservation: PodReservation, version: str) -> Json:
    """The policy that the API server evaluates by itself."""
    matched = {"matchPolicy": "Equivalent", "namespaceSelector": _there(reservation), "resourceRules": [_new_pods()]}
    return {
        "apiVersion": version,
        "kind": "MutatingAdmissionPolicy",
        "metadata": _metadata(reservation),
        "spec": {
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "Never",
            "matchConstraints": matched,
            "matchConditions": [_is_moved(reservation)],
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": _GATED}}],
        },
    }


def binding(reservation: PodReservation, version: str) -> Json:
    """What makes the policy count."""
    metadata = _metadata(reservation)
    spec = {"policyName": metadata["name"]}
    return {"apiVersion": version, "kind": "MutatingAdmissionPolicyBinding", "metadata": metadata, "spec": spec}


def webhook(reservation: PodReservation, client_config: Json) -> Json:
    """The same by asking a process of ours, for servers without policies; those before 1.28 ask about every new pod there."""
    asked = {
        "name": "steer.bayplan.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": client_config,
        "failurePolicy": "Ignore",
        "matchConditions": [_is_moved(reservation)],
        "matchPolicy": "Equivalent",
        "namespaceSelector": _there(reservation),
        "reinvocationPolicy": "Never",
        "rules": [_new_pods()],
        "sideEffects": "None",
        "timeoutSeconds": SECONDS,
    }
    kind = {"apiVersion": f"{GROUP}/v1", "kind": "MutatingWebhookConfiguration"}
    return {**kind, "metadata": _metadata(reservation), "webhooks": [asked]}


def _metadata(reservation: PodReservation) -> Json:
    return {"name": object_name(reservation.name), "labels": {MANAGED_BY: OURS}}


def _there(reservation: PodReservation) -> Json:
    """The namespaces of the reservation."""
    names = sorted(reservation.namespaces) or ["bayplan-none"]
    return {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": names}]}


def _new_pods() -> Json:
    return {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}


def _is_moved(reservation: PodReservation) -> Json:
    """CEL: is the pod's controller one of those whose replicas we move? Names come from the API server: uids, no quotes."""
    owners = ", ".join(f'"{owner}"' for owner in sorted(reservation.owners))
    ours = f"has(o.controller) && o.controller && o.uid in [{owners}]"
    asked = f"has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, {ours})"
    return {"name": "is-moved", "expression": asked if owners else "false"}
