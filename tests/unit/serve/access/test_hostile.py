"""Hostile input is refused, cheaply, and the service goes on answering."""

import gzip
import http.client
import socket
import ssl
import subprocess
import threading
import time
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from tests.builders.offered import creation, stream
from tests.builders.served import reply_of, serving

from bayplan.errors import UsageError
from bayplan.serve.running import RunningService
from bayplan.serve.settings import Limits, ServeSettings

QUICK = Limits(head_seconds=0.5, body_seconds=0.5, body_bytes=100_000, file_bytes=200_000, connections=40, idle_seconds=1)
PATIENCE = 20.0
POST = b"POST /v1/admissions HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    store = tmp_path_factory.mktemp("hostile") / "serve.db"
    with serving(ServeSettings(port=0, store=str(store), limits=QUICK)) as address:
        assert address.post("/v1/admissions", creation(stream())).status == 201
        yield address


@pytest.fixture(autouse=True)
def still_answers(service):
    yield
    assert service.get("/healthz").status == 200


def _raw(service, data, seconds=PATIENCE):
    """What comes back for bytes that are sent as they are, until the connection is closed; None: it was not closed in time."""
    parts = urlsplit(service.url)
    with closing(socket.create_connection((parts.hostname, parts.port), timeout=seconds)) as connection:
        connection.sendall(data)
        answer = b""
        try:
            while piece := connection.recv(65536):
                answer += piece
        except ConnectionResetError:
            pass
        except TimeoutError:
            return None
        return answer


def _status(answer):
    return int(answer[9:12]) if answer else 0


# ---- bodies


def test_a_body_of_200_megabytes_is_refused_by_its_head(service):
    answer = _raw(service, POST + b"Content-Length: 209715200\r\n\r\n")
    assert _status(answer) == 413 and b"E2705" in answer


@pytest.mark.parametrize("path", ["/v1/admissions", "/v1/admissions/shop/offers", "/v1/snapshots"])
def test_a_body_of_200_megabytes_in_pieces_is_cut_off(service, path):
    connection = service.connect()
    connection.putrequest("POST", path)
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()
    sent, piece = 0, b"%x\r\n%s\r\n" % (65536, b"x" * 65536)
    try:
        while sent < 200 * 2**20:
            connection.send(piece)
            sent += 65536
    except OSError:
        pass
    connection.close()
    assert sent < 16 * 2**20  # what fits into buffers of the system until the refusal is seen


def test_deep_nesting_is_refused(service):
    for text in (b"[" * 90_000, b'{"a":' * 15_000, b"[" * 40_000 + b"]" * 40_000):
        for path in ("/v1/admissions/shop/offers", "/v1/admissions"):
            assert service.post(path, text).status in (400, 422)


def test_a_packed_body_is_refused_where_none_is_expected(service):
    bomb = gzip.compress(b"0" * 50_000_000)
    assert len(bomb) < QUICK.body_bytes
    reply = service.ask("POST", "/v1/admissions/shop/offers", bomb, {"Content-Encoding": "gzip"})
    assert (reply.status, reply.code) == (415, "E2708")
    for encoding in ("deflate", "br", "gzip, gzip", "zstd"):
        assert service.ask("POST", "/v1/admissions", b"{}", {"Content-Encoding": encoding}).status == 415


def test_endless_numbers_are_refused(service):
    for text in (b'{"time": 1' + b"0" * 90_000 + b"}", b'{"time": -1e99999}', b'{"time": 0.' + b"1" * 50_000 + b"}"):
        assert service.post("/v1/admissions/shop/advance", text).status in (200, 400, 409, 422)


# ---- heads


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 3\r\nContent-Length: 4\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 1e3\r\n",
        b"Content-Length: +3\r\n",
        b"Transfer-Encoding: chunked, identity\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"Host: other\r\nContent-Length: 0\r\n",
        b"X: a\r\n b\x00\r\nContent-Length: 0\r\n",
        b"Idempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 0\r\n",
        b"Idempotency-Key: " + b"k" * 129 + b"\r\nContent-Length: 0\r\n",
        b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\nContent-Length: 0\r\n",
    ],
)
def test_heads_that_contradict_themselves_are_refused(service, head):
    answer = _raw(service, POST + head + b"Connection: close\r\n\r\n")
    assert _status(answer) in (400, 0)  # 0: closed without a word


