"""Where a store can be, how it is set up, and what is refused when it is opened."""

import os
import sqlite3
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.builders.records import turn

from bayplan.errors import UsageError, WorldError
from bayplan.model.record import Event
from bayplan.operate.store import LostLeaseError, Store, StoreError, database
from bayplan.operate.store.schema import VERSION

NOBODY = 65534


def _sqlite(path, *statements):
    with closing(sqlite3.connect(path)) as raw, raw:
        for statement in statements:
            raw.execute(statement)


def _pragma(store, name):
    with store._database.reading() as connection:
        return connection.exec_driver_sql(f"PRAGMA {name}").scalar()


def test_errors_of_the_store_are_of_the_world():
    assert issubclass(StoreError, WorldError)
    assert issubclass(LostLeaseError, WorldError)


def test_a_path_and_its_address_mean_one_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Store.open("bayplan.db") as store:
        store.pause(by="anna", at=1.0)
    for where in (tmp_path / "bayplan.db", f"sqlite:///{tmp_path}/bayplan.db", "sqlite:///bayplan.db", "./bayplan.db"):
        with Store.open(where) as store:
            assert store.paused() is not None


def test_a_relative_path_stays_where_it_was_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    with Store.open("bayplan.db") as store:
        monkeypatch.chdir("elsewhere")
        store.pause(by="anna", at=1.0)
    assert not (tmp_path / "elsewhere" / "bayplan.db").exists()


@pytest.mark.parametrize("where", [":memory:", "sqlite://", "sqlite:///:memory:"])
def test_a_store_in_memory_is_its_own(where):
    with Store.open(where) as one, Store.open(where) as other:
        one.pause(by="anna", at=1.0)
        assert one.paused() is not None
        assert other.paused() is None


def test_odd_names_are_names_of_files(tmp_path):
    for name in ("a b.db", "ü?x=1.db", "50%.db", "file:x.db", "#1.db"):
        with Store.open(tmp_path / name) as store:
            store.pause(by="anna", at=1.0)
        assert (tmp_path / name).stat().st_size > 0


def test_what_sqlite_acknowledges_survives_a_crash(tmp_path):
    with Store.open(tmp_path / "bayplan.db") as store:
        assert _pragma(store, "journal_mode") == "wal"
        assert _pragma(store, "synchronous") == 2  # FULL
        assert _pragma(store, "foreign_keys") == 1


@pytest.mark.postgres
def test_what_postgresql_acknowledges_survives_a_crash(postgres_server):
    address = postgres_server.address().replace("options=", "options=-csynchronous_commit%3Doff%20")
    with Store.open(address) as store, store._database.reading() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"


def test_a_newer_schema_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "bayplan.db"
    Store.open(path).close()
    _sqlite(path, f"UPDATE schema_version SET version = {VERSION + 1}")
    before = path.read_bytes()
    words = rf"a newer release of bayplan wrote it \(schema {VERSION + 1}, this release knows {VERSION}\); update bayplan"
    with pytest.raises(StoreError, match=words):
        Store.open(path)
    assert path.read_bytes() == before


@pytest.mark.postgres
def test_a_newer_schema_in_postgresql_is_refused(postgres_server):
    address = postgres_server.address()
    Store.open(address).close()
    name = address.rpartition("%3D")[2]
    postgres_server.execute(f"UPDATE {name}.schema_version SET version = {VERSION + 1}")
    with pytest.raises(StoreError, match="a newer release of bayplan wrote it"):
        Store.open(address)


def test_a_record_of_an_older_release_gets_the_tables_that_it_lacks(tmp_path):
    path = tmp_path / "bayplan.db"
    with Store.open(path) as store:
        fence = store.acquire("loop", now=0.0, seconds=60.0)
    _sqlite(path, "DROP TABLE observed")
    _sqlite(path, "UPDATE schema_version SET version = 1")
    with Store.open(path) as store:
        assert store.lease().fence == fence  # what was there is still there
        store.keep_observed(1.0, b"seen", fence)
        assert store.observed() == (1.0, b"seen")
    with Store.open(path) as store:
        assert store.observed_at() == 1.0


def test_tables_of_another_program_are_left_alone(tmp_path):
    path = tmp_path / "other.db"
    _sqlite(path, "CREATE TABLE plans (name TEXT)")
    with pytest.raises(StoreError, match=r"tables of another program are there \(plans\); choose another store"):
        Store.open(path)


def test_tables_of_another_part_of_bayplan_may_stand_beside(tmp_path):
    path = tmp_path / "bayplan.db"
    with_part = "CREATE TABLE schema_version (part TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL)"
    _sqlite(path, with_part, "INSERT INTO schema_version VALUES ('admission', 7)")
    with Store.open(path) as store:
        assert store.acquire("a", now=0.0, seconds=1.0) == 1


