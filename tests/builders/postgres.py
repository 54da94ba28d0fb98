"""A throw-away PostgreSQL server, from Debian's binaries, on a Unix socket in a temporary folder.

Tests skip where there is none; with BAYPLAN_POSTGRES=required, as in CI, they fail.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NoReturn

import pytest

BINARIES = Path("/usr/lib/postgresql")
USER = "bayplan"
SMALL = "-c max_connections=60 -c shared_buffers=16MB -c listen_addresses=''"
FAST = "-c fsync=off -c full_page_writes=off"
SERVANTS = ("postgres", "nobody")  # whom the server runs as if we are root, which it refuses
_numbers = count(1)


class Server:
    """A running server."""

    def __init__(self, binaries: Path, folder: Path, durable: bool) -> None:
        self._control = binaries / "pg_ctl"
        self.folder = folder
        self.durable = durable

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"{SMALL} {'' if self.durable else FAST} -c unix_socket_directories='{self.folder}'"
        _run(self._control, "start", "-w", "-D", self.folder / "data", "-l", self.folder / "log", "-o", options)

    def stop(self) -> None:
        """Stop it without ending what runs on it, as a crash would."""
        _run(self._control, "stop", "-w", "-D", self.folder / "data", "-m", "immediate")

    def execute(self, statement: str) -> None:
        """Run one statement as the owner of everything."""
        import psycopg

        with psycopg.connect(host=str(self.folder), user=USER, dbname="postgres", autocommit=True) as connection:
            connection.execute(statement.encode())

    def address(self) -> str:
        """The address of a new, empty schema."""
        name = f"test_{next(_numbers)}"
        self.execute(f"CREATE SCHEMA {name}")
        return f"postgresql://{USER}@/postgres?host={self.folder}&options=-csearch_path%3D{name}"


def missing() -> str:
    """What there is not, in words; nothing if a server can be started."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "no psycopg: install the extra [postgres]"
    return "" if _binaries() else f"no PostgreSQL below {BINARIES}: install Debian's postgresql"


def skip_or_fail(words: str) -> NoReturn:
    """Skip a test with a reason, or fail it where PostgreSQL is required."""
    if os.environ.get("BAYPLAN_POSTGRES") == "required":
        pytest.fail(words, pytrace=False)
    pytest.skip(words)


@contextmanager
def server(*, durable: bool = False) -> Iterator[Server]:
    """A server until the end of the block; durable: what it acknowledges would survive a crash of the machine."""
    binaries = _binaries()
    assert binaries is not None
    folder = Path(tempfile.mkdtemp(prefix="bayplan-pg-"))  # short: the name of a socket has a limit
    if os.geteuid() == 0:
        shutil.chown(folder, *_servant())
    try:
        _run(binaries / "initdb", "-D", folder / "data", "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        running = Server(binaries, folder, durable)
        running.start()
        try:
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path | None:
    """The folder of the latest release that is installed."""
    folders = [folder for folder in BINARIES.glob("*/bin") if (folder / "initdb").exists() and (folder / "postgres").exists()]
    return max(folders, key=lambda folder: float(folder.parent.name), default=None)


def _servant() -> tuple[int, int]:
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = next(names[name] for name in SERVANTS if name in names)
    return entry.pw_uid, entry.pw_gid


def _run(*command: str | Path) -> None:
    """Run one of the server's programs, as a user that is not root."""
    user, group = _servant() if os.geteuid() == 0 else (None, None)
    done = subprocess.run(
        list(map(str, command)),
        stdout=subprocess.DEVNULL,  # not a pipe: the server would keep it open
        stderr=subprocess.DEVNULL if "start" in command else subprocess.PIPE,
        user=user,
        group=group,
        extra_groups=None if user is None else [],
        cwd="/",
        check=False,
        timeout=120,
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {(done.stderr or b'').decode()}")
