"""The connection to an API server, against a server on the loopback interface that says what a test tells it."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("kubernetes", reason="the Kubernetes client is an extra: pip install 'bayplan[kube]'")

from bayplan.errors import UsageError
from bayplan.kubernetes.client import Client, RefusedError, UnavailableError
from bayplan.operate.orchestrator import PermanentError, TemporaryError

SECRET = "token-that-nobody-may-see"


@dataclass
class Told:
    """What the server answers, one after the other, and what it was asked."""

    answers: list[tuple[int, Any, dict[str, str]]] = field(default_factory=list)
    asked: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)

    def say(self, body: Any, status: int = 200, **headers: str) -> None:
        """One more answer; the last one is given again and again."""
        self.answers.append((status, body, {name.replace("_", "-"): value for name, value in headers.items()}))


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def address(told: Told) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            told.asked.append((self.command, self.path, dict(self.headers), body))
            status, said, headers = told.answers.pop(0) if len(told.answers) > 1 else told.answers[0]
            data = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - the names of http.server

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def kubeconfig(file: Path, server: str, **contexts: str) -> str:
    """A kubeconfig with a token and these contexts (name -> namespace); the first one is the current one."""
    names = contexts or {"shop": "front"}
    text = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "one", "cluster": {"server": server}}],
        "users": [{"name": "me", "user": {"token": SECRET}}],
        "contexts": [
            {"name": name, "context": {"cluster": "one", "user": "me", "namespace": space}} for name, space in names.items()
        ],
        "current-context": next(iter(names)),
    }
    file.write_text(yaml.safe_dump(text), encoding="utf-8")
    return str(file)


@pytest.fixture
def client(address: str, tmp_path: Path) -> Client:
    return Client.connect(kubeconfig=kubeconfig(tmp_path / "config", address))


def test_an_object_is_plain_json_and_the_request_says_who_asks(client, told):
    told.say({"kind": "Pod"})
    assert client.get("/api/v1/pods/web", pretty="true", none=None) == {"kind": "Pod"}
    method, path, headers, body = told.asked[0]
    assert (method, path, body) == ("GET", "/api/v1/pods/web?pretty=true", None)
    assert headers["Authorization"] == f"Bearer {SECRET}"


def test_a_list_is_read_page_by_page(client, told):
    told.say({"items": [{"n": 1}], "metadata": {"continue": "next", "resourceVersion": "7"}})
    told.say({"items": [{"n": 2}], "metadata": {"resourceVersion": "7"}})
    listing = client.list("/api/v1/pods", fieldSelector="a=b")
    assert ([item["n"] for item in listing.items], listing.resource_version) == ([1, 2], "7")
    assert [path for _, path, *_ in told.asked] == [
        "/api/v1/pods?fieldSelector=a%3Db&limit=500",
        "/api/v1/pods?fieldSelector=a%3Db&limit=500&continue=next",
    ]


def test_a_list_begins_anew_when_the_server_has_forgotten_its_first_page(client, told):
    told.say({"items": [{"n": 1}], "metadata": {"continue": "next"}})
    told.say({"reason": "Expired"}, 410)
    told.say({"items": [{"n": 3}], "metadata": {}})
    assert [item["n"] for item in client.list("/api/v1/pods").items] == [3]


def test_a_list_without_items_is_empty(client, told):
    told.say({"items": None, "metadata": {}})
    assert client.list("/api/v1/pods").items == []


@pytest.mark.parametrize(
    ("kind", "header"),
    [
        ("merge", "application/merge-patch+json"),
        ("strategic", "application/strategic-merge-patch+json"),
        ("json", "application/json-patch+json"),
        ("apply", "application/apply-patch+yaml"),
    ],
)
def test_a_patch_says_of_which_kind_it_is(client, told, kind, header):
    told.say({})
    client.patch("/api/v1/pods/web", {"a": 1}, kind=kind)
    method, _, headers, body = told.asked[0]
    assert (method, headers["Content-Type"], body) == ("PATCH", header, {"a": 1})


def test_create_replace_and_delete_send_their_body(client, told):
    told.say({})
    client.create("/api/v1/pods", {"a": 1}, dryRun="All")
    client.replace("/api/v1/pods/web", {"b": 2})
    client.delete("/api/v1/pods/web", {"preconditions": {"uid": "x"}})
    assert [(method, path, body) for method, path, _, body in told.asked] == [
        ("POST", "/api/v1/pods?dryRun=All", {"a": 1}),
        ("PUT", "/api/v1/pods/web", {"b": 2}),
        ("DELETE", "/api/v1/pods/web", {"preconditions": {"uid": "x"}}),
    ]


def test_an_eviction_that_has_to_wait_says_why_and_how_long(client, told):
    causes = {"causes": [{"reason": "DisruptionBudget", "message": "needs 2 healthy pods"}]}
    told.say({"message": "Cannot evict pod", "reason": "TooManyRequests", "details": causes}, 429, Retry_After="10")
    with pytest.raises(UnavailableError, match="429 TooManyRequests: Cannot evict pod") as error:
        client.create("/api/v1/namespaces/shop/pods/web/eviction", {})
    assert (error.value.status, error.value.delay, error.value.causes) == (429, 10.0, ("DisruptionBudget",))
    assert isinstance(error.value, TemporaryError)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_what_the_server_cannot_do_now_may_be_tried_again(client, told, status):
    told.say(b"<html>", status)
    with pytest.raises(UnavailableError, match=f"{status}.*no reason given"):
        client.get("/api/v1/pods")


@pytest.mark.parametrize(("status", "reason"), [(403, "Forbidden"), (404, "NotFound"), (409, "Conflict"), (422, "Invalid")])
def test_what_the_server_refuses_is_not_tried_again(client, told, status, reason):
    told.say({"reason": reason, "message": "it is so"}, status)
    with pytest.raises(RefusedError, match=f"GET /api/v1/pods: {status} {reason}: it is so") as error:
        client.get("/api/v1/pods")
    assert (error.value.status, error.value.reason) == (status, reason)
    assert isinstance(error.value, PermanentError)


def test_a_server_that_does_not_answer_may_be_tried_again(tmp_path):
    client = Client.connect(kubeconfig=kubeconfig(tmp_path / "config", "http://127.0.0.1:9"))
    with pytest.raises(UnavailableError, match="the API server does not answer") as error:
        client.get("/api/v1/pods")
    assert error.value.status == 0


def test_an_answer_that_is_no_json_may_be_tried_again(client, told):
    told.say(b"{half")
    with pytest.raises(UnavailableError, match="does not answer"):
        client.get("/api/v1/pods")


def test_no_message_carries_a_secret_or_the_body_of_a_request(client, told):
    told.say({"reason": "Invalid"}, 422)
    with pytest.raises(RefusedError) as refused:
        client.create("/api/v1/secrets", {"password": "also secret"})
    told.answers = [(503, b"", {})]
    with pytest.raises(UnavailableError) as unavailable:
        client.get("/api/v1/secrets")
    for error in (refused, unavailable):
        assert SECRET not in str(error.value)
        assert "also secret" not in str(error.value)


def test_a_watch_yields_what_changes_until_the_server_ends_it(client, told):
    events = [{"type": "ADDED", "object": {"n": 1}}, {"type": "BOOKMARK", "object": {"n": 2}}]
    told.say(b"\n".join(json.dumps(event).encode() for event in events) + b"\n")
    assert list(client.watch("/api/v1/pods", "7", 0.4)) == events
    assert told.asked[0][1] == "/api/v1/pods?watch=true&resourceVersion=7&timeoutSeconds=1&allowWatchBookmarks=true"


@pytest.mark.parametrize("late", [False, True], ids=["at-once", "as-an-event"])
def test_a_watch_from_a_version_that_is_too_old_is_refused(client, told, late):
    gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
    told.say(json.dumps({"type": "ERROR", "object": gone}).encode() + b"\n" if late else gone, 200 if late else 410)
    with pytest.raises(RefusedError, match="too old") as error:
        list(client.watch("/api/v1/pods", "1", 1))
    assert error.value.status == 410


def test_a_watch_that_breaks_off_in_the_middle_of_a_line_may_be_tried_again(client, told):
    told.say(b'{"type": "ADDED", "obj\n')
    with pytest.raises(UnavailableError, match="does not answer"):
        list(client.watch("/api/v1/pods", "1", 1))


def test_the_context_that_is_named_is_used(address, tmp_path):
    file = kubeconfig(tmp_path / "config", address, prod="front", stage="back")
    assert (Client.connect(kubeconfig=file).context, Client.connect(kubeconfig=file).namespace) == ("prod", "front")
    chosen = Client.connect(kubeconfig=file, context="stage")
    assert (chosen.context, chosen.namespace, chosen.server) == ("stage", "back", address)


def test_a_context_that_is_not_there_is_named_with_those_that_are(address, tmp_path):
    file = kubeconfig(tmp_path / "config", address, prod="front", stage="back")
    with pytest.raises(UsageError, match=r"no context 'stag'; expected one of .*did you mean 'stage'"):
        Client.connect(kubeconfig=file, context="stag")


def test_the_environment_names_the_kubeconfig_where_nothing_is_said(address, tmp_path, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'none'}:{kubeconfig(tmp_path / 'config', address)}")
    assert Client.connect().context == "shop"


def test_without_a_kubeconfig_nothing_is_guessed(tmp_path, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with pytest.raises(UsageError, match=r"no kubeconfig: .*none' does not exist"):
        Client.connect()


def test_a_kubeconfig_that_is_none_is_refused(tmp_path):
    (tmp_path / "config").write_text("clusters: []\n", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot use the kubeconfig"):
        Client.connect(kubeconfig=str(tmp_path / "config"))
