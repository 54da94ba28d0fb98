"""The routes of the page: its files, bay plans and findings of snapshots, and the loop, over HTTP."""

import gzip
import json

import pytest
from tests.builders.jobs_served import client_of
from tests.builders.records import plan, turn
from tests.builders.served import serving

import bayplan as bp
from bayplan.formats.native.write import native_document, text_of
from bayplan.model.record import PlanStatus
from bayplan.operate.store import Store
from bayplan.serve.settings import ServeSettings


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("service")


@pytest.fixture(scope="module")
def service(folder):
    record = folder / "loop.db"
    with Store.open(str(record)) as store:
        fence = store.acquire("loop", now=1.0, seconds=1e9)
        store.begin_turn(turn(), fence)
        store.save_plan(plan("plan-1", PlanStatus.PROPOSED), fence)
    settings = ServeSettings(port=0, store=str(folder / "serve.db"), folder=folder / "files", record=str(record))
    with serving(settings) as address:
        yield address


@pytest.fixture(scope="module")
def shop(service, folder):
    bp.write(bp.generate("boutique"), folder / "shop.json")
    return service.ask("POST", "/v1/snapshots", (folder / "shop.json").read_bytes()).content["id"]


def test_the_page_has_a_strict_policy_and_a_tag(service):
    page = service.get("/")
    assert page.status == 200 and page.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert service.get("/", **{"If-None-Match": page.headers["etag"]}).status == 304


def test_files_of_the_page_have_their_types_and_no_others_are_there(service):
    assert service.get("/page/main.js").headers["content-type"] == "text/javascript; charset=utf-8"
    assert service.get("/page/page.css").status == 200
    for name in ("none.js", "index.html", "..%2fapp.py", "%2e%2e/app.py"):
        assert service.get(f"/page/{name}").status == 404


def test_a_bay_plan_is_the_same_packed_and_plain(service, shop):
    plain = service.get(f"/v1/snapshots/{shop}/bayplan").content
    assert len(plain["containers"]["machine"]) == 77
    connection = service.connect()
    connection.request("GET", f"/v1/snapshots/{shop}/bayplan", headers={"Accept-Encoding": "gzip"})
    reply = connection.getresponse()
    assert reply.getheader("content-encoding") == "gzip"
    assert json.loads(gzip.decompress(reply.read())) == plain
    connection.close()


def test_findings_come_in_words(service, shop):
    found = service.get(f"/v1/snapshots/{shop}/findings").content
    assert found["findings"][0]["text"] == "2 containers have no machine: frontend-9, ranker-2"


def test_a_snapshot_that_is_not_there_has_no_picture(service):
    reply = service.get(f"/v1/snapshots/sha256-{'0' * 64}/bayplan")
    assert (reply.status, reply.code) == (404, "E2735")
    assert service.get("/v1/snapshots/nonsense/findings").status == 422


def test_requests_have_no_bay_plan(service, folder):
    bp.write(bp.generate("requests", n=20, machines=2, load=1.0), folder / "requests.json")
    sent = service.ask("POST", "/v1/snapshots", (folder / "requests.json").read_bytes()).content["id"]
    reply = service.get(f"/v1/snapshots/{sent}/bayplan")
    assert (reply.status, reply.code) == (409, "E2736")


def test_the_loop_is_shown_and_told(service):
    assert service.get("/v1/loop").content["waiting"] == ["plan-1"]
    assert "approved plan plan-1" in service.post("/v1/loop/approve", {"plan": "plan-1"}).content["done"]
    assert service.post("/v1/loop/pause", {"why": "release night", "by": "ann"}).status == 200
    assert service.get("/v1/loop").content["paused"]["by"] == "ann"
    assert service.post("/v1/loop/resume").status == 200
    assert service.get("/v1/loop").content["paused"] is None


def test_a_key_that_comes_again_gets_the_same_answer_once(service):
    first = service.post("/v1/loop/pause", {"why": "once"}, idempotency_key="k-1")
    service.post("/v1/loop/resume")
    again = service.post("/v1/loop/pause", {"why": "once"}, idempotency_key="k-1")
    assert again.content == first.content
    assert service.get("/v1/loop").content["paused"] is None
    other = service.post("/v1/loop/pause", {"why": "twice"}, idempotency_key="k-1")
    assert (other.status, other.code) == (422, "E2711")


