"""What a snapshot looks like: made once, in a process of its own, and kept while it is among the last that were asked for."""

import gzip
import json
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bayplan.errors import BayplanError, Fault, InputError
from bayplan.formats.files import snapshot_in
from bayplan.serve.jobs.processes import READING, call_in_process, limit_memory
from bayplan.serve.jobs.reading import CONTENT
from bayplan.serve.jobs.snapshots import SnapshotFolder
from bayplan.serve.settings import Limits
from bayplan.serve.views.bay_plan_columns import bay_plan_columns

KEPT = 4  # snapshots, each of a few hundred kilobytes; their content never changes
FAILED_SECONDS = 60.0  # that a failure is kept: the same file is not read again at once
MAKING = 4  # snapshots that are drawn at the same time, each in a process
WAITING = 8  # requests that wait for a drawing: each holds a thread that others need
SMALL = 200_000  # bytes of a snapshot that is read in a hundredth of a second
LEVEL = 5  # of compression: as small as the best in half the time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SnapshotDrawing:
    """The columns of a bay plan, as compressed JSON, and the findings."""

    columns: bytes
    findings: dict[str, Any]


class Drawings:
    """Drawings by the id of their snapshot. Those that ask for the same wait for one process; others do not wait for it."""

    def __init__(self, snapshots: SnapshotFolder, clock: Callable[[], float] = time.monotonic) -> None:
        self._snapshots, self._clock = snapshots, clock
        self._kept: OrderedDict[str, SnapshotDrawing] = OrderedDict()
        self._failed: dict[str, tuple[float, Sequence[Fault]]] = {}  # snapshot -> until when it is kept, and why
        self._making: dict[str, Future[SnapshotDrawing]] = {}
        self._waiting = 0
        self._lock = threading.Lock()  # held for moments only

    def of(self, name: str) -> SnapshotDrawing:
        """The drawing of a snapshot; InputError if there is no such snapshot, if it holds no cluster, or if too many are made."""
        snapshot = self._snapshots.find(name)
        if snapshot.kind != "cluster":
            raise InputError("snapshot", [_fault("E2736", name, f"holds {snapshot.kind}", "a snapshot of a cluster")])
        with self._lock:
            known = self._known(name)
            if known is not None:
                return known
            making = self._making.get(name)
            self._expect_place(making is None)
            if making is None:
                made = self._making[name] = Future()
            else:
                self._waiting += 1
        return self._made(name, made) if making is None else self._waited(making)

    def _known(self, name: str) -> SnapshotDrawing | None:
        """What is kept; a failure that is kept is raised."""
        until, faults = self._failed.get(name, (0.0, ()))
        if faults and self._clock() < until:
            raise InputError("snapshot", faults)
        if name in self._kept:
            self._kept.move_to_end(name)
        return self._kept.get(name)

    def _expect_place(self, is_first: bool) -> None:
        """Refuse one more drawing, or one more that waits, if there are as many as there may be."""
        if len(self._making) >= MAKING if is_first else self._waiting >= WAITING:
            raise InputError("snapshot", [_fault("E2706", "", "many snapshots are being drawn", "fewer at a time")])

    def _waited(self, making: Future[SnapshotDrawing]) -> SnapshotDrawing:
        """What another request makes."""
        try:
            return making.result()
        finally:
            with self._lock:
                self._waiting -= 1

    def _made(self, name: str, made: Future[SnapshotDrawing]) -> SnapshotDrawing:
        """Make a drawing, and keep it or why there is none."""
        try:
            drawing = _drawn(self._snapshots.path(name), self._snapshots.memory, with_findings=True)
        except BaseException as error:
            with self._lock:
                del self._making[name]
                if isinstance(error, InputError):
                    self._keep_failure(name, error.faults)
            made.set_exception(error)
            raise
        with self._lock:
            del self._making[name]
            self._kept[name] = drawing
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        made.set_result(drawing)
        return drawing

    def _keep_failure(self, name: str, faults: Sequence[Fault]) -> None:
        now = self._clock()
        self._failed = {each: kept for each, kept in self._failed.items() if now < kept[0]}
        self._failed[name] = (now + FAILED_SECONDS, faults)


def drawn_columns(content: bytes) -> bytes:
    """The columns of a snapshot that our own loop wrote, as compressed JSON; a small one is worth no process."""
    if len(content) <= SMALL:
        snapshot = snapshot_in(json.loads(content), CONTENT)
        assert snapshot is not None  # the loop writes nothing else
        return packed(bay_plan_columns(snapshot))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"{CONTENT}.json").write_bytes(content)
        return _drawn(Path(folder), Limits().reading_memory, with_findings=False).columns


def _drawn(folder: Path, memory: int, *, with_findings: bool) -> SnapshotDrawing:
    message = call_in_process(draw_snapshot, folder, memory, with_findings, seconds=READING)
    kind, data = message or ("failed", {"detail": f"was not read in {READING:g} seconds and {memory:,} bytes of memory"})
    if kind == "failed":
        raise InputError("snapshot", [_fault("E2742", folder.name, data["detail"], "a snapshot that can be read")])
    return SnapshotDrawing(columns=data["columns"], findings=data["findings"])


def draw_snapshot(folder: Path, memory: int, with_findings: bool, pipe: Connection) -> None:
    """Send the drawing of the snapshot in a folder. Runs in a process of its own: reading changes its folder."""
    from bayplan.serve.jobs.reading import read_content
    from bayplan.serve.views.findings import findings_of

    limit_memory(memory)
    try:
        snapshot = read_content(folder)
        findings = findings_of(snapshot) if with_findings else {}
        message = ("drawn", {"columns": packed(bay_plan_columns(snapshot)), "findings": findings})
    except BayplanError as error:
        message = ("failed", {"detail": str(error)})
    except MemoryError as error:
        error.__traceback__ = None  # it holds what has taken the memory
        message = ("failed", {"detail": f"takes more than {memory:,} bytes of memory"})
    with suppress(BrokenPipeError):  # the server has ended
        pipe.send(message)


def packed(document: dict[str, Any]) -> bytes:
    """A document as compressed JSON."""
    return gzip.compress(json.dumps(document, separators=(",", ":"), allow_nan=False).encode(), LEVEL)


def _fault(code: str, name: str, problem: str, expected: str) -> Fault:
    return Fault(code=code, kind="snapshot", name=name, problem=problem, expected=expected)
