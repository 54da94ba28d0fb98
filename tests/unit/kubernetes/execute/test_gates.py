"""The policy that lets new pods wait, as it is sent to the API server."""

import pytest
from tests.builders.live_pods import MemoryClient, reserved

from bayplan.kubernetes.execute.gate_objects import object_name
from bayplan.kubernetes.execute.gates import Gates
from bayplan.kubernetes.execute.reservation import PodReservation
from bayplan.operate.orchestrator import PermanentError

V1 = "/apis/admissionregistration.k8s.io/v1"
SERVED = {"resources": [{"name": "mutatingadmissionpolicies"}]}
HELD = PodReservation(name="12-abc", until=1000.0, pods=(reserved("a", owner="rs-1"), reserved("b", owner="rs-2")))


def written(reservation=HELD):
    client = MemoryClient(**{V1: SERVED})
    Gates(client).write(reservation)
    return client.changes


def test_the_policy_names_its_controllers_literally_and_fails_open():
    (_, path, policy), (_, _, binding) = written()
    assert path == f"{V1}/mutatingadmissionpolicies"
    spec = policy["spec"]
    assert 'o.uid in ["rs-1", "rs-2"]' in spec["matchConditions"][0]["expression"]
    assert spec["failurePolicy"] == "Ignore"
    assert spec["matchConstraints"]["namespaceSelector"]["matchExpressions"][0]["values"] == ["shop"]
    assert spec["mutations"][0]["patchType"] == "ApplyConfiguration"
    assert binding["spec"]["policyName"] == policy["metadata"]["name"] == "bayplan-steer-12-abc"
    assert policy["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "bayplan"}


def test_the_policy_carries_its_reservation():
    (_, _, policy), _ = written()
    client = MemoryClient(**{V1: SERVED, f"{V1}/mutatingadmissionpolicies": [{**policy, "metadata": _versioned(policy)}]})
    (read,) = Gates(client).reservations()
    assert (read.name, read.until, read.pods) == (HELD.name, HELD.until, HELD.pods)


def _versioned(policy):
    return {**policy["metadata"], "resourceVersion": "4"}


def test_without_controllers_nothing_waits():
    (_, _, policy), _ = written(PodReservation(name="p", until=1.0))
    assert policy["spec"]["matchConditions"][0]["expression"] == "false"


def test_a_changed_reservation_replaces_the_version_that_was_read():
    changes = written(PodReservation(name="p", until=1.0, version="7"))
    assert [method for method, *_ in changes] == ["PUT", "POST"]
    assert changes[0][2]["metadata"]["resourceVersion"] == "7"


def test_an_older_server_is_asked_for_the_version_that_it_offers():
    policies = Gates(MemoryClient(**{V1.replace("v1", "v1beta1"): SERVED}))
    assert policies.version == "v1beta1"


def test_a_server_without_such_policies_is_refused_with_what_is_needed():
    policies = Gates(MemoryClient())
    with pytest.raises(PermanentError, match=r"expected Kubernetes 1\.36"):
        policies.write(HELD)
    assert policies.reservations() == []
    assert policies.reservation("p") is None
    policies.remove("p")
    assert policies.objects() == []


def test_names_of_objects_are_names_for_kubernetes():
    assert object_name("Plan 7/ü") == "bayplan-steer-plan-7"


def test_what_is_gone_already_is_removed_without_a_word():
    client = MemoryClient(**{V1: SERVED})
    Gates(client).remove("p")
    assert [method for method, *_ in client.changes] == ["DELETE", "DELETE"]
