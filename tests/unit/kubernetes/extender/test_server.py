"""The extender over HTTP: right answers quickly, clear errors for everything else, limits that hold."""

import http.client
import json
import socket
import ssl
import threading
from contextlib import contextmanager, suppress

import pytest
from tests.builders.certificates import self_signed

from bayplan.api.machine_scores import LivePlacement, RunningContainer
from bayplan.errors import UsageError, WorldError
from bayplan.kubernetes import json_server
from bayplan.kubernetes.extender import Extender, ExtenderServer

POD = {"metadata": {"name": "api-1", "namespace": "shop", "labels": {"app.kubernetes.io/part-of": "front"}}, "spec": {}}
QUESTION = json.dumps({"Pod": POD, "NodeNames": ["n-0", "n-1"]}).encode()


def extender(ready=True):
    live = LivePlacement(2, candidates="100%")
    live.replace_machines({"n-0": (4000.0, 8.0), "n-1": (4000.0, 8.0)})
    live.set_container("x", RunningContainer(machine="n-1", workload="shop/web", service="shop/front", request=(1.0, 1.0)))
    return Extender(live=live, ready=lambda: ready)


@contextmanager
def serving(decisions=None, **options):
    """A server on a free port, its log."""
    log = []
    answering = ExtenderServer(
        decisions or extender(), "127.0.0.1:0", tell=lambda event, fields: log.append((event, fields)), **options
    )
    thread = threading.Thread(target=answering.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield answering.server_address[1], log
    finally:
        answering.shutdown()
        answering.server_close()
        thread.join()


def ask(connection, verb, body=QUESTION, method="POST", **headers):
    connection.request(method, verb, body, headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


@contextmanager
def connected(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        yield connection
    finally:
        connection.close()


def test_filter_and_prioritize_are_answered_on_one_connection():
    with serving() as (port, log), connected(port) as connection:
        status, result = ask(connection, "/filter")
        assert status == 200 and result["NodeNames"] == ["n-0", "n-1"]
        open_socket = connection.sock
        assert ask(connection, "/prioritize") == (200, [{"Host": "n-0", "Score": 7}, {"Host": "n-1", "Score": 10}])
        assert ask(connection, "/prioritise")[0] == 200 and connection.sock is open_socket
    assert [(event, fields["verb"]) for event, fields in log[:2]] == [("answered", "filter"), ("answered", "prioritize")]
    assert log[0][1]["passed"] == 2 and log[1][1]["preferred"] == "n-1" and log[1][1]["pod"] == "shop/api-1"


@pytest.mark.parametrize("ready", [True, False])
def test_probes_say_whether_it_lives_and_whether_it_knows_the_cluster(ready):
    with serving(extender(ready)) as (port, _), connected(port) as connection:
        assert ask(connection, "/healthz", None, "GET")[0] == 200
        assert ask(connection, "/readyz", None, "GET")[0] == (200 if ready else 503)
        assert ask(connection, "/metrics", None, "GET")[0] == 404


@pytest.mark.parametrize(
    ("verb", "body", "status", "words"),
    [
        ("/filter", b"{", 400, "E2501 request: is not JSON"),
        ("/prioritize", b"{}", 400, "E2502 request: has no pod"),
        ("/bind", QUESTION, 404, "no verb '/bind'; expected /filter or /prioritize"),
    ],
)
def test_an_error_is_a_status_and_a_sentence_and_the_next_question_is_answered(verb, body, status, words):
    with serving() as (port, log), connected(port) as connection:
        answered, result = ask(connection, verb, body)
        assert answered == status and words in result["error"]
        assert ask(connection, "/filter")[0] == 200
    assert log[0][0] == "refused" and log[0][1]["status"] == status


def test_a_body_that_is_too_long_is_not_read(monkeypatch):
    monkeypatch.setattr(json_server, "MOST_BYTES", 10)
    with serving() as (port, _), connected(port) as connection:
        connection.putrequest("POST", "/filter")
        connection.putheader("Content-Length", "11")
        connection.endheaders()
        answer = connection.getresponse()
        assert answer.status == 413 and "E2503 request: is too long (11 bytes); expected at most 10" in answer.read().decode()


@pytest.mark.parametrize("length", [None, "-1", "many"])
def test_a_body_without_its_length_is_refused(length):
    with serving() as (port, _), connected(port) as connection:
        connection.putrequest("POST", "/filter")
        if length:
            connection.putheader("Content-Length", length)
        connection.endheaders()
        assert connection.getresponse().status == 411


def test_a_body_that_comes_too_slowly_is_given_up(monkeypatch):
    monkeypatch.setattr(json_server, "SECONDS_FOR_BODY", 0.05)
    with serving() as (port, _), connected(port) as connection:
        connection.putrequest("POST", "/filter")
        connection.putheader("Content-Length", "100")
        connection.endheaders(b"{")
        assert connection.getresponse().status == 408


def test_a_body_that_ends_early_is_said_so():
    with serving() as (port, _), socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        raw.sendall(b"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        raw.shutdown(socket.SHUT_WR)
        assert b"the body ends 99 bytes early" in b"".join(iter(lambda: raw.recv(4096), b""))


def test_more_connections_than_the_limit_are_closed_at_once(monkeypatch):
    monkeypatch.setattr(json_server, "MOST_CONNECTIONS", 1)
    with serving() as (port, log), connected(port) as first:
        assert ask(first, "/filter")[0] == 200  # and stays open
        with connected(port) as second, pytest.raises((ConnectionError, http.client.HTTPException)):
            ask(second, "/filter")
        assert ask(first, "/filter")[0] == 200
    assert ("refused", {"reason": "more than 1 connections"}) in log


def test_many_schedulers_are_answered_at_a_time():
    results = []

    def scheduler(port):
        with connected(port) as connection:
            results.extend(ask(connection, "/prioritize")[0] for _ in range(20))

    with serving() as (port, _):
        threads = [threading.Thread(target=scheduler, args=(port,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [200] * 160


def test_an_address_in_use_is_an_error_that_names_it():
    with serving() as (port, _), pytest.raises(WorldError, match=f"cannot listen on '127.0.0.1:{port}': Address already in use"):
        ExtenderServer(extender(), f"127.0.0.1:{port}", tell=lambda event, fields: None)


def test_a_certificate_that_cannot_be_used_is_said_without_its_key(tmp_path):
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_text("no certificate")
    key.write_text("a secret")
    with pytest.raises(UsageError, match=r"cannot use the certificate .*tls\.crt' with its key: SSLError") as error:
        ExtenderServer(extender(), "127.0.0.1:0", tell=lambda event, fields: None, tls=(str(certificate), str(key)))
    assert "a secret" not in str(error.value)


def test_https_is_served_and_a_client_that_speaks_http_harms_no_other(tmp_path):
    certificate, key = self_signed(tmp_path)
    with serving(tls=(certificate, key)) as (port, _):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
            with suppress(ConnectionError):
                plain.recv(100)
        context = ssl.create_default_context(cafile=certificate)
        connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=10)
        assert ask(connection, "/prioritize")[0] == 200
        connection.close()
