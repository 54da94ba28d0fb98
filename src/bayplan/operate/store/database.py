"""A database that holds a record or other tables of ours: how it is opened, how its tables are made, and its transactions.

SQLite: write-ahead log, synchronous FULL, so that what was acknowledged survives a crash of the machine; every write begins with
BEGIN IMMEDIATE, so writes come one after the other. PostgreSQL: a lock on the row of the lease does that.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bayplan.errors import UsageError
from bayplan.operate.store.failures import CANNOT_OPEN, MISSING_DRIVER, StoreError, cannot_use, translated
from bayplan.operate.store.schema import RECORD, Schema, schema_version

PATIENCE = 30  # seconds that a write waits for another process's write
PAUSE = 0.01  # seconds between two tries
CONNECT = 10  # seconds that PostgreSQL may take to answer at first
MEMORY = ":memory:"
CREATION_LOCK = 0x6261795F706C616E  # of PostgreSQL, held while tables are made
CONNECTION = {  # what an address may say otherwise; a dead server is noticed in half a minute
    "connect_timeout": CONNECT,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "client_encoding": "utf8",
}
SESSION = (
    f"SET lock_timeout = '{PATIENCE}s'",
    # A process that is put to sleep in the middle of a write locks nothing for good.
    f"SET idle_in_transaction_session_timeout = '{PATIENCE}s'",
    # A server may be set up to acknowledge before it has written; the record needs more.
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')",
)


class Database:
    """Transactions on one database; its errors are ours. `connections`: threads that can use it at the same time."""

    def __init__(self, url: sa.URL, schema: Schema = RECORD, connections: int = 1) -> None:
        self.name, self.schema = _shown(url), schema
        self._closed = False
        self._one_writes = threading.Lock() if url.drivername == "sqlite" else nullcontext()
        self._process = os.getpid()
        self._file = Path(url.database) if url.drivername == "sqlite" and url.database else None
        self._engine = (_sqlite if url.drivername == "sqlite" else _postgresql)(url, self._subject, connections, schema.session)
        snapshot, latest = ({}, {}) if url.drivername == "sqlite" else (_isolated("REPEATABLE READ"), _isolated("READ COMMITTED"))
        self._reads = self._engine.execution_options(**snapshot)
        self._writes = self._engine.execution_options(writes=True, **latest)
        try:
            self._make_tables()
        except BaseException:
            self.close()
            raise
        self._identity = self._identity_of_file()

    @property
    def _subject(self) -> str:
        return cannot_use(self.name, self.schema.noun)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one state, the latest."""
        self._expect_open()
        with translated(self.name, self.schema.noun), self._reads.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that is kept whole, or not at all if anything is raised in it."""
        self._expect_open()
        if self._identity_of_file() != self._identity:
            raise StoreError(f"{self._subject}: the file was moved, deleted or replaced while it was in use; start again")
        # SQLite would let the second writer sleep and look again: one after the other is quicker.
        with self._one_writes, translated(self.name, self.schema.noun), self._writes.begin() as connection:
            yield connection

    def close(self) -> None:
        """End all connections."""
        self._closed = True
        self._engine.dispose()

    def _expect_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self._subject}: it was closed")
        if os.getpid() != self._process:  # two processes would speak on one connection
            raise StoreError(f"{self._subject}: another process has opened it; open it again in this one")

    def _identity_of_file(self) -> tuple[int, int] | None:
        """Which file it is: a name can come to mean another one, and then two processes would act."""
        if self._file is None:
            return None
        try:
            status = self._file.stat()
        except OSError:
            return (-1, -1)
        return status.st_dev, status.st_ino

    def _make_tables(self) -> None:
        """Make the tables if there are none yet. Several processes may come here at once: one makes them."""
        with translated(self.name, self.schema.noun), self._reads.begin() as connection:
            version = self._version(connection)
        if version == self.schema.version:
            return
        with translated(self.name, self.schema.noun), self._writes.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(CREATION_LOCK)))
            known = self._version(connection)
            if known == self.schema.version:
                return
            part, version = self.schema.part, self.schema.version
            self.schema.metadata.create_all(connection)  # those that are not there yet
            if known is None:
                connection.execute(sa.insert(schema_version).values(part=part, version=version))
                self.schema.begin(connection)
            else:
                connection.execute(sa.update(schema_version).where(schema_version.c.part == part).values(version=version))

    def _version(self, connection: sa.Connection) -> int | None:
        """The version of the tables that are there; None if none are. StoreError if this release does not know them."""
        there = set(sa.inspect(connection).get_table_names()) & set(self.schema.metadata.tables)
        query = sa.select(schema_version.c.version).where(schema_version.c.part == self.schema.part)
        version = connection.scalar(query) if schema_version.name in there else None
        if version is None and there - {schema_version.name}:
            tables = ", ".join(sorted(there))
            raise StoreError(f"{self._subject}: tables of another program are there ({tables}); choose another store")
        if version is not None and version > self.schema.version:
            raise StoreError(
                f"{self._subject}: a newer release of bayplan wrote it (schema {version}, "
                f"this release knows {self.schema.version}); update bayplan, or choose another store"
            )
        return None if version is None else int(version)


def location(where: str | os.PathLike[str]) -> sa.URL:
    """What a path or an address means, as a URL."""
    text = os.fspath(where)
    if text.startswith(("postgresql://", "postgresql+psycopg://", "postgres://")):
        return _parsed(text).set(drivername="postgresql+psycopg")
    if text.startswith("sqlite:"):
        text = _parsed(text).database or MEMORY
    elif "://" in text:
        kind = text.partition("://")[0]
        raise UsageError(f"no store of the kind '{kind}'; expected a path, sqlite:///path or postgresql://user@host/database")
    if not text or "\0" in text:
        raise UsageError("the path of the store is empty or has a NUL in it; expected a path such as bayplan.db")
    return sa.URL.create("sqlite", database=None if text == MEMORY else str(Path(text).absolute()))


def _parsed(text: str) -> sa.URL:
    try:
        return sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):  # its text may hold a password: it is not repeated
        raise UsageError("the address of the store cannot be read; expected postgresql://user@host:5432/database") from None


def _shown(url: sa.URL) -> str:
    """What messages call it: a path, or an address without passwords."""
    if url.drivername == "sqlite":
        return url.database or MEMORY
    public = url.difference_update_query(["password", "sslpassword"]).set(drivername="postgresql")
    return public.render_as_string(hide_password=True)


def _isolated(level: str) -> dict[str, Any]:
    return {"isolation_level": level}


def _sqlite(url: sa.URL, subject: str, connections: int, _session: tuple[str, ...]) -> sa.Engine:
    """Connections that transactions share; the database itself keeps other processes apart. In memory there is only one."""
    if url.database and not os.path.isdir(os.path.dirname(url.database)):  # noqa: PTH112, PTH120 - no error for odd names
        raise StoreError(f"{subject}: {CANNOT_OPEN}")
    arguments: dict[str, Any] = {"timeout": PATIENCE, "check_same_thread": False}
    size = connections if url.database else 1
    engine = sa.create_engine(url, poolclass=sa.QueuePool, pool_size=size, max_overflow=0, connect_args=arguments)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where the driver guesses
    _use_write_ahead_log(connection)
    for setting in ("synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}").close()


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Change a new file over. SQLite does not wait here when another process does the same: we do."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").close()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(PAUSE)


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgresql(url: sa.URL, subject: str, connections: int, session: tuple[str, ...]) -> sa.Engine:
    """Connections that are tried before use, because servers restart between two turns."""
    arguments = {key: value for key, value in CONNECTION.items() if key not in url.query}
    try:
        engine = sa.create_engine(url, pool_size=connections, max_overflow=0, pool_pre_ping=True, connect_args=arguments)
    except ModuleNotFoundError as error:
        raise StoreError(f"{subject}: {MISSING_DRIVER}") from error
    sa.event.listen(engine, "connect", partial(_prepare_postgresql, session))
    return engine


def _prepare_postgresql(session: tuple[str, ...], connection: Any, _record: Any) -> None:
    for statement in (*SESSION, *session):
        connection.execute(statement)
    connection.commit()
