"""What the bytes of a snapshot hold: read in a folder of their own, so that messages name no path of the server."""

import os
import tempfile
import zlib
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any, Never

from bayplan.errors import Fault, InputError
from bayplan.serve.jobs.verbs import CLUSTER, REQUESTS, STREAM

FORMATS = {  # name -> the suffix that says it to the readers
    "json": ".json",
    "yaml": ".yaml",
    "csv": ".csv",
    "jsonl": ".jsonl",
    "text": "",
}
CONTENT = "snapshot"  # the name of the file, before its suffix
GZIP_MAGIC = b"\x1f\x8b"
LEFT_OVER = "E1703"  # numbers after a GMRP model
PIECE = 1 << 16  # bytes that are unpacked at a time


def unpacked(body: bytes, most: int) -> bytes:
    """The bytes of a body, unpacked if they are gzipped; InputError as soon as that makes more than `most` of them."""
    if len(body) > most:
        _refuse("E2741", "is too large", f"{len(body):,} bytes", f"at most {most:,}")
    if not body.startswith(GZIP_MAGIC):
        return body
    parts: list[bytes] = []
    size, rest = 0, body
    while rest:
        stream = zlib.decompressobj(wbits=31)
        while not stream.eof:
            try:
                part = stream.decompress(rest, PIECE)
            except zlib.error as error:
                _refuse("E1008", "the gzip stream is damaged or cut off", str(error), "a whole gzip stream")
            rest = stream.unconsumed_tail
            size += len(part)
            if size > most:
                _refuse("E2741", "is too large when it is unpacked", f"more than {most:,} bytes", f"at most {most:,}")
            parts.append(part)
            if not part and not rest and not stream.eof:
                _refuse("E1008", "the gzip stream is damaged or cut off", f"{len(body):,} bytes", "a whole gzip stream")
        rest = stream.unused_data.lstrip(b"\0")
    return b"".join(parts)


def _refuse(code: str, problem: str, value: str, expected: str) -> Never:
    fault = Fault(code=code, kind="file", name=CONTENT, problem=problem, value=value, expected=expected)
    raise InputError(CONTENT, [fault]) from None


def content_file(folder: Path) -> Path:
    """The file of a snapshot's folder."""
    return next(path for path in folder.iterdir() if path.stem == CONTENT)


def read_content(folder: Path) -> Any:
    """What a folder's snapshot holds: a cluster, timed requests with their machines, or a stream of cluster requests.

    The process goes into that folder: call it in a process of its own.
    """
    from bayplan.api.files import named, read_any
    from bayplan.kubernetes.collect.reading.kubectl_json import is_kubectl_file
    from bayplan.model import Snapshot

    name = content_file(folder).name
    os.chdir(folder)
    if is_kubectl_file(name):
        from bayplan.kubernetes.snapshots import read as read_kubectl

        return read_kubectl(name)
    try:
        value = read_any(name)
    except InputError as error:
        if [fault.code for fault in error.faults] != [LEFT_OVER]:
            raise
        return _model_and_assignment(name)
    return named(value, name) if isinstance(value, Snapshot) else value


def _model_and_assignment(name: str) -> Any:
    """A GMRP model, the last line of whose file is its initial assignment: there is no second file beside it here."""
    from bayplan.formats.gmrp import read_gmrp

    model, _, assignment = Path(name).read_text(encoding="utf-8").rstrip().rpartition("\n")
    with tempfile.TemporaryDirectory() as folder, chdir(folder):  # so that its notes name no path of the server
        Path("assignment").write_text(assignment, encoding="utf-8")
        return read_gmrp(name, "assignment", text=model)


def facts_of(value: Any) -> Mapping[str, Any]:
    """What there is to say about a value that was read: its kind, its name, its counts."""
    from bayplan.formats.requests import RequestsFile
    from bayplan.model import ClusterRequests, Snapshot

    if isinstance(value, Snapshot):
        cluster = value.cluster
        return {
            "kind": CLUSTER,
            "name": cluster.name,
            "format": value.format,
            "machines": len(cluster.machines.name),
            "containers": len(cluster.containers.name),
            "workloads": len(cluster.workloads.name),
            "notes": list(value.notes),
        }
    if isinstance(value, ClusterRequests):
        zones = len(value.zones.name)
        return {"kind": STREAM, "name": CONTENT, "format": "native", "zones": zones, "requests": len(value.requests), "notes": []}
    timed = value.requests if isinstance(value, RequestsFile) else value
    notes = list(value.notes) if isinstance(value, RequestsFile) else []
    return {"kind": REQUESTS, "name": CONTENT, "format": "native", "requests": len(timed.name), "notes": notes}
