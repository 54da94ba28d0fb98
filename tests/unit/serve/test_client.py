"""A client tries again where that is safe, turns problems into the library's errors, and needs nothing heavy."""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.builders.jobs_served import client_of, settings_in
from tests.builders.served import serving

import bayplan as bp
from bayplan.serve.client import ServiceError
from bayplan.serve.settings import ServeSettings

SHOWN = {"id": f"job-{'0' * 32}", "verb": "show", "state": "waiting", "events": 1}


class _Scripted(BaseHTTPRequestHandler):
    """Answers with one entry of a script after the other."""

    def _answer(self):
        self.server.asked.append((self.command, self.path, dict(self.headers)))
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, headers, body = self.server.script.pop(0)
        if status is None:
            self.connection.close()
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - as the class of the library calls them

    def log_message(self, *_):
        pass


@pytest.fixture
def scripted(monkeypatch):
    monkeypatch.setattr("bayplan.serve.connection.PAUSE", 0.0)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Scripted)
    server.script, server.asked = [], []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    server.url = f"http://127.0.0.1:{server.server_port}"
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _json(status, value, **headers):
    return status, headers, json.dumps(value).encode()


def test_a_lost_answer_is_asked_for_again_with_the_same_key(scripted):
    snapshot = _json(201, {"id": "sha256-1"})
    scripted.script = [snapshot, (None, {}, b""), _json(429, {}, **{"Retry-After": "0"}), _json(202, SHOWN)]
    job = bp.Client(scripted.url).show(b"x")
    assert job.state == "waiting"
    keys = {headers["Idempotency-Key"] for _, path, headers in scripted.asked if path == "/v1/jobs"}
    assert len(keys) == 1 and len(scripted.asked) == 4


def test_a_stream_that_breaks_goes_on_after_the_last_event(scripted):
    first = b'id: 1\nevent: state\ndata: {"a": 1}\n\n: a sign of life\n\nid: 2\nevent: progress\ndata: {}\n\nid: 3\neve'
    second = b'id: 3\nevent: ended\ndata: {"state": "done"}\n\n'
    scripted.script = [_json(200, SHOWN), (200, {}, first), (None, {}, b""), (200, {}, second)]
    events = list(bp.Client(scripted.url).job("job-1").events())
    assert [(event.number, event.kind) for event in events] == [(1, "state"), (2, "progress"), (3, "ended")]
    assert [headers["Last-Event-ID"] for _, path, headers in scripted.asked if path.endswith("events")] == ["0", "2", "2"]


def test_a_stream_after_the_last_event_of_a_job_that_has_ended_is_empty(scripted):
    silent = (200, {}, b"retry: 1000\n\n")
    scripted.script = [_json(200, SHOWN), silent, _json(200, {**SHOWN, "state": "done", "events": 4})]
    assert list(bp.Client(scripted.url).job("job-1").events(after=4)) == []
    assert not scripted.script


def test_a_stream_that_ends_without_a_word_goes_on_until_the_last_event_was_seen(scripted):
    silent, last = (200, {}, b"retry: 1000\n\n"), b'id: 4\nevent: ended\ndata: {"state": "done"}\n\n'
    running, ended = {**SHOWN, "state": "running", "events": 3}, {**SHOWN, "state": "done", "events": 4}
    scripted.script = [_json(200, SHOWN), silent, _json(200, running), silent, _json(200, ended), (200, {}, last)]
    assert [event.number for event in bp.Client(scripted.url).job("job-1").events(after=3)] == [4]


def test_a_lost_answer_to_a_deletion_is_asked_for_with_the_same_key(scripted):
    from bayplan.serve.client import RemoteSnapshot

    client = bp.Client(scripted.url)
    scripted.script = [_json(200, SHOWN), (None, {}, b""), (204, {}, b""), (None, {}, b""), (204, {}, b"")]
    client.job("job-1").delete()
    client.delete(RemoteSnapshot(id="sha256-1", facts={}))
    keys = [headers["Idempotency-Key"] for method, _, headers in scripted.asked if method == "DELETE"]
    assert len(keys) == 4 and keys[0] == keys[1] != keys[2] == keys[3]


def test_a_server_that_is_not_there_is_said(scripted):
    scripted.script = [(None, {}, b"")] * 5
    with pytest.raises(bp.WorldError, match="is `bayplan serve` running there"):
        bp.Client(scripted.url).jobs()


def test_something_else_than_a_service_is_said(scripted):
    scripted.script = [(200, {}, b"<html>"), (404, {}, b"<html>")]
    client = bp.Client(scripted.url)
    with pytest.raises(bp.WorldError, match="is it a bayplan service"):
        client.jobs()
    with pytest.raises(ServiceError, match="answered 404") as raised:
        client.jobs()
    assert raised.value.status == 404 and raised.value.code is None


@pytest.mark.parametrize("address", ["127.0.0.1:8080", "ftp://x", "http://", "http://x/v1", "http://x?a=b"])
def test_an_address_that_makes_no_sense_is_refused(address):
    with pytest.raises(bp.UsageError, match="expected http://HOST:PORT"):
        bp.Client(address)


def test_problems_become_the_librarys_errors(tmp_path):
    with serving(settings_in(tmp_path)) as address:
        client = client_of(address)
        with pytest.raises(ServiceError) as raised:
            client.job(f"job-{'0' * 32}")
        assert (raised.value.status, raised.value.code) == (404, "E2737")
        with pytest.raises(bp.InputError, match="E1011"):
            client.send(b'{"other": 1}')
        with pytest.raises(bp.WorldError, match=r"cannot read 'nothing\.json'"):
            client.send("nothing.json")


def test_a_token_is_sent_and_a_wrong_one_is_refused(tmp_path):
    token, reader = "an-operators-token", "a-token-to-read-with"
    settings = ServeSettings(
        port=0, store=str(tmp_path / "s.db"), folder=tmp_path / "files", operators=(token,), readers=(reader,)
    )
    with serving(settings) as address:
        shop = bp.generate("boutique")
        kept = bp.Client(address.url, token=token).send(shop)
        assert [known.id for known in bp.Client(address.url, token=reader).snapshots()] == [kept.id]
        for other, code in ((reader, "E2704"), ("not-the-right-token", "E2703"), ("", "E2703")):
            with pytest.raises(ServiceError) as raised:
                bp.Client(address.url, token=other).send(shop)
            assert raised.value.code == code


def test_a_placement_needs_a_snapshot_that_was_sent_as_a_value():
    client, shop = bp.Client("http://127.0.0.1:1"), bp.generate("boutique")
    from bayplan.serve.client import RemoteSnapshot

    with pytest.raises(bp.UsageError, match="was not sent as a value"):
        client._stated(shop.placement, RemoteSnapshot(id="sha256-1", facts={}))
    named = client._stated(shop.placement, RemoteSnapshot(id="sha256-1", facts={}, local=shop))
    assert named["frontend-0"] in shop.cluster.machines.name and None in named.values()


def test_a_client_loads_nothing_heavy():
    code = (
        "import sys, bayplan; bayplan.Client('http://127.0.0.1:1'); "
        "heavy = {'numpy', 'scipy', 'numba', 'fastapi', 'uvicorn', 'sqlalchemy'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