def test_what_the_loop_cannot_do_is_refused_in_words(service):
    reply = service.post("/v1/loop/rollback", {"plan": "none"})
    assert (reply.status, reply.code) == (422, "E2715")
    assert "no plan 'none'" in reply.content["detail"]
    assert service.post("/v1/loop/pause", {"reason": "?"}).status == 422


def test_the_history_is_an_object_and_a_page_that_can_do_nothing(service):
    assert service.get("/v1/loop/history?last=3600").content["summary"]["turns"] == 1
    page = service.get("/v1/loop/report")
    assert page.content.startswith(b"<!DOCTYPE html>")
    assert page.headers["content-security-policy"].startswith("sandbox")
    assert service.get("/v1/loop/history?last=-1").status == 422


def test_a_loop_that_has_seen_nothing_has_no_bay_plan_and_no_snapshot(service):
    assert service.get("/v1/loop").content["observed"] is None
    assert service.get("/v1/loop/bayplan").status == 404
    assert service.post("/v1/loop/snapshot").status == 404


@pytest.fixture
def seen(folder, service):
    """A loop that has seen the shop; its time is the record's."""
    with Store.open(str(folder / "loop.db")) as store:
        content = gzip.compress(text_of(native_document(bp.generate("boutique"))).encode())
        store.keep_observed(7.0, content, store.lease().fence)
        yield store


def test_what_the_loop_sees_is_drawn_and_becomes_a_snapshot(service, seen):
    assert service.get("/v1/loop").content["observed"] == 7.0
    drawn = service.get("/v1/loop/bayplan").content
    assert len(drawn["containers"]["machine"]) == 77
    kept = service.post("/v1/loop/snapshot", idempotency_key="seen-1")
    assert kept.content["machines"] == 12
    assert service.get(f"/v1/snapshots/{kept.content['id']}/bayplan").content == drawn
    seen.keep_observed(8.0, gzip.compress(b"{}"), seen.lease().fence)
    assert service.post("/v1/loop/snapshot", idempotency_key="seen-1").content == kept.content


def test_the_plan_of_a_job_is_handed_to_the_loop_once(service, seen):
    client = client_of(service)
    shop = client.loop_snapshot()
    job = client.plan(shop, seconds=1.0)
    said = job.hand_to_loop("ann")
    (plan,) = [plan for plan in seen.plans(PlanStatus.APPROVED) if plan.approved_by == "ann"]
    assert f"handed in as plan {plan.id}" in said
    assert len(plan.moves) == job.result()["moved"] and plan.by_name
    assert all(move.why for move in plan.moves)
    assert service.post("/v1/loop/plans", {"job": job.id}).content["done"] == said
    assert plan.id in service.get("/v1/loop").content["approved"]


def test_a_job_without_steps_is_not_handed_in(service, seen):
    client = client_of(service)
    job = client.rebalance(client.loop_snapshot(), seconds=0.5).wait()
    reply = service.post("/v1/loop/plans", {"job": job.id})
    assert (reply.status, reply.code) == (409, "E2751")
    assert service.post("/v1/loop/plans", {"job": f"job-{'0' * 32}"}).status == 404
    assert service.post("/v1/loop/plans", {"job": "latest"}).status == 422


def test_without_a_record_there_is_no_loop(tmp_path):
    with serving(ServeSettings(port=0, store=str(tmp_path / "serve.db"), folder=tmp_path / "files")) as address:
        assert address.get("/v1/loop").content["known"] is False
        reply = address.post("/v1/loop/pause")
        assert (reply.status, reply.code) == (404, "E2750")


def test_a_record_that_was_not_begun_yet_is_looked_for_again(tmp_path):
    record = str(tmp_path / "loop.db")
    settings = ServeSettings(port=0, store=str(tmp_path / "serve.db"), folder=tmp_path / "files", record=record)
    with serving(settings) as address:
        assert "no record" in address.get("/v1/loop").content["headline"]
        Store.open(record).close()
        assert address.get("/v1/loop").content["known"] is True


def test_a_reader_may_look_at_the_loop_and_not_steer_it(tmp_path):
    record, token = str(tmp_path / "loop.db"), "a-token-that-may-only-read"
    Store.open(record).close()
    settings = ServeSettings(port=0, store=str(tmp_path / "serve.db"), folder=tmp_path / "files", record=record, readers=(token,))
    with serving(settings) as address:
        assert address.get("/v1/loop").status == 401
        assert address.get("/").status == 200
        assert address.get("/v1/loop", Authorization=f"Bearer {token}").status == 200
        assert address.ask("POST", "/v1/loop/pause", {}, {"Authorization": f"Bearer {token}"}).status == 403
