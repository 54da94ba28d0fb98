"""A full disk and a store that cannot be written: refused with 503, and nothing is lost or half decided."""

import asyncio
import os
import shutil
import subprocess
import time

import pytest
from tests.builders.offered import creation, description, offers, outcome, run, stream, writer
from tests.builders.served import serving
from tests.stress.serve_kills import log_after
from tests.unit.serve.admission.test_replay import uninterrupted

from bayplan.operate.store import StoreError
from bayplan.serve.problems import problem_of
from bayplan.serve.settings import ServeSettings

PATH = "/v1/admissions/shop"
DEADLINE = 240.0


@pytest.fixture
def small_disk(tmp_path):
    """A disk of one megabyte; called with options, it is mounted anew with these."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root can mount a small disk")
    if subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")

    def again(options):
        subprocess.run([mount, "-o", f"remount,{options}", folder], check=True)
        return folder

    yield again
    subprocess.run(["umount", "--lazy", folder], check=True)


def _expect_all_there(service, requests, answered):
    """The log has what was answered, nothing else, and comes to what an object comes to that was never disturbed."""
    entries = log_after(service, "shop", 0)
    assert [entry["outcome"] for entry in entries] == answered
    expected, _ = uninterrupted(description(requests, "learned"), [(entry["kind"], entry["given"]) for entry in entries])
    assert [entry["outcome"] for entry in entries] == expected


def _until_written(service, given):
    """The reply of the first try that is written."""
    end = time.monotonic() + DEADLINE
    while (reply := service.post(f"{PATH}/offers", given)).status == 503 and time.monotonic() < end:
        pass
    return reply


def test_a_full_disk_refuses_and_loses_nothing(small_disk):
    folder, requests = small_disk("size=1m"), stream(count=2000, slots=400)
    answered = []
    with serving(ServeSettings(port=0, store=str(folder / "serve.db"))) as service:
        assert service.post("/v1/admissions", creation(requests)).status == 201
        waiting = iter(offers(requests))
        for given in waiting:
            reply = service.post(f"{PATH}/offers", given)
            if reply.status != 200:
                break
            answered.append(reply.content)
        assert (reply.status, reply.code) == (503, "E2712") and len(answered) > 10
        assert "disk is full" in reply.content["detail"]
        for _ in range(3):
            assert service.post(f"{PATH}/offers", given).status == 503
        assert service.get(PATH).content["offers"] == len(answered)  # what was not written did not happen
        small_disk("size=8m")
        answered.append(_until_written(service, given).content)
        answered += [service.post(f"{PATH}/offers", each).content for each, _ in zip(waiting, range(20), strict=False)]
        _expect_all_there(service, requests, answered)
    with serving(ServeSettings(port=0, store=str(folder / "serve.db"))) as service:
        _expect_all_there(service, requests, answered)


def _set_read_only(made, value):
    with made.store._database.reading() as connection:
        connection.exec_driver_sql(f"PRAGMA query_only = {value}")


def test_a_store_that_cannot_be_written_refuses_and_loses_nothing(tmp_path):
    requests = stream()
    described, given = description(requests, "learned"), offers(requests)
    with writer(tmp_path / "serve.db") as made:
        made.store.create("shop", described)

        async def work(made):
            told = [await outcome(made, "offer", each) for each in given[:10]]
            _set_read_only(made, "ON")
            for _ in range(3):
                with pytest.raises(StoreError, match="it cannot be written") as error:
                    await outcome(made, "offer", given[10])
                assert problem_of(error.value).status_code == 503
            assert await made.ask("shop", lambda state: state.admission.offers) == 10
            _set_read_only(made, "OFF")
            return told + [await outcome(made, "offer", each) for each in given[10:20]]

        told = run(made, work)
    expected, _ = uninterrupted(described, [("offer", each) for each in given[:20]])
    assert told == expected


def test_a_log_that_cannot_be_written_does_not_stop_the_decisions(tmp_path, monkeypatch):
    requests = stream()
    monkeypatch.setattr("bayplan.serve.admission.writer.RENEW", 0.0)
    monkeypatch.setattr("bayplan.serve.admission.writer.TICK", 0.0)

    def full(event, fields):
        raise OSError(28, "No space left on device")

    def refused(*_):
        raise StoreError("the disk is full")

    with writer(tmp_path / "serve.db") as made:
        made.store.create("shop", description(requests, "primal-dual"))

        async def work(made):
            first = await outcome(made, "offer", offers(requests)[0])
            made._tell = full
            monkeypatch.setattr(made.store, "renew", refused)
            second = await outcome(made, "offer", offers(requests)[1])
            return [first, second, await outcome(made, "offer", offers(requests)[2])], made.is_alive

        told, is_alive = run(made, work, drained=False)
    assert [each["seq"] for each in told] == [1, 2, 3] and is_alive


def test_an_offer_that_cannot_be_computed_with_harms_no_other_of_its_group(tmp_path):
    requests = stream()
    good, odd = offers(requests)[:3], {**offers(requests)[3], "end": 10**400}
    with writer(tmp_path / "serve.db") as made:
        made.store.create("shop", description(requests, "primal-dual"))

        async def work(made):
            made._expected = 4  # so that they are decided together
            return await asyncio.gather(*(outcome(made, "offer", each) for each in (*good, odd)))

        told = run(made, work)
    assert [each["seq"] for each in told[:3]] == [1, 2, 3]
    assert told[3] == "E2012"