def test_a_folder_that_does_not_exist_is_said(tmp_path):
    with pytest.raises(StoreError, match=r"no-such-folder/bayplan\.db': the file cannot be opened; check that its folder exists"):
        Store.open(tmp_path / "no-such-folder" / "bayplan.db")


def test_a_folder_is_no_store(tmp_path):
    with pytest.raises(StoreError, match="the file cannot be opened"):
        Store.open(tmp_path)


@pytest.fixture
def folder_of_another():
    """A folder that we may read and not write."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Store.open(folder / "old.db").close()
        (folder / "old.db").chmod(0o444)
        folder.chmod(0o555)
        root = os.geteuid() == 0
        if root:  # who may write everywhere
            os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            if root:
                os.seteuid(0)
            folder.chmod(0o755)


@pytest.mark.parametrize("name", ["new.db", "old.db"])
def test_a_folder_that_cannot_be_written_is_said(folder_of_another, name):
    with pytest.raises(StoreError, match=rf"{name}': .*check (the permissions|that its folder exists)"):
        Store.open(folder_of_another / name)


@pytest.mark.parametrize("where", ["mysql://anna:secret@host/x", "oracle://x"])
def test_an_unknown_kind_of_store_is_said(where):
    with pytest.raises(UsageError, match=r"no store of the kind '(mysql|oracle)'; expected a path") as error:
        Store.open(where)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("where", ["", "a\0b"])
def test_what_is_no_path_is_refused(where):
    with pytest.raises(UsageError, match="path of the store is empty or has a NUL in it"):
        Store.open(where)


@pytest.mark.parametrize("where", ["a/" * 3000 + "b.db", "x" * 300])
def test_a_path_that_is_too_long_cannot_be_opened(where):
    with pytest.raises(StoreError, match="the file cannot be opened"):
        Store.open(where)


def test_an_address_that_cannot_be_read_does_not_show_its_password():
    with pytest.raises(UsageError, match="the address of the store cannot be read") as error:
        Store.open("postgresql://anna:secret@host:port/x")
    assert "secret" not in str(error.value)


def test_without_psycopg_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"PostgreSQL needs psycopg: pip install 'bayplan\[postgres\]'") as error:
        Store.open("postgresql://anna:secret@localhost/x")
    assert "secret" not in str(error.value)


def test_a_closed_store_is_not_opened_again_by_using_it(where):
    store = Store.open(where)
    fence = store.acquire("a", now=0.0, seconds=1.0)
    store.close()
    store.close()
    for use in (store.turns, lambda: store.begin_turn(turn(), fence)):
        with pytest.raises(StoreError, match="it was closed"):
            use()


class _Changing:
    """A connection to a file that another process is changing over to a write-ahead log, for a number of tries."""

    def __init__(self, tries, code=sqlite3.SQLITE_BUSY):
        self.tries, self.code = tries, code

    def execute(self, _):
        if self.tries == 0:
            return self
        self.tries -= 1
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = self.code
        raise error

    def close(self):
        pass


def test_opening_waits_while_another_process_changes_the_file_over(monkeypatch):
    monkeypatch.setattr(database, "PAUSE", 0.0)
    changing = _Changing(tries=50)
    database._use_write_ahead_log(changing)
    assert changing.tries == 0


@pytest.mark.parametrize(("patience", "code"), [(-1.0, sqlite3.SQLITE_BUSY), (30.0, sqlite3.SQLITE_FULL)])
def test_opening_does_not_wait_for_ever_nor_for_what_will_not_change(monkeypatch, patience, code):
    monkeypatch.setattr(database, "PATIENCE", patience)
    changing = _Changing(tries=2, code=code)
    with pytest.raises(sqlite3.OperationalError):
        database._use_write_ahead_log(changing)
    assert changing.tries == 1


def test_a_store_is_refused_in_a_process_that_did_not_open_it(where):
    with Store.open(where) as store:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                store.pause(by="anna", at=1.0)
            except StoreError as error:
                os.write(writing, str(error).encode())
            finally:
                os._exit(0)
        os.close(writing)
        words = os.read(reading, 1000).decode()
        os.close(reading)
        os.waitpid(child, 0)
        assert "another process has opened it; open it again in this one" in words
        assert store.paused() is None


def test_threads_take_turns(where):
    with Store.open(where) as store, ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: store.log(Event(at=float(number), kind="gate", text="")), range(40)))
        assert len(store.history().events) == 40
