"""A full disk, a damaged file, a database that does not answer: said, and nothing is half written."""

import os
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing

import pytest
import sqlalchemy as sa
from tests.builders.records import plan, step, turn

from bayplan.model.record import Event, PlanStatus
from bayplan.operate.store import Store, StoreError, database, failures

HUGE = "x" * 20_000


def _fill(store, fence):
    """Write plans and their steps until the disk is full; how many were acknowledged."""
    for number in range(10_000):
        name = f"plan-{number}"
        try:
            store.save_plan(plan(name, why=HUGE), fence)
            store.begin_steps([step(f"{name}-{n}", n, plan=name, outcome=HUGE) for n in range(5)], fence)
        except StoreError as error:
            assert "its disk is full; nothing of this write was kept" in str(error)
            return number
    raise AssertionError("the disk was never full")


def _expect_nothing_half_written(store, acknowledged):
    counts = [len(store.steps(each.id)) for each in store.plans()]
    assert counts.count(5) == acknowledged
    assert set(counts) <= {0, 5}
    assert len(counts) <= acknowledged + 1


def test_a_full_disk_is_said_and_nothing_is_half_written(tmp_path):
    path = tmp_path / "bayplan.db"
    with Store.open(path) as store:
        fence = store.acquire("a", now=0.0, seconds=1.0)
        with store._database.reading() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 200")
        acknowledged = _fill(store, fence)
        assert acknowledged > 0
        _expect_nothing_half_written(store, acknowledged)
        with Store.open(path) as other:
            _expect_nothing_half_written(other, acknowledged)
        with store._database.reading() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 100000")
        store.save_plan(plan("afterwards", why=HUGE), fence)
        assert store.plan("afterwards").why == HUGE


