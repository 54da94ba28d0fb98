"""What can go wrong with the store, and the one place where the words of databases become ours."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from bayplan.errors import BayplanError, WorldError, escaped


class StoreError(WorldError):
    """The record cannot be read or written: a full disk, a damaged file, no database, or a write that contradicts it."""


class LostLeaseError(WorldError):
    """Another process has taken over: stop acting at once."""


MISSING_DRIVER = "PostgreSQL needs psycopg: pip install 'bayplan[postgres]'"
FULL = "its disk is full; nothing of this write was kept: free some space, or prune the record"
DAMAGED = "it is damaged or not a database; restore a backup, or move it away, and a new record is begun"
BUSY = "another process has kept it locked for too long; look for one that hangs, and try again"
READ_ONLY = "it cannot be written; check the permissions of the file and its folder, and the mount"
CANNOT_OPEN = "the file cannot be opened; check that its folder exists and that you may write there"
INPUT_OUTPUT = "its disk does not read or write; check the disk and the system's log"
UNREACHABLE = "there is no connection; check that the database runs, its address and name, user and password, and try again"
NO_ACCESS = "the database refuses this user; check its rights"
STANDBY = "the database only allows reads: it is a standby; use the address of the primary"
CONTRADICTION = "this write contradicts what is recorded"

SQLITE = {  # how the name of an error begins
    "SQLITE_FULL": FULL,
    "SQLITE_CORRUPT": DAMAGED,
    "SQLITE_NOTADB": DAMAGED,
    "SQLITE_BUSY": BUSY,
    "SQLITE_LOCKED": BUSY,
    "SQLITE_READONLY": READ_ONLY,
    "SQLITE_PERM": READ_ONLY,
    "SQLITE_CANTOPEN": CANNOT_OPEN,
    "SQLITE_IOERR_SHMSIZE": FULL,
    "SQLITE_IOERR": INPUT_OUTPUT,
    "SQLITE_CONSTRAINT": CONTRADICTION,
}
POSTGRESQL = {  # how an SQLSTATE begins
    "53100": FULL,
    "53": "the database is at its limit of memory or connections; try again later",
    "XX": DAMAGED,
    "55P03": BUSY,
    "25P03": "it took too long between two statements, and the database gave the write up; try again",
    "40": BUSY,
    "25006": STANDBY,
    "28": UNREACHABLE,
    "42501": NO_ACCESS,
    "3D": UNREACHABLE,
    "08": UNREACHABLE,
    "57": UNREACHABLE,
    "58": INPUT_OUTPUT,
    "23": CONTRADICTION,
}


@contextmanager
def translated(store: str, noun: str = "record") -> Iterator[None]:
    """Raise what a database raises as a StoreError that names the store and says what to do."""
    try:
        yield
    except sa.exc.StatementError as error:
        if isinstance(error.orig, BayplanError):  # a value that was refused before it reached the database
            raise error.orig from None
        raise StoreError(f"{cannot_use(store, noun)}: {_advice(error)} ({_first_line(error.orig or error)})") from error
    except sa.exc.SQLAlchemyError as error:
        raise StoreError(f"{cannot_use(store, noun)}: {_first_line(error)}") from error


def cannot_use(store: str, noun: str = "record") -> str:
    """How every message about a store begins."""
    return escaped(f"cannot use the {noun} '{store}'")


def _advice(error: sa.exc.StatementError) -> str:
    sqlite: str | None = getattr(error.orig, "sqlite_errorname", None)
    if sqlite is not None:
        return _by_prefix(SQLITE, sqlite) or "SQLite refuses"
    state: str | None = getattr(error.orig, "sqlstate", None)
    if state is None:  # no server said this
        return UNREACHABLE if isinstance(error, sa.exc.OperationalError) else "the database refuses"
    return _by_prefix(POSTGRESQL, state) or "the database refuses"


def _by_prefix(words: dict[str, str], name: str) -> str | None:
    return next((advice for prefix, advice in words.items() if name.startswith(prefix)), None)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return escaped(lines[0]) if lines else type(error).__name__
