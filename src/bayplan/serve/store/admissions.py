"""Admissions in the store: an append-only log of changes with their outcomes, snapshots, and a lease with a fence for each.

A group of changes is one transaction. It locks the lease of its admission first and checks the fence, so a server that slept
while another took over can write nothing. The clock of a lease is the database's where it has one, else this machine's.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from bayplan.errors import escaped
from bayplan.operate.store.database import Database
from bayplan.operate.store.failures import LostLeaseError
from bayplan.operate.store.schema import Encoded, Number, Whole, Words
from bayplan.serve.store.schema import metadata

KEPT_SNAPSHOTS = 2  # the one before the last is for a last one that cannot be read

admissions = sa.Table(
    "admissions",
    metadata,
    sa.Column("id", Whole, sa.Identity(), primary_key=True),
    sa.Column("name", Words, nullable=False, unique=True),
    sa.Column("created", Number, nullable=False),
    sa.Column("description", Encoded(dict), nullable=False),
    sqlite_autoincrement=True,
)


def _of_admission(**options: Any) -> sa.Column[int]:
    return sa.Column("admission", Whole, sa.ForeignKey("admissions.id", ondelete="CASCADE"), primary_key=True, **options)


leases = sa.Table(
    "admission_leases",
    metadata,
    _of_admission(autoincrement=False),
    sa.Column("holder", Words),  # NULL: free
    sa.Column("fence", Whole, nullable=False),
    sa.Column("until", Number, nullable=False),
)
log = sa.Table(
    "admission_log",
    metadata,
    _of_admission(autoincrement=False),
    sa.Column("seq", Whole, primary_key=True, autoincrement=False),
    sa.Column("at", Number, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("key", Words),  # the Idempotency-Key
    sa.Column("digest", sa.Text, nullable=False),  # of what was sent under that key
    sa.Column("given", sa.Text, nullable=False),  # JSON in ASCII
    sa.Column("outcome", sa.Text, nullable=False),  # JSON in ASCII: the answer, byte by byte
)
_keyed = log.c.key.is_not(None)
sa.Index("admission_log_by_key", log.c.admission, log.c.key, unique=True, sqlite_where=_keyed, postgresql_where=_keyed)
sa.Index("admission_log_by_time", log.c.admission, log.c.at)
snapshots = sa.Table(
    "admission_snapshots",
    metadata,
    _of_admission(autoincrement=False),
    sa.Column("seq", Whole, primary_key=True, autoincrement=False),
    sa.Column("at", Number, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)


class StoredAdmission(NamedTuple):
    """What an admission was made of."""

    id: int
    name: str
    created: float
    description: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One change and what came of it."""

    seq: int
    at: float  # by the clock of the server that decided
    kind: str
    key: str | None
    digest: str
    given: str
    outcome: str


class StoredSnapshot(NamedTuple):
    """The state of an admission after a number of changes."""

    seq: int
    data: bytes


class LeaseTaken(NamedTuple):
    """What came of asking for the lease: a fence if it is ours now, else its holder."""

    fence: int | None
    holder: str


