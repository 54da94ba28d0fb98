"""Jobs over HTTP: every verb gives the library's own answer; limits, events, cancelling, downloads and refusals."""

import json
import time
from pathlib import Path

import pytest
from tests.builders.jobs_served import LONG, boutique, client_of, settings_in, until_incumbent
from tests.builders.served import serving

import bayplan as bp
from bayplan.api.inspect import show
from bayplan.api.requests.sweep import sweep_machines
from bayplan.api.what_if.state import what_if_state
from bayplan.report.json import explain_object, plain
from bayplan.serve.jobs.verbs import VERBS

EXAMPLES = Path(__file__).parents[4] / "examples"
STEPS = bp.Budget(iterations=2_000)
CLOCK = {"seconds", "solve_seconds", "looked_at_seconds"}  # what depends on the clock
UNKNOWN = f"job-{'0' * 32}"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with serving(settings_in(tmp_path_factory.mktemp("serve"))) as address:
        yield address


@pytest.fixture(scope="module")
def client(service):
    return client_of(service)


@pytest.fixture(scope="module")
def shop(client):
    return boutique(client)


def _timeless(value):
    if isinstance(value, dict):
        return {name: _timeless(part) for name, part in value.items() if name not in CLOCK}
    return [_timeless(part) for part in value] if isinstance(value, list) else value


def _target():
    return bp.rebalance(bp.generate("boutique"), max_moves=5, budget=STEPS).placement


CLUSTER = {  # verb -> options, and what the library answers to them
    "plan": ({"budget": STEPS, "threads": 1, "goal": "balance"}, bp.plan),
    "place": ({"budget": STEPS, "seed": 3}, bp.place),
    "rebalance": ({"budget": STEPS, "weights": {"overload": 100.0}, "freeze": ["cart*"]}, bp.rebalance),
    "collocate": ({"budget": STEPS, "max_moves": "20%"}, bp.collocate),
    "migrate": ({"target": _target, "alive": 0.6}, bp.migrate),
    "pack": ({"budget": bp.Budget(iterations=5), "confidence": 0.9, "method": "bf-ucac"}, bp.pack),
    "machines-needed": ({"budget": bp.Budget(iterations=5), "confidence": 0.9}, bp.machines_needed),
    "capacity": ({"survive": "zone"}, bp.capacity),
    "what-if": ({"what_if": bp.WhatIf(drain=("a1",), scale={"cart": 7})}, what_if_state),
    "check": ({}, bp.check),
    "show": ({}, show),
    "explain": ({"name": "frontend-0"}, bp.explain),
}


@pytest.mark.long
@pytest.mark.parametrize("verb", CLUSTER)
def test_a_job_about_a_cluster_gives_the_librarys_own_answer(verb, client, shop):
    options, call = CLUSTER[verb]
    options = {name: value() if callable(value) else value for name, value in options.items()}
    answer = call(bp.generate("boutique"), **options)
    expected = answer.to_dict() if hasattr(answer, "to_dict") else plain(explain_object(answer))
    result = client.submit(verb, shop, **options).result()
    assert _timeless(result) == _timeless(json.loads(json.dumps(expected)))


REQUESTS = {
    "schedule": ("requests.json", bp.read_requests, {"machines": 2, "budget": STEPS}, bp.schedule),
    "sweep": ("requests.json", bp.read_requests, {"machines": [1, 2], "budget": STEPS}, sweep_machines),
    "admit": ("admission.json", bp.read_stream, {"method": "primal-dual"}, bp.admit),
}


@pytest.mark.parametrize("verb", REQUESTS)
def test_a_job_about_requests_gives_the_librarys_own_answer(verb, client):
    file, read, options, call = REQUESTS[verb]
    expected = call(read(EXAMPLES / file), **options).to_dict()
    assert _timeless(client.submit(verb, EXAMPLES / file, **options).result()) == _timeless(json.loads(json.dumps(expected)))


def test_every_verb_is_compared_with_the_library():
    assert {*CLUSTER, *REQUESTS} == set(VERBS)


def test_an_answer_has_its_page_and_its_plan(client, shop, service, tmp_path):
    job = client.plan(shop, budget=STEPS)
    job.report(tmp_path / "plan.html")
    job.save(tmp_path / "plan.json")
    assert "<html" in (tmp_path / "plan.html").read_text()
    assert "batches" in json.loads((tmp_path / "plan.json").read_text())
    policy = service.get(f"/v1/jobs/{job.id}/report").headers["content-security-policy"]
    assert policy.startswith("sandbox ") and "default-src 'none'" in policy  # the page can reach nothing of the service


