"""What a snapshot looks like: made once, in a process of its own, and kept while it is among the last that were asked for."""

import gzip
import json
import tempfile
import threading
from collections import OrderedDict
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
SMALL = 200_000  # bytes of a snapshot that is read in a hundredth of a second
LEVEL = 5  # of compression: as small as the best in half the time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SnapshotDrawing:
    """The columns of a bay plan, as compressed JSON, and the findings."""

    columns: bytes
    findings: dict[str, Any]


class Drawings:
    """Drawings by the id of their snapshot."""

    def __init__(self, snapshots: SnapshotFolder) -> None:
        self._snapshots = snapshots
        self._kept: OrderedDict[str, SnapshotDrawing] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, name: str) -> SnapshotDrawing:
        """The drawing of a snapshot; InputError if there is no such snapshot, or if it holds no cluster."""
        snapshot = self._snapshots.find(name)
        if snapshot.kind != "cluster":
            raise InputError("snapshot", [_fault("E2736", name, f"holds {snapshot.kind}", "a snapshot of a cluster")])
        with self._lock:  # two that ask for the same wait for one process
            if name not in self._kept:
                self._kept[name] = _drawn(self._snapshots.path(name), self._snapshots.memory, with_findings=True)
                if len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(name)
            return self._kept[name]


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