@pytest.fixture
def small_disk(tmp_path):
    """A disk of one megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root can mount a small disk")
    if subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_disk_that_is_really_full_is_said_and_nothing_is_half_written(small_disk):
    with Store.open(small_disk / "bayplan.db") as store:
        fence = store.acquire("a", now=0.0, seconds=1.0)
        acknowledged = _fill(store, fence)
        assert acknowledged > 0
        _expect_nothing_half_written(store, acknowledged)
    with Store.open(small_disk / "bayplan.db") as store:
        _expect_nothing_half_written(store, acknowledged)


def test_a_record_cannot_be_opened_on_a_full_disk_and_is_there_when_it_has_space_again(small_disk):
    path, ballast = small_disk / "bayplan.db", small_disk / "ballast"
    with Store.open(path) as store:
        store.pause(by="anna", at=1.0)
    with pytest.raises(OSError, match="No space"), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 1000)
    for where in (path, small_disk / "new.db"):
        with pytest.raises(StoreError, match="its disk is full"):
            Store.open(where)
    ballast.unlink()
    with Store.open(path) as store:
        assert store.paused() is not None


@pytest.mark.parametrize("content", [b"no database at all\n" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_said_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "bayplan.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"bayplan\.db': it is damaged or not a database; restore a backup, or move it away"):
        Store.open(path)
    assert path.read_bytes() == content


def test_a_file_that_was_damaged_in_the_middle_is_said(tmp_path):
    path = tmp_path / "bayplan.db"
    with Store.open(path) as store:
        for number in range(200):
            store.log(Event(at=float(number), kind="gate", text="x" * 500))
    content = bytearray(path.read_bytes())
    content[40_000:-4096] = b"\xa5" * (len(content) - 4096 - 40_000)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="it is damaged or not a database"), Store.open(path) as store:
        store.history()


def test_an_empty_file_is_a_new_store(tmp_path):
    path = tmp_path / "bayplan.db"
    path.touch()
    with Store.open(path) as store:
        assert store.turns() == []


def test_a_lock_that_is_kept_for_too_long_is_said_and_reads_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    path = tmp_path / "bayplan.db"
    with Store.open(path) as store, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process has kept it locked for too long"):
            store.pause(by="anna", at=1.0)
        assert store.paused() is None
        other.execute("ROLLBACK")
        store.pause(by="anna", at=1.0)
        assert store.paused() is not None


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_deleted_while_it_is_used_takes_no_more_writes(tmp_path, replaced):
    path = tmp_path / "bayplan.db"
    with Store.open(path) as store:
        fence = store.acquire("a", now=0.0, seconds=1000.0)
        for file in tmp_path.glob("bayplan.db*"):
            file.unlink()
        if replaced:
            with Store.open(path) as other:
                assert other.acquire("b", now=1.0, seconds=1000.0) == 1
        for write in (lambda: store.renew(fence, now=1.0, seconds=9.0), lambda: store.begin_turn(turn(), fence)):
            with pytest.raises(StoreError, match="moved, deleted or replaced while it was in use"):
                write()


@pytest.mark.postgres
def test_a_server_that_is_down_is_said_and_one_that_is_back_is_used(postgres_server):
    with Store.open(postgres_server.address()) as store:
        fence = store.acquire("a", now=0.0, seconds=10.0)
        begun = store.begin_turn(turn(), fence)
        postgres_server.stop()
        try:
            for use in (store.turns, lambda: store.renew(fence, now=1.0, seconds=10.0)):
                with pytest.raises(StoreError, match="there is no connection; check that the database runs"):
                    use()
        finally:
            postgres_server.start()
        assert store.turns() == [begun]
        postgres_server.stop()
        postgres_server.start()
        store.renew(fence, now=2.0, seconds=10.0)  # it was down when it was not used


@pytest.mark.postgres
def test_a_process_that_is_stopped_in_a_write_to_postgresql_locks_nothing_for_good(postgres_server, monkeypatch):
    monkeypatch.setattr(database, "SESSION", ("SET idle_in_transaction_session_timeout = '200ms'",))
    address = postgres_server.address()
    Store.open(address).close()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with Store.open(address) as store, store._fenced(store.acquire("sleeper", now=0.0, seconds=10.0)):
                os.write(writing, b".")
                os.kill(os.getpid(), signal.SIGSTOP)
        finally:
            os._exit(1)
    try:
        os.read(reading, 1)
        with Store.open(address) as store:
            assert store.acquire("other", now=20.0, seconds=10.0) == 2
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("/postgres?", "/no_such_database?", "there is no connection; check .* its address and name"),
        ("bayplan@", "stranger@", "there is no connection; check .* user and password"),
        ("options=", "options=-cdefault_transaction_read_only%3Don%20", "the database only allows reads"),
        ("host=/", "host=/nowhere/", "there is no connection"),
    ],
)
def test_what_postgresql_refuses_is_said_with_what_to_do(postgres_server, old, new, words):
    with pytest.raises(StoreError, match=f"^cannot use the record 'postgresql://.*': {words}"):
        Store.open(postgres_server.address().replace(old, new))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("53100", "its disk is full"),
        ("53300", "limit of memory or connections"),
        ("XX001", "it is damaged"),
        ("42501", "the database refuses this user; check its rights"),
        ("55P03", "kept it locked for too long"),
        ("57P01", "no connection"),
        ("99999", "the database refuses"),
        (None, "no connection"),
    ],
)
def test_every_state_of_postgresql_has_its_advice(state, words):
    fault = Exception("first line\nsecond line")
    fault.sqlstate = state
    with (
        pytest.raises(StoreError, match=f"^cannot use the record 'x': .*{words}.*\\(first line\\)$") as error,
        failures.translated("x"),
    ):
        raise sa.exc.OperationalError("SELECT 1", {}, fault)
    assert error.value.__cause__.orig is fault


def test_a_write_that_is_interrupted_is_not_kept(store, fence):
    with pytest.raises(KeyboardInterrupt), store._fenced(fence) as connection:
        connection.execute(sa.text("DELETE FROM lease"))
        raise KeyboardInterrupt
    store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
    assert store.open_plan() is not None


def test_writes_of_people_wait_for_each_other(where, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    monkeypatch.setattr(database, "SESSION", ("SET lock_timeout = '50ms'",))
    with Store.open(where) as one, Store.open(where) as other:
        with one._writing(), pytest.raises(StoreError, match="another process has kept it locked"):
            other.pause(by="anna", at=1.0)
        other.pause(by="anna", at=1.0)
        assert one.paused() is not None
