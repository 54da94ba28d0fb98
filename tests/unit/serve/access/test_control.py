"""What many requests under way leave for others: probes are always answered, and nobody follows event streams without limit."""

import asyncio
import json

import pytest

from bayplan.serve.access import AccessControl, Tokens
from bayplan.serve.app import make_service
from bayplan.serve.settings import Limits, ServeSettings

OPERATOR, READER = "operator-operator-1", "reader-reader-reader-1"
STREAM = f"/v1/jobs/job-{'0' * 32}/events"


class _Held:
    """An application whose answers to all but probes begin, and end when they are let go."""

    def __init__(self):
        self.let_go, self.begun = asyncio.Event(), 0

    async def __call__(self, scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        self.begun += 1
        if scope["path"] not in ("/healthz", "/readyz"):
            await self.let_go.wait()
        await send({"type": "http.response.body", "body": b"{}"})


async def _asked(control, path, token=""):
    """Status and content of an answer."""
    headers = [(b"host", b"127.0.0.1")] + ([(b"authorization", f"Bearer {token}".encode())] if token else [])
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "client": ("10.0.0.1", 1)}
    sent = []

    async def receive():
        return {"type": "http.request", "body": b""}

    async def send(message):
        sent.append(message)

    await control(scope, receive, send)
    return sent[0]["status"], json.loads(b"".join(message.get("body", b"") for message in sent[1:]))


async def _held(held, control, count, path, token):
    """So many requests, all under way."""
    expected = held.begun + count
    tasks = [asyncio.create_task(_asked(control, path, token)) for _ in range(count)]
    while held.begun < expected:
        await asyncio.sleep(0)
    return tasks


@pytest.fixture
def made(tmp_path):
    services = []

    def make(**limits):
        settings = ServeSettings(
            store=str(tmp_path / "serve.db"),
            folder=tmp_path / "files",
            operators=(OPERATOR,),
            readers=(READER,),
            limits=Limits(**limits),
        )
        services.append(make_service(settings))
        held = _Held()
        return held, AccessControl(held, services[-1], Tokens(settings))

    yield make
    for service in services:
        service.database.close()


def test_probes_are_answered_when_there_are_too_many_requests(made):
    async def case():
        held, control = made(requests=3)
        tasks = await _held(held, control, 3, "/v1/jobs", READER)
        refused = await _asked(control, "/v1/jobs", OPERATOR)
        probes = [await _asked(control, path) for path in ("/healthz", "/readyz")]
        held.let_go.set()
        await asyncio.gather(*tasks)
        return refused, probes

    (status, content), probes = asyncio.run(case())
    assert (status, content["faults"][0]["code"]) == (429, "E2706")
    assert [status for status, _ in probes] == [200, 200]


def test_probes_are_answered_when_others_of_the_address_ask_too_often(made):
    async def case():
        held, control = made(rate=1.0)
        held.let_go.set()
        others = [await _asked(control, "/") for _ in range(10)]
        return others, await _asked(control, "/healthz")

    others, (status, _) = asyncio.run(case())
    assert others[-1][0] == 429 and status == 200


def test_event_streams_of_one_token_have_a_limit(made):
    async def case():
        held, control = made(streams=2)
        tasks = await _held(held, control, 2, STREAM, READER)
        refused = await _asked(control, STREAM, READER)
        tasks += await _held(held, control, 1, STREAM, OPERATOR)  # another token has its own
        tasks += await _held(held, control, 1, "/v1/jobs", READER)  # and there is more than streams
        held.let_go.set()
        await asyncio.gather(*tasks)
        return refused, await _asked(control, STREAM, READER), control

    (status, content), after, control = asyncio.run(case())
    assert (status, content["faults"][0]["code"]) == (429, "E2706")
    assert "event streams" in content["detail"]
    assert after[0] == 200 and not control._streams