def test_a_file_that_a_verb_does_not_have_is_said(client, shop, service):
    job = client.check(shop).wait()
    reply = service.get(f"/v1/jobs/{job.id}/report")
    assert (reply.status, reply.code) == (404, "E2738")
    assert reply.content["faults"][0]["expected"] == "one of result"


def test_a_cancelled_job_keeps_its_best_so_far(client, shop):
    job = client.plan(shop, seconds=LONG)
    until_incumbent(job)
    assert job.cancel().result()["interrupted"]
    assert job.state == "cancelled"
    assert job.document["answer"]["headline"].startswith("Plan:")
    assert job.cancel().state == "cancelled"  # once more changes nothing


def test_an_event_stream_can_be_resumed_anywhere(client, shop):
    job = client.rebalance(shop, seconds=LONG)
    until_incumbent(job)
    job.cancel()
    whole = list(job.events())
    assert [event.number for event in whole] == list(range(1, len(whole) + 1))
    assert [event.kind for event in whole[:2]] == ["state", "state"] and whole[-1].kind == "ended"
    assert {"progress", "incumbent"} <= {event.kind for event in whole}
    for after in (0, 3, len(whole) - 1):
        assert list(job.events(after)) == whole[after:]


def test_events_so_far_can_be_had_without_waiting(client, shop, service):
    job = client.rebalance(shop, seconds=LONG)
    until_incumbent(job)
    reply = service.get(f"/v1/jobs/{job.id}/events?follow=false")
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert b"event: incumbent" in reply.content and b"event: ended" not in reply.content
    assert client.job(job.id).incumbent()["placement"]
    running = service.get(f"/v1/jobs/{job.id}/result")
    assert (running.status, running.code) == (409, "E2743")
    assert (kept := service.ask("DELETE", f"/v1/jobs/{job.id}")).status == 409 and kept.code == "E2743"
    needed = service.ask("DELETE", f"/v1/snapshots/{shop.id}")
    assert (needed.status, needed.code) == (409, "E2740")
    job.cancel().wait()


def test_incumbents_only_get_better(client, shop):
    job, values, ticks = client.rebalance(shop, seconds=LONG), [], 0
    for event in job.events():
        ticks += event.kind == "progress" and bool(values)
        values += [event.data["value"]] if event.kind == "incumbent" else []
        if ticks == 10:
            job.cancel()
    assert values == sorted(values, reverse=True) and values


def test_a_job_that_fails_raises_what_the_library_raises(client, shop):
    with pytest.raises(bp.UsageError, match="nothing to freeze is called 'nothing'"):
        client.plan(shop, freeze=["nothing"]).result()
    with pytest.raises(bp.UsageError, match="drain 'zz': no such machine"):
        client.plan(shop, what_if=bp.WhatIf(drain=("zz",))).result()


def test_a_job_is_deleted_with_its_files(client, shop, service):
    job = client.show(shop).wait()
    job.delete()
    for path in ("", "/result", "/report", "/events"):
        reply = service.get(f"/v1/jobs/{job.id}{path}")
        assert (reply.status, reply.code) == (404, "E2737")


def test_the_same_request_with_one_key_starts_one_job(service, shop):
    body = {"verb": "show", "snapshot": shop.id, "options": {}}
    first, again = (service.post("/v1/jobs", body, idempotency_key="monday") for _ in range(2))
    assert first.status == again.status == 202 and first.content["id"] == again.content["id"]
    other = service.post("/v1/jobs", {**body, "verb": "check"}, idempotency_key="monday")
    assert (other.status, other.code) == (422, "E2711")


def test_a_delete_with_one_key_gets_one_answer(client, shop, service):
    job = client.show(shop).wait()
    replies = [service.ask("DELETE", f"/v1/jobs/{job.id}", headers={"Idempotency-Key": "end"}) for _ in range(2)]
    assert [reply.status for reply in replies] == [204, 204]


