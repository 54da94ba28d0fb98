"""Snapshots and jobs in the service's store: which server runs a job, how far it is, its events, and keys of earlier requests.

Every change of a job is one transaction with the event that tells of it, so an event stream can go on where it was left, also
after a restart. Contents and answers are files; the store says which there are.
"""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Protocol

import sqlalchemy as sa

from bayplan.operate.store.schema import Choice, Number, Truth, Whole, Words
from bayplan.serve.store.schema import metadata

SNAPSHOT_OPTIONS = ("target", "before", "forecast")  # options of jobs that may name snapshots


class JobState(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"  # the server ended while it ran

    @property
    def ended(self) -> bool:
        """Is it over?"""
        return self not in (JobState.WAITING, JobState.RUNNING)


class _Json(sa.TypeDecorator[Any]):
    """A plain value as JSON text."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: sa.Dialect) -> str | None:
        return None if value is None else json.dumps(value).replace("\\u0000", "\\ufffd")  # PostgreSQL keeps no NUL in a text

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        return None if value is None else json.loads(value)


snapshots = sa.Table(
    "serve_snapshots",
    metadata,
    sa.Column("id", Words, primary_key=True),
    sa.Column("kind", Words, nullable=False),
    sa.Column("facts", _Json, nullable=False),
    sa.Column("size", Whole, nullable=False),
    sa.Column("created", Number, nullable=False),
    sa.Column("used", Number, nullable=False),
)
jobs = sa.Table(
    "serve_jobs",
    metadata,
    sa.Column("id", Words, primary_key=True),
    sa.Column("verb", Words, nullable=False),
    sa.Column("snapshot", Words, nullable=False, index=True),
    sa.Column("options", _Json, nullable=False),
    sa.Column("state", Choice(JobState), nullable=False, index=True),
    sa.Column("created", Number, nullable=False, index=True),
    sa.Column("started", Number),
    sa.Column("ended", Number),
    sa.Column("owner", Words),
    sa.Column("alive", Number),
    sa.Column("cancelling", Truth, nullable=False),
    sa.Column("progress", _Json),
    sa.Column("incumbent", _Json),
    sa.Column("answer", _Json),
    sa.Column("failure", _Json),
    sa.Column("events", Whole, nullable=False),
)
job_events = sa.Table(
    "serve_job_events",
    metadata,
    sa.Column("job", Words, primary_key=True),
    sa.Column("number", Whole, primary_key=True, autoincrement=False),
    sa.Column("kind", Words, nullable=False),
    sa.Column("data", _Json, nullable=False),
    sa.Column("at", Number, nullable=False),
)
request_keys = sa.Table(
    "serve_request_keys",
    metadata,
    sa.Column("scope", Words, primary_key=True),
    sa.Column("key", Words, primary_key=True),
    sa.Column("digest", Words, nullable=False),
    sa.Column("made", Words, nullable=False),
    sa.Column("at", Number, nullable=False, index=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSnapshot:
    """A snapshot that was sent."""

    id: str
    kind: str
    facts: Mapping[str, Any]
    size: int  # bytes, unpacked
    created: float
    used: float  # when a request was last about it


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredJob:
    """A job and how far it is."""

    id: str
    verb: str
    snapshot: str
    options: Mapping[str, Any]
    state: JobState = JobState.WAITING
    created: float
    started: float | None = None
    ended: float | None = None
    owner: str | None = None  # the server that runs it
    alive: float | None = None  # when that server last said so
    cancelling: bool = False
    progress: Mapping[str, Any] | None = None
    incumbent: Mapping[str, Any] | None = None
    answer: Mapping[str, Any] | None = None
    failure: Mapping[str, Any] | None = None
    events: int = 0

    @property
    def snapshots(self) -> tuple[str, ...]:
        """Every snapshot that it needs: the one that it is about, and those that its options name."""
        named = (self.options.get(option) for option in SNAPSHOT_OPTIONS)
        return (self.snapshot, *(name for name in named if isinstance(name, str)))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """Something that happened to a job; numbers count from 1."""

    job: str
    number: int
    kind: str
    data: Mapping[str, Any]
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestKey:
    """A key by which a client marks a request that it may send twice."""

    scope: str
    key: str
    digest: str  # of the request
    made: str = ""  # the id of what it made
    at: float = field(default=0.0, compare=False)


class Transactions(Protocol):
    """What a database gives."""

    def reading(self) -> AbstractContextManager[sa.Connection]:
        """A transaction that sees one state."""
        ...

    def writing(self) -> AbstractContextManager[sa.Connection]:
        """A transaction that is kept whole or not at all."""
        ...


class JobStore:
    """The tables of snapshots and jobs."""

    def __init__(self, database: Transactions) -> None:
        self._database = database

    # ---- snapshots ------------------------------------------------------------------------------------------------------------

    def keep_snapshot(self, snapshot: KeptSnapshot) -> tuple[KeptSnapshot, bool]:
        """Keep a snapshot; the one that is kept, and whether it is new."""
        with self._database.writing() as connection:
            known = _one(connection, KeptSnapshot, snapshots, snapshot.id)
            if known is not None:
                used = sa.update(snapshots).where(snapshots.c.id == snapshot.id).values(used=snapshot.used)
                connection.execute(used)
                return known, False
            connection.execute(sa.insert(snapshots).values(**_row(snapshot)))
            return snapshot, True

    def snapshot(self, name: str) -> KeptSnapshot | None:
        """The snapshot of that id."""
        with self._database.reading() as connection:
            found: KeptSnapshot | None = _one(connection, KeptSnapshot, snapshots, name)
            return found

    def snapshots(self, limit: int) -> list[KeptSnapshot]:
        """The newest snapshots."""
        query = sa.select(snapshots).order_by(snapshots.c.created.desc(), snapshots.c.id).limit(limit)
        with self._database.reading() as connection:
            return [KeptSnapshot(**row) for row in connection.execute(query).mappings()]

    def drop_snapshot(self, name: str) -> StoredJob | None:
        """Forget a snapshot; a job that has not ended and needs it, instead, if there is one."""
        unended = sa.select(jobs).where(jobs.c.state.in_([JobState.WAITING, JobState.RUNNING]))
        with self._database.writing() as connection:
            for row in connection.execute(unended).mappings():
                job = StoredJob(**row)
                if name in job.snapshots:
                    return job
            connection.execute(sa.delete(snapshots).where(snapshots.c.id == name))
            return None

    def idle_snapshots(self, before: float) -> list[str]:
        """Snapshots that no request was about since then, and no job that is kept."""
        about = sa.select(jobs.c.snapshot)
        query = sa.select(snapshots.c.id).where(snapshots.c.used < before, snapshots.c.id.not_in(about))
        with self._database.reading() as connection:
            return list(connection.scalars(query))

    # ---- jobs -----------------------------------------------------------------------------------------------------------------

    def submit(self, job: StoredJob, most_waiting: int, key: RequestKey | None = None) -> StoredJob | RequestKey | None:
        """Keep a job that waits. The job; the one that an equal request made before; the key, if it was used for another
        request; None if too many jobs wait."""
        with self._database.writing() as connection:
            before = None if key is None else _known_key(connection, key)
            if key is not None and before is not None:
                known = _one(connection, StoredJob, jobs, before.made)
                return known if before.digest == key.digest and known is not None else before
            if _count(connection, JobState.WAITING) >= most_waiting:
                return None
            connection.execute(sa.insert(jobs).values(**_row(job)))
            if key is not None:
                connection.execute(sa.insert(request_keys).values(**{**_row(key), "made": job.id, "at": job.created}))
            connection.execute(sa.update(snapshots).where(snapshots.c.id.in_(job.snapshots)).values(used=job.created))
            return _told(connection, job.id, "state", {"state": job.state.value}, job.created)

    def job(self, name: str) -> StoredJob | None:
        """The job of that id."""
        with self._database.reading() as connection:
            found: StoredJob | None = _one(connection, StoredJob, jobs, name)
            return found

    def jobs(self, limit: int, state: JobState | None = None) -> list[StoredJob]:
        """The newest jobs, of one state if it is stated."""
        query = sa.select(jobs).order_by(jobs.c.created.desc(), jobs.c.id).limit(limit)
        query = query if state is None else query.where(jobs.c.state == state)
        with self._database.reading() as connection:
            return [StoredJob(**row) for row in connection.execute(query).mappings()]

    def count(self, state: JobState) -> int:
        """How many jobs are in a state."""
        with self._database.reading() as connection:
            return _count(connection, state)

    def claim(self, owner: str, now: float) -> StoredJob | None:
        """The job that has waited longest, now the owner's to run; None if none waits."""
        first = sa.select(jobs.c.id).where(jobs.c.state == JobState.WAITING).order_by(jobs.c.created, jobs.c.id).limit(1)
        with self._database.writing() as connection:
            name = connection.scalar(first)
            if name is None:
                return None
            mine = sa.update(jobs).where(jobs.c.id == name, jobs.c.state == JobState.WAITING)
            changes = {"state": JobState.RUNNING, "started": now, "owner": owner, "alive": now}
            if connection.execute(mine.values(**changes)).rowcount != 1:
                return None  # another server was quicker
            return _told(connection, name, "state", {"state": JobState.RUNNING.value}, now)

    def tell(
        self, name: str, kind: str, data: Mapping[str, Any], now: float, *, of: JobState = JobState.RUNNING, **changes: Any
    ) -> StoredJob | None:
        """Write down what happened to a job that is in a state, and what that changes; None if it is in another, or gone."""
        with self._database.writing() as connection:
            mine = sa.update(jobs).where(jobs.c.id == name, jobs.c.state == of)
            if connection.execute(mine.values(**{"alive": now, **changes})).rowcount != 1:
                return None
            return _told(connection, name, kind, data, now)

    def ask_to_cancel(self, name: str) -> None:
        """Leave word for the server that runs a job."""
        with self._database.writing() as connection:
            connection.execute(sa.update(jobs).where(jobs.c.id == name).values(cancelling=True))

    def cancelling(self, owner: str) -> list[str]:
        """Running jobs of a server that another one was asked to cancel."""
        asked = sa.select(jobs.c.id).where(jobs.c.owner == owner, jobs.c.state == JobState.RUNNING, jobs.c.cancelling)
        with self._database.reading() as connection:
            return list(connection.scalars(asked))

    def say_alive(self, owner: str, now: float) -> None:
        """Say that the jobs of a server still run."""
        mine = sa.update(jobs).where(jobs.c.owner == owner, jobs.c.state == JobState.RUNNING)
        with self._database.writing() as connection:
            connection.execute(mine.values(alive=now))

    def abandoned(self, owner: str, silent_since: float | None) -> list[StoredJob]:
        """Running jobs of other servers; only those that have been silent since then, if that is stated."""
        query = sa.select(jobs).where(jobs.c.state == JobState.RUNNING, jobs.c.owner != owner)
        query = query if silent_since is None else query.where(jobs.c.alive < silent_since)
        with self._database.reading() as connection:
            return [StoredJob(**row) for row in connection.execute(query).mappings()]

    def forget(self, name: str) -> bool:
        """Delete a job that has ended, with its events; False if there is none."""
        ended = jobs.c.state.not_in([JobState.WAITING, JobState.RUNNING])
        with self._database.writing() as connection:
            gone = connection.execute(sa.delete(jobs).where(jobs.c.id == name, ended)).rowcount == 1
            if gone:
                connection.execute(sa.delete(job_events).where(job_events.c.job == name))
            return gone

    def old_jobs(self, before: float) -> list[str]:
        """Jobs that ended before that time."""
        with self._database.reading() as connection:
            return list(connection.scalars(sa.select(jobs.c.id).where(jobs.c.ended < before)))

    def known_key(self, key: RequestKey) -> RequestKey | None:
        """The key of an earlier request, if it was used."""
        with self._database.reading() as connection:
            return _known_key(connection, key)

    def remember(self, key: RequestKey, made: str, now: float) -> None:
        """Keep the key of a request that had its effect; one that is kept already stays as it is."""
        with self._database.writing() as connection:
            if _known_key(connection, key) is None:
                connection.execute(sa.insert(request_keys).values(**{**_row(key), "made": made, "at": now}))

    def prune_keys(self, before: float) -> None:
        """Forget keys of requests that came before that time."""
        with self._database.writing() as connection:
            connection.execute(sa.delete(request_keys).where(request_keys.c.at < before))

    # ---- events ---------------------------------------------------------------------------------------------------------------

    def events(self, name: str, after: int, limit: int = 500) -> list[StoredEvent]:
        """What happened to a job after the event of that number."""
        query = sa.select(job_events).where(job_events.c.job == name, job_events.c.number > after)
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(job_events.c.number).limit(limit)).mappings()
            return [StoredEvent(**row) for row in rows]


