"""Snapshots over HTTP: any format, packed or not, kept once; faults of a file come back with their numbers."""

import gzip
import json
from pathlib import Path

import pytest
from tests.builders.jobs_served import client_of, settings_in
from tests.builders.served import serving

import bayplan as bp
from bayplan.serve.client import RemoteSnapshot

EXAMPLES = Path(__file__).parents[4] / "examples"
SHOP = (EXAMPLES / "shop.yaml").read_bytes()
MOST = 2_000_000  # bytes, unpacked


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with serving(settings_in(tmp_path_factory.mktemp("serve"), unpacked_bytes=MOST)) as address:
        yield address


FILES = {
    "shop.yaml": ("cluster", "native"),
    "small.json": ("cluster", "native"),
    "rasa.json": ("cluster", "rasa"),
    "kubectl.json": ("cluster", "native"),
    "requests.json": ("requests", "native"),
    "requests.csv": ("requests", "native"),
    "admission.json": ("stream", "native"),
    "stream.jsonl": ("stream", "native"),
}


@pytest.mark.parametrize("file", FILES)
def test_every_format_is_read(file, service):
    reply = service.ask("POST", "/v1/snapshots", (EXAMPLES / file).read_bytes())
    assert reply.status == 201
    assert (reply.content["kind"], reply.content["format"]) == FILES[file]
    assert service.get(f"/v1/snapshots/{reply.content['id']}").content == reply.content
    assert reply.content["id"] in [entry["id"] for entry in service.get("/v1/snapshots").content["snapshots"]]


def test_a_gmrp_model_is_sent_with_its_assignment_behind_it(service):
    parts = [(EXAMPLES / "gmrp" / name).read_bytes() for name in ("model_tiny.txt", "assignment_tiny.txt")]
    reply = service.ask("POST", "/v1/snapshots", b"\n".join(parts))
    expected = bp.read(EXAMPLES / "gmrp" / "model_tiny.txt")
    assert (reply.status, reply.content["format"]) == (201, "gmrp")
    assert "/" not in " ".join(reply.content["notes"])
    shown = client_of(service).submit("show", RemoteSnapshot(id=reply.content["id"], facts={})).result()
    assert shown["score"] == bp.score(expected).to_dict()["score"]
    damaged = service.ask("POST", "/v1/snapshots", b"\n".join([*parts, b"1 2"]))
    assert (damaged.status, damaged.code) == (422, "E1703")


def test_the_same_content_has_the_same_id_packed_or_not(tmp_path):
    with serving(settings_in(tmp_path)) as service:
        plain = service.ask("POST", "/v1/snapshots", SHOP)
        packed = service.ask("POST", "/v1/snapshots", gzip.compress(SHOP))
        encoded = service.ask("POST", "/v1/snapshots", gzip.compress(SHOP), {"Content-Encoding": "gzip"})
        assert (plain.status, packed.status, encoded.status) == (201, 200, 200)
        assert plain.content == packed.content == encoded.content
        content = service.get(f"/v1/snapshots/{plain.content['id']}/content")
        assert content.content == SHOP and content.headers["content-type"] == "application/octet-stream"
        assert len(list((tmp_path / "files" / "snapshots").iterdir())) == 1


def test_a_snapshot_is_deleted(tmp_path):
    with serving(settings_in(tmp_path)) as service:
        name = service.ask("POST", "/v1/snapshots", SHOP).content["id"]
        assert service.ask("DELETE", f"/v1/snapshots/{name}").status == 204
        for path in ("", "/content"):
            gone = service.get(f"/v1/snapshots/{name}{path}")
            assert (gone.status, gone.code) == (404, "E2735")
        assert service.ask("DELETE", f"/v1/snapshots/{name}").code == "E2735"


def _broken():
    """Two faults in one file."""
    cluster = json.loads((EXAMPLES / "small.json").read_text())
    cluster["workloads"][0]["request"] = {next(iter(cluster["resources"])): -1}
    cluster["rules"] = [{"rule": "spread", "service": "nothing", "minimum": 1}]
    return json.dumps(cluster).encode()


def test_all_faults_of_a_file_come_back_with_their_numbers(service):
    reply = service.ask("POST", "/v1/snapshots", _broken())
    assert reply.status == 422
    assert {fault["code"] for fault in reply.content["faults"]} == {"E1102", "E1202"}


BAD = [
    (b"", "E1003"),
    (b"\0\1\2", "E1004"),
    (b"\xff\xfe\xfa", "E1005"),
    (b'{"bayplan": 1,', "E1006"),
    (b"a: [", "E1007"),
    (gzip.compress(SHOP)[:-4], "E1008"),
    (b'{"a":' * 50_000, "E1009"),
    (b'{"bayplan": 1, "bayplan": 1}', "E1010"),
    (b'{"other": 1}', "E1011"),
    ((EXAMPLES / "gmrp" / "model_tiny.txt").read_bytes(), "E1706"),
    (gzip.compress(b" " * 50_000_000), "E2741"),
]


@pytest.mark.parametrize(("body", "code"), BAD, ids=[row[1] for row in BAD])
def test_a_file_that_cannot_be_used_is_refused_with_a_number_and_names_no_path(body, code, service):
    reply = service.ask("POST", "/v1/snapshots", body)
    assert 400 <= reply.status < 500 and reply.code == code
    assert "/" not in reply.content["detail"].replace("/v1/", "") or code in ("E1706",)


def test_nothing_is_left_of_a_file_that_was_refused(tmp_path):
    with serving(settings_in(tmp_path)) as service:
        service.ask("POST", "/v1/snapshots", b'{"other": 1}')
        assert list((tmp_path / "files" / "snapshots").iterdir()) == []


def test_a_file_that_takes_too_long_to_read_is_refused(service, monkeypatch):
    monkeypatch.setattr("bayplan.serve.jobs.snapshots.READING", 0.0)
    reply = service.ask("POST", "/v1/snapshots", SHOP + b"\n# another file\n")
    assert (reply.status, reply.code) == (422, "E2742")


def test_a_key_belongs_to_one_file(service):
    first = service.ask("POST", "/v1/snapshots", SHOP, {"Idempotency-Key": "shop"})
    again = service.ask("POST", "/v1/snapshots", SHOP, {"Idempotency-Key": "shop"})
    assert first.content == again.content
    other = service.ask("POST", "/v1/snapshots", (EXAMPLES / "small.json").read_bytes(), {"Idempotency-Key": "shop"})
    assert (other.status, other.code) == (422, "E2711")


def test_a_client_sends_values_paths_and_bytes(service):
    client = client_of(service)
    path = client.send(EXAMPLES / "shop.yaml")
    assert client.send(SHOP).id == path.id
    value = client.send(bp.read(EXAMPLES / "shop.yaml"))
    assert value.facts["containers"] == path.facts["containers"]
    assert client.send(value) is value
    with pytest.raises(bp.InputError, match="E1011"):
        client.send(b'{"other": 1}')
