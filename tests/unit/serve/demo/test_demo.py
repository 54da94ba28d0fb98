"""The demo needs nothing and keeps nothing: its files go with it."""

import time
from pathlib import Path

import pytest
from tests.builders.served import ServerProcess

from bayplan.serve.demo.content import CONTENT
from bayplan.serve.demo.demo import demo_settings
from bayplan.serve.demo.offers import AT_ONCE, NAME
from bayplan.serve.settings import ServeSettings


def until(look, seconds=300.0):
    """What a look gives as soon as it gives something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := look():
            return answer
        time.sleep(0.05)
    raise AssertionError("it never came")


@pytest.fixture(scope="module")
def demo():
    server = ServerProcess("--demo")  # a process of its own: its loop must not come from a fork server of other tests
    try:
        yield server.address, None
    finally:
        server.kill()


def test_it_opens_on_the_boutique(demo):
    address, _ = demo
    snapshots = address.get("/v1/snapshots").content["snapshots"]
    assert [snapshots[0]["name"], snapshots[1]["name"]] == ["boutique", "rasa-m3"]
    assert len(snapshots) == len(CONTENT)


def test_its_loop_lives(demo):
    address, _ = demo
    first = address.get("/v1/loop").content["now"]
    loop = until(lambda: (told := address.get("/v1/loop").content)["now"] > first and told["observed"] and told)
    assert loop["known"] and loop["turns"]
    assert len(address.get("/v1/loop/bayplan").content["machines"]["name"]) >= 12


def test_it_opens_on_a_week(demo):
    address, _ = demo
    summary = address.get(f"/v1/loop/history?last={7 * 86400}").content["summary"]
    assert summary["turns"] > 300 and summary["executions"] > 5


def test_its_admission_has_accepted_and_refused(demo):
    address, _ = demo
    until(lambda: address.get(f"/v1/admissions/{NAME}").status == 200)
    about = until(lambda: (told := address.get(f"/v1/admissions/{NAME}").content)["offers"] >= AT_ONCE and told)
    assert 0 < about["accepted"] < about["offers"]


def test_nothing_of_it_is_kept():
    with demo_settings(ServeSettings(port=0, demo=True)) as settings:
        folder = Path(settings.record).parent
        assert folder.exists() and Path(settings.store).parent == settings.folder.parent == folder
    assert not folder.exists()


def test_what_is_stated_is_taken(tmp_path):
    stated = ServeSettings(port=0, demo=True, store=str(tmp_path / "mine.db"))
    with demo_settings(stated) as settings:
        assert settings.store == stated.store


def test_a_service_that_is_no_demo_is_left_alone():
    stated = ServeSettings(port=0)
    with demo_settings(stated) as settings:
        assert settings is stated