def test_a_key_that_is_there_twice_is_named(service):
    answer = _raw(service, POST + b"Idempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    assert b"E2709 header 'idempotency-key': is there twice" in answer


def test_a_smuggled_second_request_is_never_answered(service):
    hidden = b"DELETE /v1/admissions/shop HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    body = b"0\r\n\r\n" + hidden
    _raw(service, POST + b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n" % len(body) + body, 3.0)
    assert service.get("/v1/admissions/shop").status == 200


def test_a_refused_body_is_not_taken_for_the_next_request(service):
    hidden = b"DELETE /v1/admissions/shop HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    answer = _raw(service, POST + b"Content-Encoding: br\r\nContent-Length: %d\r\n\r\n" % len(hidden) + hidden)
    assert _status(answer) == 415 and answer.count(b"HTTP/1.1 ") == 1
    assert service.get("/v1/admissions/shop").status == 200


def test_a_head_without_end_is_cut_off(service):
    for data in (b"GET /" + b"a" * 200_000, b"GET / HTTP/1.1\r\n" + b"X-A: b\r\n" * 50_000):
        began = time.monotonic()
        assert _status(_raw(service, data)) in (400, 0)
        assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize(
    "data", [b"\x16\x03\x01\x02\x00\x01\x00", b"SSH-2.0-x\r\n", b"\x00" * 100, b"GET\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\n"]
)
def test_what_is_no_http_is_refused(service, data):
    assert _status(_raw(service, data)) in (400, 404, 405, 0)


def test_upgrades_and_odd_methods_lead_nowhere(service):
    for method in ("TRACE", "CONNECT", "PATCH", "OPTIONS", "QUERY"):
        connection = service.connect()
        connection.request(method, "/v1/admissions")
        assert connection.getresponse().status in (400, 403, 404, 405)
        connection.close()
    upgraded = service.get("/healthz", Upgrade="websocket", Connection="Upgrade")
    assert upgraded.status in (200, 400, 426)


# ---- paths


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/page/../../../etc/passwd",
        "/page/%2e%2e/%2e%2e/etc/passwd",
        "/page/..%2f..%2f..%2fetc%2fpasswd",
        "/page/....//....//etc/passwd",
        "/page//etc/passwd",
        "/page/%00",
        "/page/C:%5cwindows",
        "/v1/admissions/..%2f..%2fshop",
        "/v1/admissions/%2e%2e/shop",
        "/v1/admissions/shop%00/prices",
        "/v1/admissions/SHOP",
        "/v1//admissions",
        "/v1/snapshots/..%2f..%2fserve.db/content",
        "/" + "a/" * 5000,
    ],
)
def test_no_path_leads_to_a_file_of_the_server(service, path):
    reply = service.get(path)
    assert reply.status in (400, 404, 405, 422)
    assert b"root:" not in str(reply.content).encode()


# ---- other sites


@pytest.mark.parametrize(
    "host", ["evil.example.org", "evil.example.org:8080", "127.0.0.1.evil.example.org", "", "[::1", "localhost@evil"]
)
def test_names_that_only_point_to_this_machine_are_refused(service, host):
    connection = service.connect()
    connection.putrequest("GET", "/v1/admissions", skip_host=True)
    connection.putheader("Host", host)
    connection.endheaders()
    assert connection.getresponse().status in (400, 403)
    connection.close()


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example.org"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_pages_of_other_sites_cannot_write(service, headers):
    reply = service.ask("POST", "/v1/admissions/shop/advance", {"time": 5}, headers)
    assert (reply.status, reply.code) == (403, "E2710")
    assert service.get("/v1/admissions/shop").content["now"] != 5


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://]", "http://[x]"])
def test_an_origin_that_cannot_be_read_is_another_site(service, origin):
    reply = service.get("/healthz", Origin=origin)
    assert (reply.status, reply.code) == (403, "E2710")


def test_no_other_site_may_read_answers(service):
    preflight = service.ask("OPTIONS", "/v1/admissions", None, {"Origin": service.url, "Access-Control-Request-Method": "POST"})
    for reply in (preflight, service.get("/v1/admissions", Origin=service.url)):
        assert not [name for name in reply.headers if name.startswith("access-control-")]


