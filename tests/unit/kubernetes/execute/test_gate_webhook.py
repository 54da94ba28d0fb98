"""The webhook: which new pods wait, what the API server is told, and that no pod is ever refused."""

import base64
import http.client
import json
import ssl

import pytest
from tests.builders.certificates import self_signed
from tests.builders.live_pods import MemoryClient, raw_pod, reserved

from bayplan.errors import InputError, UsageError
from bayplan.kubernetes.execute.gate_webhook import GateAnswers, WebhookAddress, WebhookSettings, answering
from bayplan.kubernetes.execute.gates import EveryGate, Gates
from bayplan.kubernetes.execute.reservation import PodReservation

V1 = "/apis/admissionregistration.k8s.io/v1"
HELD = PodReservation(name="12-abc", until=1000.0, pods=(reserved("a", owner="rs-1"),))
ADDRESS = WebhookAddress(reach="tools/bayplan:9443", authority="PEM")


def review(pod):
    return json.dumps({"request": {"uid": "u-1", "namespace": "shop", "object": pod}}).encode()


def patch_of(pod, *, held=HELD, now=500.0):
    """The patch that a pod gets; None if it gets none."""
    answer = GateAnswers(lambda holder: held, clock=lambda: now).answer("bayplan-steer-12-abc", review(pod))
    response = answer.body["response"]
    assert response["allowed"] and response["uid"] == "u-1"
    assert answer.said["gated"] is ("patch" in response)
    return json.loads(base64.b64decode(response["patch"])) if "patch" in response else None


def test_a_new_pod_of_a_controller_that_is_moved_waits():
    gate = {"name": "bayplan.io/steer"}
    assert patch_of(raw_pod("new", owner="rs-1")) == [{"op": "add", "path": "/spec/schedulingGates", "value": [gate]}]


def test_gates_of_others_stay():
    pod = raw_pod("new", owner="rs-1")
    pod["spec"]["schedulingGates"] = [{"name": "theirs"}]
    (change,) = patch_of(pod)
    assert (change["op"], change["path"]) == ("add", "/spec/schedulingGates/-")


@pytest.mark.parametrize(
    ("pod", "options"),
    [
        (raw_pod("new", owner="rs-2"), {}),
        (raw_pod("new", owner="rs-1", gated=True), {}),
        (raw_pod("new", owner="rs-1"), {"now": 1000.0}),
        (raw_pod("new", owner="rs-1"), {"held": None}),
        ({"metadata": {}, "spec": {}}, {}),
    ],
    ids=["of another controller", "gated already", "reservation is over", "reservation is gone", "bare pod"],
)
def test_every_other_pod_is_created_as_it_is(pod, options):
    assert patch_of(pod, **options) is None


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"{", "E2501"), (b"[]", "E2504"), (b'{"request": {"uid": "u", "object": 7}}', "E2504"), (b'{"request": 7}', "E2504")],
)
def test_a_body_that_is_no_review_of_a_pod_is_a_numbered_fault(body, code):
    with pytest.raises(InputError, match=code):
        GateAnswers(lambda holder: HELD).answer("x", body)


def test_the_configuration_asks_about_few_pods_and_fails_open():
    client = MemoryClient()
    Gates(client, ADDRESS).write(HELD)
    ((_, path, written),) = client.changes
    assert path == f"{V1}/mutatingwebhookconfigurations"
    (asked,) = written["webhooks"]
    assert (asked["failurePolicy"], asked["sideEffects"], asked["timeoutSeconds"]) == ("Ignore", "None", 2)
    assert 'o.uid in ["rs-1"]' in asked["matchConditions"][0]["expression"]
    assert asked["namespaceSelector"]["matchExpressions"][0]["values"] == ["shop"]
    service = {"namespace": "tools", "name": "bayplan", "port": 9443, "path": "/gate/bayplan-steer-12-abc"}
    assert asked["clientConfig"] == {"service": service, "caBundle": base64.b64encode(b"PEM").decode()}


def test_an_address_of_ones_own_is_given_with_its_path():
    config = WebhookAddress(reach="https://10.0.0.7:9443/", authority="PEM").client_config("bayplan-steer-x")
    assert config["url"] == "https://10.0.0.7:9443/gate/bayplan-steer-x"


@pytest.mark.parametrize("reach", ["http://plain:80", "service", "a/b/c", "tools/bayplan:port", ""])
def test_an_address_that_is_none_is_refused_with_what_is_expected(reach):
    with pytest.raises(UsageError, match=r"expected NAMESPACE/SERVICE\[:PORT\], or https://HOST:PORT"):
        WebhookAddress(reach=reach, authority="PEM")


def test_missing_certificates_are_named(tmp_path):
    with pytest.raises(UsageError, match=r"cannot read ca\.crt: No such file"):
        WebhookSettings(reach="tools/bayplan", certificates=tmp_path).address()


def test_a_server_without_policies_keeps_reservations_on_webhooks():
    holder = {"metadata": {"name": "bayplan-steer-12-abc", "resourceVersion": "4", "annotations": {}}}
    written = MemoryClient()
    Gates(written, ADDRESS).write(HELD)
    holder["metadata"]["annotations"] = written.changes[0][2]["metadata"]["annotations"]
    path = f"{V1}/mutatingwebhookconfigurations"
    client = MemoryClient(**{path: [holder], f"{path}/bayplan-steer-12-abc": holder})
    assert [each.pods for each in Gates(client, ADDRESS).reservations()] == [HELD.pods]
    assert Gates(client, ADDRESS).held_by("bayplan-steer-12-abc").name == "12-abc"
    assert EveryGate(client).objects() == [f"{path}/bayplan-steer-12-abc"]


def test_api_servers_are_answered_over_https(tmp_path):
    certificate, _ = self_signed(tmp_path)
    settings = WebhookSettings(reach="tools/bayplan", certificates=tmp_path, listen="127.0.0.1:0")
    log = []
    with answering(settings, lambda holder: HELD, lambda event, fields: log.append((event, fields["pod"]))) as server:
        context = ssl.create_default_context(cafile=certificate)
        connection = http.client.HTTPSConnection("localhost", server.server_address[1], context=context, timeout=10)
        connection.request("POST", "/gate/bayplan-steer-12-abc?timeout=2s", review(raw_pod("new", owner="rs-2")))
        answer = connection.getresponse()
        assert answer.status == 200 and json.loads(answer.read())["response"] == {"uid": "u-1", "allowed": True}
        connection.close()
    assert log == [("answered", "shop/new")]