REFUSED = [
    ({"verb": "plann", "snapshot": "S"}, 422, "E2734"),
    ({"verb": "plan", "snapshot": f"sha256-{'0' * 64}"}, 404, "E2735"),
    ({"verb": "plan", "snapshot": "../../etc/passwd"}, 404, "E2735"),
    ({"verb": "admit", "snapshot": "S"}, 409, "E2736"),
    ({"verb": "plan", "snapshot": "S", "options": {"gaol": "steady"}}, 422, "E2731"),
    ({"verb": "plan", "snapshot": "S", "options": {"seconds": "5"}}, 422, "E2732"),
    ({"verb": "explain", "snapshot": "S"}, 422, "E2733"),
    ({"verb": "migrate", "snapshot": "S", "options": {"target": f"sha256-{'0' * 64}"}}, 404, "E2735"),
    ({"verb": "plan"}, 422, "E2745"),
    ({"verb": "plan", "snapshot": "S", "more": 1}, 422, "E2745"),
    ([], 422, "E2745"),
    (b"{", 400, "E1006"),
    (b"\xff", 400, "E1005"),
    (b"[" * 100_000, 400, "E1009"),
]


@pytest.mark.parametrize(("body", "status", "code"), REFUSED, ids=[f"{n}-{row[2]}" for n, row in enumerate(REFUSED)])
def test_a_request_that_cannot_be_met_is_refused_with_a_number(body, status, code, service, shop):
    if isinstance(body, dict) and body.get("snapshot") == "S":
        body = {**body, "snapshot": shop.id}
    reply = service.ask("POST", "/v1/jobs", body)
    assert (reply.status, reply.code) == (status, code)
    assert reply.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", [UNKNOWN, f"{UNKNOWN}/result", f"{UNKNOWN}/events", f"{UNKNOWN}/plan"])
def test_a_job_that_is_not_there_is_said(path, service):
    reply = service.get(f"/v1/jobs/{path}")
    assert (reply.status, reply.code) == (404, "E2737")


@pytest.mark.parametrize("name", ["..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "job-1", "job-" + "g" * 32, "%00"])
def test_no_path_of_the_server_can_be_named(name, service):
    for tail in ("", "/result", "/report"):
        assert service.get(f"/v1/jobs/{name}{tail}").status in (404, 422)
        assert service.get(f"/v1/snapshots/{name}{tail}").status in (404, 405, 422)


def test_the_verbs_describe_themselves(client):
    verbs = client.verbs()
    assert set(verbs) == set(VERBS)
    assert verbs["plan"]["options"]["properties"]["seconds"]["description"].startswith("wall time")


def test_jobs_beyond_the_limit_wait_and_too_many_are_refused(tmp_path):
    with serving(settings_in(tmp_path, jobs=1, waiting_jobs=1)) as address:
        client = client_of(address)
        shop = boutique(client)
        first = client.plan(shop, seconds=LONG)
        until_incumbent(first)
        second = client.show(shop)
        assert second.refresh().state == "waiting"
        reply = address.post("/v1/jobs", {"verb": "show", "snapshot": shop.id})
        assert (reply.status, reply.code) == (429, "E2739") and int(reply.headers["retry-after"]) > 0
        assert [job.id for job in client.jobs(state="waiting")] == [second.id]
        third_waits = second.cancel()
        assert third_waits.state == "cancelled"  # one that waits ends at once
        fourth = client.show(shop)
        first.cancel()
        assert fourth.wait().state == "done" and first.refresh().state == "cancelled"


def test_the_metrics_count_jobs_that_wait_and_run(service):
    def counted():
        return b'bayplan_jobs{state="waiting"}' in service.get("/metrics").content

    deadline = time.monotonic() + 30.0
    while not counted():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_old_jobs_and_snapshots_are_pruned(tmp_path):
    from bayplan.serve.running import RunningService

    running = RunningService(settings_in(tmp_path), lambda event, fields: None, lambda _: None)
    queue = running.service.jobs
    try:
        snapshot, _ = queue.snapshots.keep((EXAMPLES / "shop.yaml").read_bytes(), "yaml")
        job = queue.submit("show", snapshot.id, {})
        queue.cancel(job.id)
        now = queue.find(job.id).ended
        queue.prune(now + queue.settings.job_age - 1)
        assert queue.find(job.id).state == "cancelled"
        queue.prune(now + queue.settings.job_age + 1)
        with pytest.raises(bp.InputError, match="E2737"):
            queue.find(job.id)
        assert queue.snapshots.find(snapshot.id).id == snapshot.id
        queue.prune(now + queue.settings.snapshot_age + 1)
        with pytest.raises(bp.InputError, match="E2735"):
            queue.snapshots.find(snapshot.id)
        assert not any((tmp_path / "files" / "snapshots").iterdir())
    finally:
        running.service.database.close()
        running._listener.close()