def test_every_answer_has_security_headers(service):
    for path in ("/healthz", "/v1/admissions", "/v1/nothing", "/metrics"):
        headers = service.get(path).headers
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in headers["content-security-policy"] and headers["cache-control"] == "no-store"
        assert "server" not in headers


# ---- slow clients


def test_a_head_that_comes_too_slowly_is_cut_off(service):
    for data in (b"", b"GET / HT", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "):
        assert _raw(service, data) == b""


def test_a_second_head_that_comes_too_slowly_is_cut_off(service):
    first = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    answer = _raw(service, first + b"GET /healthz HTTP/1.1\r\n")
    assert answer is not None and answer.count(b"HTTP/1.1 200") == 1


def test_a_body_that_comes_too_slowly_is_refused(service):
    answer = _raw(service, POST + b"Content-Length: 1000\r\n\r\n{")
    assert _status(answer) == 408 and b"E2707" in answer


def test_many_slow_clients_do_not_keep_others_out(service):
    parts = urlsplit(service.url)
    slow = [socket.create_connection((parts.hostname, parts.port)) for _ in range(QUICK.connections - 5)]
    for connection in slow:
        connection.sendall(b"GET / HTTP/1.1\r\nX: ")
    assert service.get("/healthz").status == 200
    for connection in slow:
        connection.close()


def test_a_client_that_goes_away_changes_nothing_for_others(service):
    parts = urlsplit(service.url)
    for _ in range(20):
        with closing(socket.create_connection((parts.hostname, parts.port))) as connection:
            connection.sendall(POST + b"Content-Length: 50\r\n\r\n{")
    assert service.get("/v1/admissions").status == 200


def test_a_kept_connection_serves_many_requests(service):
    connection = service.connect()
    for _ in range(50):
        connection.request("GET", "/healthz")
        assert reply_of(connection).status == 200
    connection.close()


# ---- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", folder / "key", "-out", folder / "crt"]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "crt", folder / "key"


def test_https_with_a_certificate_of_ones_own(certificate, tmp_path):
    crt, key = certificate
    settings = ServeSettings(port=0, store=str(tmp_path / "serve.db"), certificate=crt, key=key, operators=("x" * 20,))
    with serving(settings) as service:
        parts = urlsplit(service.url)
        assert parts.scheme == "https"
        trusted = ssl.create_default_context(cafile=str(crt))
        connection = http.client.HTTPSConnection("127.0.0.1", parts.port, timeout=PATIENCE, context=trusted)
        connection.request("GET", "/v1/admissions", headers={"Authorization": f"Bearer {'x' * 20}"})
        reply = reply_of(connection)
        connection.request("POST", "/v1/session", '{"token": "xxxxxxxxxxxxxxxxxxxx"}', {"Content-Type": "application/json"})
        session = reply_of(connection)
        connection.close()
        assert _status(_raw(service, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 5.0)) == 0  # plain text gets no answer
    assert reply.status == 200 and reply.headers["strict-transport-security"]
    assert "Secure" in session.headers["set-cookie"]


def test_a_certificate_that_cannot_be_used_is_said(certificate, tmp_path):
    crt, _ = certificate
    settings = ServeSettings(port=0, store=":memory:", certificate=crt, key=crt)
    with pytest.raises(UsageError, match="cannot use the certificate"):
        RunningService(settings, lambda *_: None, lambda _: None)


# ---- the end


def test_what_is_under_way_is_answered_before_the_end(tmp_path):
    """The service is told to end while a body arrives: the answer still comes, and what it says is in the store."""
    settings = ServeSettings(port=0, store=str(tmp_path / "serve.db"))
    running = []
    with serving(settings, running=running) as service:
        service.post("/v1/admissions", creation(stream()))
        connection = service.connect()
        connection.putrequest("POST", "/v1/admissions/shop/advance")
        connection.putheader("Content-Length", "12")
        connection.endheaders()
        connection.send(b'{"time"')
        threading.Thread(target=running[0].stop).start()
        assert running[0].service.ending.wait(PATIENCE)
        connection.send(b": 10}")
        reply = reply_of(connection)
        connection.close()
        assert (reply.status, reply.content["now"]) == (200, 10.0)
    with serving(settings) as service:
        assert service.get("/v1/admissions/shop").content["now"] == 10.0