class AdmissionStore:
    """The reads and writes of admissions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # ---- admissions

    def create(self, name: str, description: Mapping[str, Any]) -> StoredAdmission | None:
        """A new admission; None if there is one of this name."""
        with self._database.writing() as connection:
            if connection.scalar(sa.select(admissions.c.id).where(admissions.c.name == name)) is not None:
                return None
            row: dict[str, Any] = {"name": name, "created": time.time(), "description": dict(description)}
            key = connection.execute(sa.insert(admissions).values(row)).inserted_primary_key
            assert key is not None
            connection.execute(sa.insert(leases).values(admission=key[0], holder=None, fence=0, until=0.0))
            return StoredAdmission(int(key[0]), **row)

    def all(self) -> list[StoredAdmission]:
        """All admissions by name."""
        with self._database.reading() as connection:
            return [StoredAdmission(*row) for row in connection.execute(sa.select(admissions).order_by(admissions.c.name))]

    def find(self, name: str) -> StoredAdmission | None:
        """The admission of this name."""
        with self._database.reading() as connection:
            row = connection.execute(sa.select(admissions).where(admissions.c.name == name)).one_or_none()
            return None if row is None else StoredAdmission(*row)

    def is_there(self, admission: int) -> bool:
        """Has it not been deleted?"""
        with self._database.reading() as connection:
            return connection.scalar(sa.select(admissions.c.id).where(admissions.c.id == admission)) is not None

    def delete(self, admission: int) -> None:
        """Delete an admission with all that it has; a group of changes that is being written comes first."""
        with self._database.writing() as connection:
            _locked(connection, admission)
            for table in (log, snapshots, leases):
                connection.execute(sa.delete(table).where(table.c.admission == admission))
            connection.execute(sa.delete(admissions).where(admissions.c.id == admission))

    # ---- the lease

    def acquire(
        self, admission: int, holder: str, seconds: float, is_gone: Callable[[str], bool] = lambda holder: False
    ) -> LeaseTaken:
        """A new fence for this holder, unless another holder's lease has not run out and it is not certain that it is gone."""
        with self._database.writing() as connection:
            current, now = _locked(connection, admission), _now(connection)
            if current.holder not in (None, holder) and current.until > now and not is_gone(current.holder):
                return LeaseTaken(None, str(current.holder))
            fence = int(current.fence) + 1
            _set_lease(connection, admission, holder=holder, fence=fence, until=now + seconds)
            return LeaseTaken(fence, holder)

    def renew(self, admission: int, fence: int, seconds: float) -> None:
        """Keep the lease for that long from now; LostLeaseError if it is no longer ours."""
        with self.fenced(admission, fence) as connection:
            _set_lease(connection, admission, until=_now(connection) + seconds)

    def release(self, admission: int, fence: int) -> None:
        """Free the lease, if it is still ours."""
        with self._database.writing() as connection:
            change = sa.update(leases).where(leases.c.admission == admission, leases.c.fence == fence)
            connection.execute(change.values(holder=None))

    @contextmanager
    def fenced(self, admission: int, fence: int) -> Iterator[sa.Connection]:
        """A transaction of the server that decides: with the lease locked, and only if it is still ours."""
        with self._database.writing() as connection:
            current = _locked(connection, admission)
            if current.fence != fence or current.holder is None:
                raise LostLeaseError(escaped(f"'{current.holder}' has taken over (fence {current.fence}, ours is {fence})"))
            yield connection

    # ---- the log

    def known(self, connection: sa.Connection, admission: int, keys: Collection[str]) -> dict[str, LogEntry]:
        """The entries that have one of these keys."""
        if not keys:
            return {}
        query = _entries(admission).where(log.c.key.in_(list(keys)))
        return {str(entry.key): entry for entry in map(_entry, connection.execute(query))}

    def append(self, connection: sa.Connection, admission: int, entries: Sequence[LogEntry]) -> None:
        """Write entries, in a transaction of `fenced`."""
        if entries:
            connection.execute(sa.insert(log), [{"admission": admission, **_row(entry)} for entry in entries])

    def entries(self, admission: int, after: int, limit: int) -> list[LogEntry]:
        """The entries after a number, in their order."""
        with self._database.reading() as connection:
            query = _entries(admission).where(log.c.seq > after).order_by(log.c.seq).limit(limit)
            return [_entry(row) for row in connection.execute(query)]

    def newest(self, admission: int, before: int | None, limit: int) -> list[LogEntry]:
        """The entries before a number (None: all), the newest first."""
        with self._database.reading() as connection:
            query = _entries(admission).order_by(log.c.seq.desc()).limit(limit)
            return [_entry(row) for row in connection.execute(query if before is None else query.where(log.c.seq < before))]

    # ---- snapshots

    def snapshots(self, admission: int) -> list[StoredSnapshot]:
        """The snapshots that are kept, the newest first."""
        with self._database.reading() as connection:
            query = sa.select(snapshots.c.seq, snapshots.c.data).where(snapshots.c.admission == admission)
            return [StoredSnapshot(*row) for row in connection.execute(query.order_by(snapshots.c.seq.desc()))]

    def save_snapshot(self, admission: int, fence: int, snapshot: StoredSnapshot, keep_log: float) -> None:
        """Write a snapshot. Older ones go, and so do entries that no replay needs and that are older than `keep_log` seconds."""
        with self.fenced(admission, fence) as connection:
            here = snapshots.c.admission == admission
            connection.execute(sa.delete(snapshots).where(here, snapshots.c.seq == snapshot.seq))
            row = {"admission": admission, "seq": snapshot.seq, "at": time.time(), "data": snapshot.data}
            connection.execute(sa.insert(snapshots).values(row))
            kept = connection.scalars(sa.select(snapshots.c.seq).where(here).order_by(snapshots.c.seq.desc())).all()[
                :KEPT_SNAPSHOTS
            ]
            connection.execute(sa.delete(snapshots).where(here, snapshots.c.seq < kept[-1]))
            if len(kept) == KEPT_SNAPSHOTS:
                old = log.c.admission == admission, log.c.seq <= kept[-1], log.c.at < time.time() - keep_log
                connection.execute(sa.delete(log).where(*old))


def _locked(connection: sa.Connection, admission: int) -> sa.Row[Any]:
    row = connection.execute(sa.select(leases).where(leases.c.admission == admission).with_for_update()).one_or_none()
    if row is None:
        raise LostLeaseError("the admission was deleted")
    return row


def _set_lease(connection: sa.Connection, admission: int, **values: Any) -> None:
    connection.execute(sa.update(leases).where(leases.c.admission == admission).values(values))


def _now(connection: sa.Connection) -> float:
    if connection.dialect.name == "postgresql":  # servers on several machines share this clock
        return float(connection.scalar(sa.text("SELECT extract(epoch FROM clock_timestamp())")) or 0.0)
    return time.time()


_COLUMNS = [log.c[name] for name in LogEntry.__slots__]


def _entries(admission: int) -> sa.Select[Any]:
    return sa.select(*_COLUMNS).where(log.c.admission == admission)


def _row(entry: LogEntry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in LogEntry.__slots__}


def _entry(row: sa.Row[Any]) -> LogEntry:
    return LogEntry(**row._mapping)
