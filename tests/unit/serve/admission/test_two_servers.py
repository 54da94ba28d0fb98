"""Two servers on one PostgreSQL: one decides, the other takes over, and no offer ever has two verdicts."""

import json
import signal
import threading
import time
from collections import Counter
from contextlib import ExitStack

import pytest
from tests.builders.offered import creation, offers, stream
from tests.builders.served import ServerProcess
from tests.stress.serve_kills import log_after

pytestmark = pytest.mark.postgres
TAKEN_OVER = 20.0  # seconds after a kill
PATIENCE = 240.0
PATH = "/v1/admissions/shop"


@pytest.fixture
def two(postgres_server, tmp_path):
    """Two servers with one admission, the first of which decides."""
    address, requests = postgres_server.address(), stream(count=400, zones=4)
    with ExitStack() as stack:
        first, second = (stack.enter_context(ServerProcess("--store", address, folder=tmp_path)) for _ in range(2))
        assert first.address.post("/v1/admissions", creation(requests, method="learned")).status == 201
        given = offers(requests)
        assert first.address.post(f"{PATH}/offers", given[0], Idempotency_Key="0").status == 200
        yield first, second, given


def decided(server, given, key, deadline):
    """The reply with a verdict, asked for again and again until then; None if there was none."""
    end = time.monotonic() + deadline
    while time.monotonic() < end:
        reply = server.address.post(f"{PATH}/offers", given, Idempotency_Key=key)
        if reply.status != 503:
            return reply
        assert reply.code in ("E2712", "E2713") and "retry-after" in reply.headers
    return None


def test_one_decides_and_the_other_reads_the_same(two):
    first, second, given = two
    refused = second.address.post(f"{PATH}/offers", given[1])
    assert (refused.status, refused.code) == (503, "E2713")
    for number in range(1, 20):
        assert first.address.post(f"{PATH}/offers", given[number]).status == 200
        mine, other = (server.address.get(PATH).content for server in (first, second))
        assert (mine.pop("decides_here"), other.pop("decides_here")) == (True, False)
        assert mine == other
    for part in ("prices", "utilisation", "forecast", "history", "running"):
        assert first.address.get(f"{PATH}/{part}").content == second.address.get(f"{PATH}/{part}").content


def test_a_server_that_ends_in_order_hands_over_at_once(two):
    first, second, given = two
    assert first.end() == 0
    assert second.address.post(f"{PATH}/offers", given[1]).status == 200


def test_the_other_takes_over_soon_after_a_kill(two):
    first, second, given = two
    first.kill()
    began = time.monotonic()
    reply = decided(second, given[1], "1", TAKEN_OVER)
    assert reply is not None and reply.status == 200 and time.monotonic() - began < TAKEN_OVER
    again = second.address.post(f"{PATH}/offers", given[0], Idempotency_Key="0")
    assert again.headers["idempotency-replayed"] == "true" and again.content["seq"] == 1


def test_a_server_that_slept_while_another_took_over_gives_no_second_verdict(two):
    first, second, given = two
    first.send(signal.SIGSTOP)
    asked = []
    late = threading.Thread(target=lambda: asked.append(first.address.post(f"{PATH}/offers", given[1], Idempotency_Key="1")))
    late.start()  # it reaches a process that sleeps
    try:
        taken = decided(second, given[1], "1", PATIENCE)
        assert taken is not None and taken.status == 200
    finally:
        first.send(signal.SIGCONT)
    late.join(PATIENCE)
    reply = asked[0]
    assert reply.status == 503 or reply.content == taken.content
    assert first.address.post(f"{PATH}/offers", given[2]).status == 503  # it knows that it decides no longer
    entries = log_after(second.address, "shop", 0)
    assert [entry["outcome"]["name"] for entry in entries] == [given[0]["name"], given[1]["name"]]


def test_under_load_on_both_every_offer_has_one_verdict_through_a_partition(two):
    first, second, given = two
    answers, stop, lock = [], threading.Event(), threading.Lock()
    waiting = iter(range(1, len(given)))

    def client(servers):
        while not stop.is_set():
            with lock:
                number = next(waiting, None)
            if number is None:
                return
            body = {name: value for name, value in given[number].items() if name != "arrival"} | {"start": 1e3, "end": 1e3 + 5}
            for server in servers:  # both get the same offer
                reply = server.address.post(f"{PATH}/offers", body, Idempotency_Key=str(number))
                with lock:
                    answers.append((reply.status, reply.content))

    orders = [(first, second), (second, first)] * 2
    threads = [threading.Thread(target=client, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    first.send(signal.SIGSTOP)  # in the middle of what it does
    try:
        assert (
            decided(second, {**given[0], "name": "after", "arrival": 1e3 - 1, "start": 1e3, "end": 1e3 + 5}, "a", PATIENCE)
            is not None
        )
    finally:
        first.send(signal.SIGCONT)
    for thread in threads:
        thread.join(PATIENCE)
    stop.set()
    entries = log_after(second.address, "shop", 0)
    logged = {entry["outcome"]["name"]: entry["outcome"] for entry in entries}
    assert len(logged) == len(entries)  # none twice
    verdicts = Counter(json.dumps(content, sort_keys=True) for status, content in answers if status == 200)
    assert verdicts and {json.loads(text)["name"] for text in verdicts} <= logged.keys()
    assert all(logged[json.loads(text)["name"]] == json.loads(text) for text in verdicts)
    assert {status for status, _ in answers} <= {200, 409, 503}