def _row(value: Any) -> dict[str, Any]:
    return {known.name: getattr(value, known.name) for known in fields(value)}


def _one(connection: sa.Connection, kind: type[Any], table: sa.Table, name: str) -> Any:
    row = connection.execute(sa.select(table).where(table.c.id == name)).mappings().first()
    return None if row is None else kind(**row)


def _known_key(connection: sa.Connection, key: RequestKey) -> RequestKey | None:
    query = sa.select(request_keys).where(request_keys.c.scope == key.scope, request_keys.c.key == key.key)
    row = connection.execute(query).mappings().first()
    return None if row is None else RequestKey(**row)


def _count(connection: sa.Connection, state: JobState) -> int:
    return int(connection.execute(sa.select(sa.func.count()).select_from(jobs).where(jobs.c.state == state)).scalar_one())


def _told(connection: sa.Connection, name: str, kind: str, data: Mapping[str, Any], now: float) -> StoredJob:
    """Add the next event of a job; the job as it is then."""
    count_on = sa.update(jobs).where(jobs.c.id == name).values(events=jobs.c.events + 1)
    connection.execute(count_on)  # locks the row of the job until the end of the transaction
    job = _one(connection, StoredJob, jobs, name)
    event = StoredEvent(job=name, number=job.events, kind=kind, data=dict(data), at=now)
    connection.execute(sa.insert(job_events).values(**_row(event)))
    changed: StoredJob = job
    return changed
