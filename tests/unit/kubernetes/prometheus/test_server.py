"""Every answer that a server may give, over a real connection on loopback; and that nothing secret is ever shown."""

import json
import shutil
import ssl
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest

from bayplan.errors import InputError, UsageError
from bayplan.kubernetes.client import RefusedError, UnavailableError
from bayplan.kubernetes.prometheus import Prometheus, connected
from bayplan.kubernetes.prometheus.address import CA_FILE, TOKEN, TOKEN_FILE, ServerAddress
from bayplan.kubernetes.prometheus.server import (
    HttpTransport,
    PrometheusUnavailableError,
    ProxyTransport,
    QueryRefusedError,
    QueryTooLargeError,
    promql_time,
)

SECRET = "s3cret-t0ken"
ONE = {"status": "success", "data": {"resultType": "vector", "result": [{"metric": {"a": "b"}, "value": [1.5, "2.5"]}]}}


@pytest.fixture(autouse=True)
def no_proxy_and_no_token(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    for variable in (TOKEN, TOKEN_FILE, CA_FILE):
        monkeypatch.delenv(variable, raising=False)


class _Answering(ThreadingHTTPServer):
    """Gives one answer to everything, and remembers what it was asked."""

    def __init__(self, status, body, headers):
        self.status, self.body, self.headers, self.requests = status, body, headers, []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        self.server.requests.append((self.command, self.path, parse_qs(sent), dict(self.headers)))
        body = self.server.body if isinstance(self.server.body, bytes) else json.dumps(self.server.body).encode()
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.do_POST()

    def log_message(self, *arguments):
        pass


@contextmanager
def answering(body, status=200, **headers):
    with _Answering(status, body, headers) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def test_a_query_is_sent_as_a_form_and_its_series_come_back():
    with answering(ONE) as server:
        (sample,) = connected(f"{server.url}/prefix/", None).query("up > 0", 1.5)
    method, path, form, _ = server.requests[0]
    assert (method, path, form) == ("POST", "/prefix/api/v1/query", {"query": ["up > 0"], "time": ["1.500"]})
    assert (dict(sample.labels), sample.value) == ({"a": "b"}, 2.5)


def test_a_scalar_is_one_series_without_labels():
    with answering({"status": "success", "data": {"resultType": "scalar", "result": [1, "7"]}}) as server:
        assert connected(server.url, None).query("7", 1.0) == [({}, 7.0)]


def test_a_range_is_a_numbered_fault():
    body = {"status": "success", "data": {"resultType": "matrix", "result": []}}
    with answering(body) as server, pytest.raises(InputError, match=r"E2601 query 'up\[5m\]'.*matrix"):
        connected(server.url, None).query("up[5m]", 1.0)


def _error(kind, text):
    return {"status": "error", "errorType": kind, "error": text}


@pytest.mark.parametrize(
    ("status", "body", "error", "words"),
    [
        (400, _error("bad_data", "parse error: here"), QueryRefusedError, "refuses a query: parse error: here"),
        (422, _error("execution", "it would load too many samples into memory"), QueryTooLargeError, "too many samples"),
        (503, _error("timeout", "query timed out in expression evaluation"), QueryTooLargeError, "timed out"),
        (401, b"", QueryRefusedError, r"does not permit it.*BAYPLAN_PROMETHEUS_TOKEN"),
        (403, b"<html>", QueryRefusedError, "does not permit it"),
        (404, b"<html>", QueryRefusedError, "no query API at this address"),
        (429, b"", PrometheusUnavailableError, "does not answer now"),
        (502, b"<html>bad gateway", PrometheusUnavailableError, "status 502"),
        (200, b"<html>hello", PrometheusUnavailableError, "does not answer as Prometheus does"),
        (200, {"status": "success"}, PrometheusUnavailableError, "does not answer as Prometheus does"),
        (200, [1, 2], PrometheusUnavailableError, "does not answer as Prometheus does"),
    ],
)
def test_every_refusal_is_what_may_be_tried_again_or_what_may_not(status, body, error, words, monkeypatch):
    monkeypatch.setenv(TOKEN, SECRET)
    with answering(body, status) as server, pytest.raises(error, match=words) as raised:
        connected(server.url, None).query("up", 1.0)
    assert server.url in str(raised.value)
    assert SECRET not in str(raised.value)


def test_a_redirect_is_not_followed_so_the_token_stays_here(monkeypatch):
    monkeypatch.setenv(TOKEN, SECRET)
    with (
        answering(ONE) as other,
        answering(b"", 302, Location=f"{other.url}/login?token={SECRET}") as server,
        pytest.raises(QueryRefusedError, match=f"redirects to '{other.url}/login'"),
    ):
        connected(server.url, None).query("up", 1.0)
    assert other.requests == []


def test_a_server_that_is_not_there_may_be_tried_again():
    with answering(ONE) as server:
        url = server.url
    with pytest.raises(PrometheusUnavailableError, match=r"does not answer: .*refused"):
        connected(url, None).query("up", 1.0)


def test_a_token_of_the_environment_is_sent_and_one_of_a_file_is_read_anew_each_time(monkeypatch, tmp_path):
    file = tmp_path / "token"
    monkeypatch.setenv(TOKEN, "from-environment")
    with answering(ONE) as server:
        connected(server.url, None).query("up", 1.0)
        file.write_text("first\n")
        monkeypatch.setenv(TOKEN_FILE, str(file))
        from_file = connected(server.url, None)
        from_file.query("up", 1.0)
        file.write_text("second\n")
        from_file.query("up", 1.0)
    sent = [headers["Authorization"] for *_, headers in server.requests]
    assert sent == ["Bearer from-environment", "Bearer first", "Bearer second"]


def test_a_password_of_the_address_is_sent_and_never_shown():
    with answering(ONE) as server:
        host = server.url.removeprefix("http://")
        prometheus = connected(f"http://me:{SECRET}%21@{host}", None)
        prometheus.query("up", 1.0)
        assert SECRET not in prometheus.label + repr(ServerAddress.parse(f"http://me:{SECRET}@{host}"))
    assert server.requests[0][3]["Authorization"] == "Basic bWU6czNjcmV0LXQwa2VuIQ=="


@pytest.mark.parametrize("text", [f"ftp://me:{SECRET}@host", f"http://me:{SECRET}@", f"https://me:{SECRET}@host:port", "http://"])
def test_what_is_no_address_is_refused_without_its_password(text):
    with pytest.raises(UsageError, match="--prometheus") as error:
        connected(text, None)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("variable", [TOKEN_FILE, CA_FILE])
def test_files_that_are_not_there_are_refused_at_once(variable, tmp_path, monkeypatch):
    monkeypatch.setenv(variable, str(tmp_path / "missing"))
    with pytest.raises(UsageError, match=f"{variable} '.*missing' is no file"):
        ServerAddress.parse("https://host")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl: certificates cannot be made")
def test_a_certificate_is_trusted_if_it_is_named_and_refused_otherwise(tmp_path, monkeypatch):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        str(key),
        "-out",
        str(certificate),
        "-days",
        "2",
    ]
    subprocess.run(
        [*command, "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True
    )
    with _Answering(200, ONE, {}) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.handle_error = lambda *_: None  # the client that does not trust us goes away
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = server.url.replace("http:", "https:")
        with pytest.raises(PrometheusUnavailableError, match="certificate verify failed"):
            connected(url, None).query("up", 1.0)
        monkeypatch.setenv(CA_FILE, str(certificate))
        assert connected(url, None).query("up", 1.0)
        server.shutdown()
        thread.join()


def test_warnings_and_names_of_metrics_are_kept():
    with answering(
        {"status": "success", "data": ["up", "down"], "warnings": ["partial"], "infos": ["partial", "note"]}
    ) as server:
        prometheus = connected(server.url, None)
        assert prometheus.metric_names() == ["up", "down"]
        assert prometheus.metric_names() == ["up", "down"]
    assert prometheus.warnings == ["partial", "note"]
    assert server.requests[0][:2] == ("GET", "/api/v1/label/__name__/values")


class _Cluster:
    """An API server that proxies to Prometheus, or refuses to."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def get(self, path, **parameters):
        self.asked.append((path, parameters))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_behind_the_api_server_it_is_asked_through_the_proxy_of_its_service():
    cluster = _Cluster(ONE)
    assert len(Prometheus(ProxyTransport(cluster, "monitoring", "prometheus-server", "80")).query("up", 2.0)) == 1
    path = "/api/v1/namespaces/monitoring/services/prometheus-server:80/proxy/api/v1/query"
    assert cluster.asked == [(path, {"query": "up", "time": "2.000"})]


@pytest.mark.parametrize(
    ("raised", "error", "words"),
    [
        (RefusedError("GET: 403 Forbidden: no services/proxy", status=403), QueryRefusedError, "right to get services/proxy"),
        (RefusedError("GET: 400: parse error", status=400), QueryRefusedError, "parse error"),
        (RefusedError("GET: 422: too many samples", status=422), QueryTooLargeError, "too many samples"),
        (UnavailableError("GET: 503: query timed out", status=503), QueryTooLargeError, "timed out"),
        (UnavailableError("GET: 503: no endpoints available", status=503, delay=9), PrometheusUnavailableError, "no endpoints"),
    ],
)
def test_refusals_behind_the_api_server_are_told_apart_likewise(raised, error, words):
    with pytest.raises(error, match=words):
        Prometheus(ProxyTransport(_Cluster(raised), "monitoring", "prometheus", "9090")).query("up", 2.0)


@pytest.mark.parametrize(("seconds", "text"), [(3600, "3600s"), (1.5, "1500ms"), (0.25, "250ms"), (300.0, "300s")])
def test_lengths_of_time_as_promql_writes_them(seconds, text):
    assert promql_time(seconds) == text


def test_the_newest_sample_is_looked_for_further_back_if_none_is_fresh():
    answers = iter([{"status": "success", "data": {"resultType": "vector", "result": []}}, ONE])

    class Twice(HttpTransport):
        def ask(self, path, parameters):
            return next(answers)

    assert Prometheus(Twice(ServerAddress(url="x"))).newest("up", 100.0, 3600.0) == 2.5
