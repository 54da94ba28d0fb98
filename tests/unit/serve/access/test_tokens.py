"""Tokens and sessions: each does what its role may, wrong ones nothing, and none shows itself."""

import json
import time

import pytest
from tests.builders.served import Address, serving

from bayplan.serve.access.rates import BURST, MOST_NAMES, Rates
from bayplan.serve.access.tokens import MOST_SESSIONS, Identity, Role, Tokens
from bayplan.serve.settings import Ages, Limits, ServeSettings

OPERATOR, READER = "operator-operator-1", "reader-reader-reader-1"
SETTINGS = {"operators": (OPERATOR,), "readers": (READER,)}


@pytest.fixture(scope="module")
def log():
    return []


@pytest.fixture(scope="module")
def service(tmp_path_factory, log):
    store = tmp_path_factory.mktemp("tokens") / "serve.db"
    with serving(ServeSettings(port=0, store=str(store), **SETTINGS), log) as address:
        yield address


def _as(service, token):
    return Address(service.url, token)


@pytest.mark.parametrize("path", ["/v1/admissions", "/openapi.json", "/metrics", "/v1/admissions/shop/prices", "/v1/nothing"])
@pytest.mark.parametrize("token", ["", "wrong-wrong-wrong-wrong", OPERATOR[:-1], OPERATOR + "x", READER.upper()])
def test_without_a_right_token_nothing_is_said(service, path, token):
    reply = _as(service, token).get(path)
    assert (reply.status, reply.code) == (401, "E2703")
    assert reply.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("header", [f"Basic {OPERATOR}", f"Token {OPERATOR}", OPERATOR, f"Bearer: {OPERATOR}", "Bearer"])
def test_other_ways_to_say_a_token_are_none(service, header):
    assert _as(service, "").get("/v1/admissions", Authorization=header).status == 401


def test_a_token_in_the_address_is_none(service):
    assert _as(service, "").get(f"/v1/admissions?token={OPERATOR}&access_token={OPERATOR}").status == 401


def test_probes_and_the_page_need_none(service):
    for path in ("/healthz", "/readyz", "/v1/session"):
        assert _as(service, "").get(path).status == 200


def test_a_reader_reads_and_does_nothing_else(service):
    reader = _as(service, READER)
    assert reader.get("/v1/admissions").status == 200
    for method, path in (("POST", "/v1/admissions"), ("DELETE", "/v1/admissions/shop"), ("POST", "/v1/admissions/shop/offers")):
        reply = reader.ask(method, path, {})
        assert (reply.status, reply.code) == (403, "E2704")
    assert _as(service, OPERATOR).post("/v1/admissions", {}).status == 422


def test_a_wrong_token_is_refused_before_the_body_is_read(service):
    connection = _as(service, "").connect()
    connection.putrequest("POST", "/v1/admissions")
    connection.putheader("Content-Length", "1000000")
    connection.endheaders()  # nothing of the body is ever sent
    assert connection.getresponse().status == 401
    connection.close()


def test_a_session_does_what_its_token_may_and_needs_a_header_to_write(service):
    page = _as(service, "")
    assert page.get("/v1/session").content == {"role": "", "needs_token": True}
    assert page.post("/v1/session", {"token": "wrong"}).status == 401
    begun = page.post("/v1/session", {"token": OPERATOR})
    cookie = begun.headers["set-cookie"]
    assert begun.content["role"] == "operator" and OPERATOR not in cookie
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/" in cookie
    sent = {"Cookie": cookie.partition(";")[0]}
    assert page.get("/v1/session", **sent).content["role"] == "operator"
    assert page.get("/v1/admissions", **sent).status == 200
    assert (reply := page.ask("POST", "/v1/admissions", {}, sent)).status == 403 and reply.code == "E2710"
    assert page.ask("POST", "/v1/admissions", {}, {**sent, "X-Bayplan": "1"}).status == 422
    assert page.ask("DELETE", "/v1/session", None, {**sent, "X-Bayplan": "1"}).status == 204
    assert page.get("/v1/admissions", **sent).status == 401


