"""Admissions in the store, in both databases: leases with a fence, a log without gaps, two snapshots."""

import os
import signal
import time

import pytest
from tests.unit.operate.store.conftest import BOTH

from bayplan.operate.store import LostLeaseError, StoreError
from bayplan.serve.store.admissions import AdmissionStore, LogEntry, StoredSnapshot
from bayplan.serve.store.schema import open_store


@pytest.fixture(params=BOTH)
def where(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "serve.db")
    return request.getfixturevalue("postgres_server").address()


@pytest.fixture
def store(where):
    database = open_store(where)
    yield AdmissionStore(database)
    database.close()


@pytest.fixture
def shop(store):
    return store.create("shop", {"a": [1, "ü"]}).id


def entry(seq, key=None, at=None):
    return LogEntry(seq=seq, at=time.time() if at is None else at, kind="offer", key=key, digest="d", given="{}", outcome="{}")


def written(store, shop, fence, *entries):
    with store.fenced(shop, fence) as connection:
        store.append(connection, shop, entries)


def test_an_admission_comes_back_as_it_was(store, shop):
    found = store.find("shop")
    assert (found.id, found.name, found.description) == (shop, "shop", {"a": [1, "ü"]})
    assert store.create("shop", {}) is None and store.find("none") is None
    assert [each.name for each in store.all()] == ["shop"]


def test_one_holder_at_a_time_and_a_new_fence_for_each(store, shop):
    first = store.acquire(shop, "a", 60.0)
    assert first.fence == 1 and store.acquire(shop, "b", 60.0) == (None, "a")
    assert store.acquire(shop, "a", 0.0).fence == 2  # the same holder again: what it wrote under the old fence is refused
    assert store.acquire(shop, "b", 60.0).fence == 3  # the lease had run out
    for fence in (1, 2):
        with pytest.raises(LostLeaseError):
            written(store, shop, fence, entry(1))
        with pytest.raises(LostLeaseError):
            store.renew(shop, fence, 60.0)
        with pytest.raises(LostLeaseError):
            store.save_snapshot(shop, fence, StoredSnapshot(1, b""), 0.0)
        store.release(shop, fence)  # not ours: changes nothing
    assert store.acquire(shop, "a", 60.0) == (None, "b")
    written(store, shop, 3, entry(1))
    assert len(store.entries(shop, 0, 10)) == 1


def test_a_holder_that_is_gone_for_certain_need_not_be_waited_for(store, shop):
    store.acquire(shop, "a", 60.0)
    assert store.acquire(shop, "b", 60.0, is_gone=lambda holder: holder == "a").fence == 2


def test_a_released_lease_is_free_and_its_fence_is_worth_nothing(store, shop):
    store.acquire(shop, "a", 60.0)
    store.release(shop, 1)
    with pytest.raises(LostLeaseError):
        written(store, shop, 1, entry(1))
    assert store.acquire(shop, "b", 60.0).fence == 2


def test_a_group_is_written_whole_or_not_at_all(store, shop):
    fence = store.acquire(shop, "a", 60.0).fence
    written(store, shop, fence, entry(1), entry(2, "k"))
    with pytest.raises(StoreError):
        written(store, shop, fence, entry(3), entry(2))  # a number that is there
    with pytest.raises(StoreError):
        written(store, shop, fence, entry(3), entry(4, "k"))  # a key that is there
    assert [each.seq for each in store.entries(shop, 0, 10)] == [1, 2]
    with store.fenced(shop, fence) as connection:
        assert store.known(connection, shop, ["k", "other"]).keys() == {"k"}
        assert store.known(connection, shop, []) == {}


def test_the_log_is_read_forwards_and_backwards(store, shop):
    fence = store.acquire(shop, "a", 60.0).fence
    written(store, shop, fence, *(entry(seq) for seq in range(1, 11)))
    assert [each.seq for each in store.entries(shop, 3, 4)] == [4, 5, 6, 7]
    assert [each.seq for each in store.newest(shop, None, 3)] == [10, 9, 8]
    assert [each.seq for each in store.newest(shop, 8, 3)] == [7, 6, 5]


def test_two_snapshots_are_kept_and_old_entries_that_no_replay_needs_go(store, shop):
    fence = store.acquire(shop, "a", 60.0).fence
    old = time.time() - 1000.0
    written(store, shop, fence, *(entry(seq, at=old if seq <= 6 else None) for seq in range(1, 11)))
    for seq in (3, 5, 8, 8):
        store.save_snapshot(shop, fence, StoredSnapshot(seq, b"data %d" % seq), keep_log=100.0)
    assert store.snapshots(shop) == [(8, b"data 8"), (5, b"data 5")]
    assert [each.seq for each in store.entries(shop, 0, 100)] == [6, 7, 8, 9, 10]  # 6 is old, but a replay from 5 needs it


def test_what_is_deleted_is_gone_and_its_name_is_free(store, shop):
    fence = store.acquire(shop, "a", 60.0).fence
    written(store, shop, fence, entry(1))
    store.delete(shop)
    assert not store.is_there(shop) and store.find("shop") is None
    with pytest.raises(LostLeaseError, match="deleted"):
        written(store, shop, fence, entry(2))
    again = store.create("shop", {})
    assert again.id != shop and store.entries(again.id, 0, 10) == []


@pytest.mark.postgres
def test_a_server_that_is_stopped_in_a_write_keeps_its_locks_no_longer_than_its_lease(postgres_server):
    address = postgres_server.address()
    open_store(address).close()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            store = AdmissionStore(open_store(address))
            shop = store.create("shop", {}).id
            with store.fenced(shop, store.acquire(shop, "sleeper", 0.0).fence):
                os.write(writing, b".")
                os.kill(os.getpid(), signal.SIGSTOP)
        finally:
            os._exit(1)
    try:
        os.read(reading, 1)
        database = open_store(address)
        store, began = AdmissionStore(database), time.monotonic()
        shop, fence = store.find("shop").id, None
        while fence is None and time.monotonic() - began < 20.0:
            try:
                fence = store.acquire(shop, "other", 10.0).fence
            except StoreError:
                continue  # the lock was not free in time
        assert fence == 2
        database.close()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)
