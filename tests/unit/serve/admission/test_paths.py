"""Admissions over HTTP: created, offered to, read, deleted; the same key gets the same answer once."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.builders.offered import creation, offers, stream
from tests.builders.served import serving

from bayplan.decide.admit import Admission
from bayplan.formats.streams.entry import request_of
from bayplan.serve.settings import Limits, ServeSettings


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    with serving(ServeSettings(port=0, store=str(folder / "serve.db"), folder=folder / "files")) as address:
        yield address


@pytest.fixture
def shop(service, request):
    """A new admission, its path and the offers for it."""
    requests, name = stream(count=40), f"shop-{abs(hash(request.node.name)) % 10**9}"
    assert service.post("/v1/admissions", creation(requests, name, "primal-dual")).status == 201
    return f"/v1/admissions/{name}", requests


def test_verdicts_are_those_of_the_library(service, shop):
    path, requests = shop
    admission = Admission(requests.zones, method="primal-dual")
    for given in offers(requests):
        reply = service.post(f"{path}/offers", given)
        expected = admission.offer(request_of(given, requests.zones, base_units=True))
        assert reply.status == 200
        assert (reply.content["accepted"], reply.content["why"]) == (expected.accepted, expected.why)
        zones = None if expected.zone is None else [requests.zones.name[z] for z in expected.zone]
        assert (None if reply.content["zones"] is None else list(reply.content["zones"].values())) == zones
    about = service.get(path).content
    assert (about["offers"], about["accepted"], about["value"]) == (40, admission.accepted, admission.value)
    assert about["decides_here"] and about["now"] == admission.now
    assert [each["name"] for each in service.get(f"{path}/running").content["running"]] == [
        each.name for each in admission.running
    ]
    prices = service.get(f"{path}/prices").content
    assert [list(row.values()) for row in prices["zones"].values()] == admission.prices().zone.tolist()
    used = service.get(f"{path}/utilisation").content
    assert [list(row.values()) for row in used["zones"].values()] == admission.utilisation().zone.tolist()


def test_the_same_key_gets_the_same_answer_once(service, shop):
    path, requests = shop
    given = offers(requests)[0]
    first, second = (service.post(f"{path}/offers", given, Idempotency_Key="key-1") for _ in range(2))
    assert first.content == second.content
    assert "idempotency-replayed" not in first.headers and second.headers["idempotency-replayed"] == "true"
    assert service.get(path).content["offers"] == 1
    other = service.post(f"{path}/offers", offers(requests)[1], Idempotency_Key="key-1")
    assert (other.status, other.code) == (422, "E2711")


def test_the_same_key_sent_by_many_at_once_is_decided_once(service, shop):
    path, requests = shop
    given = offers(requests)[0]
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda _: service.post(f"{path}/offers", given, Idempotency_Key="key-2"), range(32)))
    assert {json.dumps(reply.content) for reply in replies} == {json.dumps(replies[0].content)}
    assert sum("idempotency-replayed" not in reply.headers for reply in replies) == 1
    assert service.get(path).content["changes"] == 1


def test_releases_and_time_go_into_the_log(service, shop):
    path, requests = shop
    accepted = [given for given in offers(requests) if service.post(f"{path}/offers", given).content["accepted"]]
    name = service.get(f"{path}/running").content["running"][-1]["name"]
    now = service.get(path).content["now"]
    released = service.post(f"{path}/releases", {"name": name}, Idempotency_Key="r")
    assert (released.status, released.content["released"]) == (200, name) and accepted
    assert service.post(f"{path}/releases", {"name": name}, Idempotency_Key="r").content == released.content
    again = service.post(f"{path}/releases", {"name": name})
    assert (again.status, again.code) == (404, "E2010")
    advanced = service.post(f"{path}/advance", {"time": now + 5})
    assert advanced.content["now"] == now + 5
    back = service.post(f"{path}/advance", {"time": now})
    assert (back.status, back.code) == (409, "E2011")
    history = service.get(f"{path}/history?limit=2").content
    assert [entry["kind"] for entry in history["entries"]] == ["advance", "release"]
    older = service.get(f"{path}/history?limit=1&before={history['before']}").content["entries"]
    assert older[0]["kind"] == "offer" and older[0]["outcome"]["seq"] == history["before"] - 1
    assert len(history["start"]) == len(history["price"]["zone"]) == len(history["price"]["link"]) > 0


def test_a_forecast_is_what_is_booked(service, shop):
    path, requests = shop
    for given in offers(requests):
        service.post(f"{path}/offers", given)
    forecast = service.get(f"{path}/forecast?slots=5").content
    now = service.get(path).content["now"]
    assert forecast["start"] == [now + ahead for ahead in range(5)]
    for ahead, row in enumerate(forecast["used"]["zone"]):
        at = service.get(f"{path}/utilisation?time={now + ahead}").content
        assert [list(each.values()) for each in at["zones"].values()] == row


def test_admissions_are_listed_and_deleted(service, shop):
    path, requests = shop
    name = path.rpartition("/")[2]
    assert name in [each["name"] for each in service.get("/v1/admissions").content["admissions"]]
    again = service.post("/v1/admissions", creation(requests, name))
    assert (again.status, again.code) == (409, "E2714")
    assert service.ask("DELETE", path).status == 204
    gone = service.post(f"{path}/offers", offers(requests)[0])
    assert (gone.status, gone.code) == (404, "E2701")
    assert service.ask("DELETE", path).status == 404
    assert service.post("/v1/admissions", creation(requests, name)).status == 201
    assert service.get(path).content["changes"] == 0


def test_a_creation_or_a_deletion_sent_twice_is_done_once(service):
    body = creation(stream(), "twice")
    first, second = (service.post("/v1/admissions", body, Idempotency_Key="create-1") for _ in range(2))
    assert first.status == second.status == 201 and first.content == second.content
    other = service.post("/v1/admissions", {**body, "name": "other"}, Idempotency_Key="create-1")
    assert (other.status, other.code) == (422, "E2711")
    key = {"Idempotency-Key": "delete-1"}
    assert [service.ask("DELETE", "/v1/admissions/twice", headers=key).status for _ in range(2)] == [204, 204]
    assert service.ask("DELETE", "/v1/admissions/twice").status == 404


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("offers", b"{", 400, "E1006"),
        ("offers", b"\xff", 400, "E1005"),
        ("offers", b'{"name": 1, "name": 2}', 400, "E1010"),
        ("offers", b"[" * 100_000, 400, "E1009"),
        ("offers", b"[]", 422, "E1101"),
        ("offers", {"name": "x"}, 422, "E1107"),
        ("offers", {"name": "x", "colour": "red"}, 422, "E1107"),
        ("releases", {"name": "nothing"}, 404, "E2010"),
        ("releases", {"nam": "x"}, 422, "E1107"),
        ("releases", {"name": "x", "at": "noon"}, 422, "E1101"),
        ("advance", {"time": True}, 422, "E1101"),
        ("advance", {"time": 1e300}, 422, "E2012"),
        ("advance", b'{"time": NaN}', 422, "E1103"),
        ("advance", b'{"time": 1e999}', 422, "E1103"),
    ],
)
def test_what_is_wrong_is_said_with_a_number_and_changes_nothing(path, body, status, code, service, shop):
    reply = service.post(f"{shop[0]}/{path}", body)
    assert (reply.status, reply.code) == (status, code)
    assert service.get(shop[0]).content["changes"] == 0


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"name": "Not A Name"}, "E1110"),
        ({"name": "../../etc"}, "E1110"),
        ({"zones": []}, "E1110"),
        ({"zones": [{"name": "a", "capacity": {"cpu": -1}}]}, "E1504"),
        ({"method": "offline"}, "E1109"),
        ({"method": 7}, "E1109"),
        ({"colour": "red"}, "E1108"),
        ({"seed": -1}, "E1110"),
        ({"options": {"slot": 0}}, "E1110"),
    ],
)
def test_an_admission_that_makes_no_sense_is_not_created(change, code, service):
    reply = service.post("/v1/admissions", {**creation(stream(), "new"), **change})
    assert reply.status == 422
    assert reply.code == code or "zones" in change
    assert "new" not in [each["name"] for each in service.get("/v1/admissions").content["admissions"]]


def test_one_offer_cannot_take_all_memory_or_time(service, shop):
    path, requests = shop
    given = offers(requests)[0]
    far = service.post(f"{path}/offers", {**given, "end": given["start"] + 1e8})
    assert (far.status, far.code) == (422, "E2012")
    members = [f"m{number}" for number in range(101)]
    wide = {**given, "members": members, "demand": {name: [1] * 101 for name in given["demand"]}, "traffic": None}
    assert (reply := service.post(f"{path}/offers", wide)).status == 422 and reply.code == "E1110"


def test_more_offers_than_may_wait_are_refused_with_429(tmp_path):
    requests = stream(count=200)
    settings = ServeSettings(port=0, store=str(tmp_path / "serve.db"), limits=Limits(waiting_offers=2))
    with serving(settings) as service:
        service.post("/v1/admissions", creation(requests))
        with ThreadPoolExecutor(32) as pool:
            replies = list(pool.map(lambda given: service.post("/v1/admissions/shop/offers", given), offers(requests)))
        seen = service.get("/v1/admissions/shop").content["changes"]
    statuses = [reply.status for reply in replies]
    assert set(statuses) <= {200, 409, 429} and 429 in statuses and statuses.count(200) == seen
    refused = next(reply for reply in replies if reply.status == 429)
    assert refused.code == "E2706" and refused.headers["retry-after"] == "1"
