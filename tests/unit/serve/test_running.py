"""A service starts without set-up, answers its probes, and ends in order."""

import json
import signal

import pytest
from tests.builders.served import ServerProcess, serving

from bayplan.errors import UsageError, WorldError
from bayplan.serve.running import RunningService
from bayplan.serve.settings import ServeSettings, read_tokens


def _settings(tmp_path, **more):
    return ServeSettings(port=0, store=str(tmp_path / "serve.db"), folder=tmp_path / "files", **more)


def test_it_starts_with_a_store_of_its_own_and_answers(tmp_path):
    with serving(_settings(tmp_path)) as service:
        assert service.get("/healthz").content == {"status": "ok"}
        assert service.get("/readyz").content == {"status": "ok"}
        assert b"bayplan_service_info" in service.get("/metrics").content
        assert service.get("/openapi.json").content["info"]["title"] == "bayplan"
    assert (tmp_path / "serve.db").exists()


def test_the_openapi_document_says_how_errors_look(tmp_path):
    with serving(_settings(tmp_path)) as service:
        document = service.get("/openapi.json").content
    assert {"ProblemShown", "FaultShown"} <= document["components"]["schemas"].keys()
    assert "HTTPValidationError" not in json.dumps(document)


def test_what_is_not_there_is_said_with_a_number(tmp_path):
    with serving(_settings(tmp_path)) as service:
        lost, wrong, invalid = service.get("/v1/nothing"), service.post("/healthz"), service.post("/v1/session", {"tokn": 1})
    assert (lost.status, lost.code, lost.headers["content-type"]) == (404, "E2701", "application/problem+json")
    assert (wrong.status, wrong.code) == (405, "E2702")
    assert (invalid.status, invalid.code) == (422, "E1107")


def test_sigterm_ends_the_process_in_order(tmp_path):
    with ServerProcess("--store", str(tmp_path / "serve.db"), folder=tmp_path) as server:
        assert server.address.get("/healthz").status == 200
        server.send(signal.SIGTERM)
        assert server.process.wait(30) == 0


def test_a_port_that_is_taken_is_said(tmp_path):
    with serving(_settings(tmp_path)) as service:
        port = int(service.url.rpartition(":")[2])
        with pytest.raises(WorldError, match=f"cannot listen on '127.0.0.1:{port}'"):
            RunningService(ServeSettings(port=port, store=":memory:"), lambda *_: None, lambda _: None)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "10.1.2.3", "shop.example.org"])
def test_other_machines_need_a_token(host):
    with pytest.raises(UsageError, match="can be reached by other machines, so a token is needed"):
        ServeSettings(host=host)
    assert ServeSettings(host=host, operators=("x" * 16,)).is_open is False


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.8.8"])
def test_this_machine_needs_none(host):
    assert ServeSettings(host=host).is_open


@pytest.mark.parametrize("token", ["short", "x" * 15, "with a blank in it", "ünïcödé-ünïcödé-ünïcödé"])
def test_a_token_that_is_easy_to_guess_or_cannot_be_sent_is_refused_without_repeating_it(token):
    with pytest.raises(UsageError) as error:
        ServeSettings(operators=(token,))
    assert token not in str(error.value)


def test_one_token_has_one_role():
    with pytest.raises(UsageError, match="a token of its own for each role"):
        ServeSettings(operators=("x" * 16,), readers=("x" * 16,))


def test_tokens_do_not_show_themselves():
    assert "secret" not in repr(ServeSettings(operators=("secret-secret-secret",), readers=("secret-secret-reader",)))


def test_tokens_come_from_a_file_and_the_environment(tmp_path):
    file = tmp_path / "tokens"
    file.write_text("# ours\nfirst-first-first\n\nsecond-second-second\n")
    assert read_tokens(file, "X", {"X": "third-third-third\n"}) == (
        "third-third-third",
        "first-first-first",
        "second-second-second",
    )
    file.write_text("# none\n")
    with pytest.raises(UsageError, match="there is no token in"):
        read_tokens(file, "X", {})
