"""Snapshots by their content: the same bytes have the same id, so sending a file twice keeps it once."""

import hashlib
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayplan.errors import Fault, InputError, WorldError
from bayplan.serve.jobs.processes import READING, call_in_process
from bayplan.serve.jobs.reading import CONTENT, FORMATS, content_file, unpacked
from bayplan.serve.jobs.value_types import SNAPSHOT_ID
from bayplan.serve.jobs.worker import read_facts
from bayplan.serve.settings import Limits
from bayplan.serve.store.jobs import JobStore, KeptSnapshot, StoredJob

ARRIVING, LEFT_BEHIND = ".arriving-", 3600.0  # folders of files that are being read; seconds after which one is left over
READERS = 4  # files that are unpacked and read at the same time, each in a process


class SnapshotFolder:
    """A folder with one folder for each snapshot, named by its id."""

    def __init__(self, folder: Path, store: JobStore, most_bytes: int, memory: int = Limits().reading_memory) -> None:
        self.folder, self.store, self.most_bytes, self.memory = folder, store, most_bytes, memory
        self.folder.mkdir(parents=True, exist_ok=True)
        self._readers = threading.BoundedSemaphore(READERS)

    def keep(self, body: bytes, form: str = "text") -> tuple[KeptSnapshot, bool]:
        """The snapshot that a body holds, and whether it is new; InputError with every fault of the file."""
        with self._reading():
            return self._kept(unpacked(body, self.most_bytes), form)

    def _kept(self, content: bytes, form: str) -> tuple[KeptSnapshot, bool]:
        """The snapshot of a content, known or new."""
        name = f"sha256-{hashlib.sha256(content).hexdigest()}"
        now = time.time()
        known = self.store.snapshot(name)
        if known is not None and self.path(name).exists():
            return self.store.keep_snapshot(replace(known, used=now))
        try:
            return self._arrived(content, name, form, now)
        except OSError as error:
            raise WorldError(f"the snapshot cannot be kept: {error.strerror or error}; free some space on the server") from error

    def _arrived(self, content: bytes, name: str, form: str, now: float) -> tuple[KeptSnapshot, bool]:
        """Read a content that is not kept yet, then keep it."""
        arriving = Path(tempfile.mkdtemp(prefix=ARRIVING, dir=self.folder))
        try:
            (arriving / f"{CONTENT}{FORMATS[form]}").write_bytes(content)
            facts = self._facts(arriving)
            snapshot = KeptSnapshot(id=name, kind=facts["kind"], facts=facts, size=len(content), created=now, used=now)
            self._move(arriving, self.path(name))
            return self.store.keep_snapshot(snapshot)
        finally:
            shutil.rmtree(arriving, ignore_errors=True)

    def _facts(self, folder: Path) -> dict[str, Any]:
        """What the file in a folder holds, read in a process of its own: a hostile file costs that process at most."""
        message = call_in_process(read_facts, folder, self.memory, seconds=READING)
        if message is None:
            expected = f"a file that is read in {READING:g} seconds and {self.memory:,} bytes of memory"
            raise InputError(CONTENT, [_fault("E2742", "could not be read", expected)])
        kind, data = message
        if kind == "failed":
            raise InputError(CONTENT, [Fault(**fault) for fault in data["faults"]] or [_other_fault(data)])
        return data

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Hold one of the places for files that are unpacked and read; refused if none is free in time."""
        if not self._readers.acquire(timeout=READING):
            raise InputError(CONTENT, [_fault("E2706", "has to wait too long: many files are being read", "fewer at a time")])
        try:
            yield
        finally:
            self._readers.release()

    def _move(self, arriving: Path, target: Path) -> None:
        """Put a folder in its place; one that is there already is as good."""
        try:
            arriving.chmod(0o755)
            os.rename(arriving, target)  # noqa: PTH104 - Path.rename says less
        except OSError:
            if not target.exists():
                raise

    def path(self, name: str) -> Path:
        """The folder of a snapshot. An id is checked first, so no other path can be named."""
        if not re.fullmatch(SNAPSHOT_ID.strip("^$"), name):
            raise InputError("snapshot", [unknown_snapshot(name)])
        return self.folder / name

    def find(self, name: str) -> KeptSnapshot:
        """The snapshot of that id; InputError if there is none."""
        known = self.store.snapshot(name) if re.fullmatch(SNAPSHOT_ID.strip("^$"), name) else None
        if known is None or not self.path(name).exists():
            raise InputError("snapshot", [unknown_snapshot(name)])
        return known

    def content(self, name: str) -> Path:
        """The file of a snapshot."""
        return content_file(self.path(self.find(name).id))

    def drop(self, name: str) -> StoredJob | None:
        """Delete a snapshot; a job that needs it, instead, if there is one."""
        return self._drop(self.find(name).id)

    def _drop(self, name: str) -> StoredJob | None:
        job = self.store.drop_snapshot(name)
        if job is None:
            shutil.rmtree(self.path(name), ignore_errors=True)
        return job

    def prune(self, before: float) -> Sequence[str]:
        """Delete snapshots that nothing was about since then, whether or not their files are there; and what a kill left."""
        for path in self.folder.glob(f"{ARRIVING}*"):
            if path.stat().st_mtime < time.time() - LEFT_BEHIND:
                shutil.rmtree(path, ignore_errors=True)
        return [name for name in self.store.idle_snapshots(before) if self._drop(name) is None]


def unknown_snapshot(name: str) -> Fault:
    """The fault of an id that no snapshot has."""
    expected = "an id that POST /v1/snapshots has answered"
    return Fault(code="E2735", kind="snapshot", name=name[:100], problem="is not there", expected=expected)


def _other_fault(failure: Mapping[str, Any]) -> Fault:
    """What is wrong with a file that has no faults of its own: what it says contradicts itself, or bayplan has a fault."""
    return _fault(failure["code"] or "E1011", str(failure["detail"])[:500], "a file that bayplan reads")


def _fault(code: str, problem: str, expected: str) -> Fault:
    return Fault(code=code, kind="file", name=CONTENT, problem=problem, expected=expected)