def test_a_session_of_a_reader_cannot_write(service):
    begun = _as(service, "").post("/v1/session", {"token": READER})
    sent = {"Cookie": begun.headers["set-cookie"].partition(";")[0], "X-Bayplan": "1"}
    assert (reply := _as(service, "").ask("POST", "/v1/admissions", {}, sent)).status == 403 and reply.code == "E2704"


def test_no_secret_is_in_the_log(service, log):
    _as(service, OPERATOR).get(f"/v1/admissions?token={OPERATOR}")
    cookie = _as(service, "").post("/v1/session", {"token": OPERATOR}).headers["set-cookie"].partition(";")[0].partition("=")[2]
    text = json.dumps(log)
    assert OPERATOR not in text and READER not in text and cookie not in text
    line = [each for each in log if each["event"] == "request"][-1]
    assert {"method", "path", "status", "milliseconds", "by", "address"} <= line.keys()


def test_sessions_end_by_themselves_and_are_not_kept_without_limit():
    now = [0.0]
    tokens = Tokens(ServeSettings(**SETTINGS, ages=Ages(session=10.0)), clock=lambda: now[0])
    first = tokens.begin_session(Identity(Role.READER, "x"))
    assert tokens.of_session(first).role is Role.READER
    now[0] = 10.5
    assert tokens.of_session(first) is None
    for _ in range(2 * MOST_SESSIONS):
        tokens.begin_session(Identity(Role.READER, "x"))
    assert len(tokens._sessions) == MOST_SESSIONS


def test_sessions_of_one_token_end_only_each_other():
    tokens = Tokens(ServeSettings(**SETTINGS))
    operator, reader = tokens.of_token(OPERATOR), tokens.of_token(READER)
    kept = tokens.begin_session(operator)
    cookies = [tokens.begin_session(reader) for _ in range(MOST_SESSIONS + 1)]
    assert tokens.of_session(kept).role is Role.OPERATOR
    assert tokens.of_session(cookies[0]) is None and tokens.of_session(cookies[1]).role is Role.READER


def test_sessions_of_a_token_are_counted_as_that_token():
    """Else each login would have a rate, event streams and idempotency keys of its own."""
    tokens = Tokens(ServeSettings(**SETTINGS))
    reader = tokens.of_token(READER)
    for _ in range(2):
        session = tokens.of_session(tokens.begin_session(reader))
        assert session.name == reader.name and session.by_cookie


def test_all_tokens_are_compared_whichever_is_right(monkeypatch):
    compared = []
    tokens = Tokens(ServeSettings(operators=("a" * 16, "b" * 16), readers=("c" * 16,)))
    real = __import__("hmac").compare_digest
    monkeypatch.setattr("hmac.compare_digest", lambda one, other: compared.append(1) or real(one, other))
    for token in ("a" * 16, "c" * 16, "wrong"):
        compared.clear()
        tokens.of_token(token)
        assert len(compared) == 3


def test_one_client_that_asks_too_often_waits_and_others_do_not():
    now = [0.0]
    rates = Rates(10.0, clock=lambda: now[0])
    assert sum(rates.allows("a") for _ in range(100)) == 10 * BURST
    assert rates.allows("b") and not rates.allows("a")
    now[0] = 0.1
    assert rates.allows("a") and not rates.allows("a")


def test_names_of_clients_are_not_kept_without_limit():
    rates = Rates(10.0)
    for number in range(2 * MOST_NAMES):
        rates.allows(str(number))
    assert len(rates._buckets) <= MOST_NAMES


def test_too_many_requests_of_one_token_get_429(tmp_path):
    settings = ServeSettings(port=0, store=str(tmp_path / "serve.db"), limits=Limits(rate=2.0), **SETTINGS)
    with serving(settings) as service:
        replies = [service.get("/v1/admissions") for _ in range(20)]
        other = _as(service, READER).get("/v1/admissions")
    limited = [reply for reply in replies if reply.status == 429]
    assert limited and limited[0].code == "E2706" and limited[0].headers["retry-after"] == "1"
    assert other.status == 200


def test_a_wrong_token_costs_little(service):
    began = time.process_time()
    for number in range(100):
        _as(service, f"guess-guess-guess-{number}").get("/v1/admissions")
    assert time.process_time() - began < 2.0  # client and service together: they share this process
