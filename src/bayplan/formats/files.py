"""One way in and one way out for every file: its content decides how it is read."""

import gc
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

from bayplan.errors import Fault, InputError, UsageError, expect_one_of
from bayplan.formats.document.lines import faults_with_lines
from bayplan.formats.document.text import (
    STDIO,
    PathLike,
    parse_document,
    read_bytes,
    read_text,
    text_in,
    write_bytes_atomically,
    write_text_atomically,
)
from bayplan.formats.native import (
    build,
    native_document,
    placed_as,
    placement_document,
    read_native,
    read_native_placement,
    text_of,
)
from bayplan.formats.requests.document import RequestsFile, read_requests_file, write_requests
from bayplan.model import Acceptance, Cluster, ClusterRequests, Placement, Plan, Schedule, Snapshot, TimedRequests

INTEGERS = re.compile(r"\s*[+-]?\d+(\s|$)")  # a GMRP file starts with a whole number
LARGE = 100_000  # characters of a text, or containers
KNOWN = "a snapshot (key 'bayplan', no 'kind'), a RASA cluster (key 'ServiceList') or a GMRP model (integers)"
KNOWN_PLACEMENTS = (
    "a placement (key 'placement'), a snapshot (key 'bayplan' or 'ServiceList'), a RASA solution or a GMRP solution (integers)"
)
TIMED = 'timed requests ("kind": "requests", or a table with the columns start and end)'
ADMISSION = 'zones and cluster requests ("kind": "admission")'
Document: TypeAlias = Snapshot | TimedRequests | ClusterRequests  # what a native file can hold
Solution: TypeAlias = Placement | Plan | Schedule | Acceptance
Whole: TypeAlias = Document | RequestsFile
D = TypeVar("D", Snapshot, TimedRequests, ClusterRequests)
KINDS = {
    Snapshot: "a cluster",
    TimedRequests: "timed requests",
    ClusterRequests: "zones and cluster requests, for `bayplan admit`",
}
FORMS = ("native", "rasa", "parquet")  # that `write` can write
ZIP_MAGIC = b"PK\x03\x04"  # how an archive of Parquet tables begins
SOLUTIONS = {  # key -> what a file with it is
    "placement": "a placement, which goes with a cluster",
    "batches": "a migration plan, which goes with a cluster",
    "served": "an answer of schedule, which goes with timed requests",
    "accepted": "an answer of admit, which goes with zones and cluster requests",
}


def read(path: PathLike, start: PathLike | None = None) -> Snapshot:
    """The snapshot in a file: native (JSON, YAML or Parquet tables in a zip file), RASA or GMRP, plain or gzipped.

    `start` is the initial assignment of a GMRP model that has none beside it; other files need none.
    """
    return _read_as(path, Snapshot, KNOWN, start)


def read_requests(path: PathLike) -> TimedRequests:
    """The timed requests in a file."""
    return _read_as(path, TimedRequests, 'timed requests ("kind": "requests")')


def read_timed(path: PathLike, horizon: float | None = None) -> RequestsFile:
    """The timed requests in a file, its fleet if it has one, and notes about what was made of it.

    `horizon`: ends that are later or not known become this time, requests that start then or later are left out.
    """
    from bayplan.formats.requests.table import is_requests_table, read_requests_table

    source, text = os.fspath(path), read_text(path)
    if is_requests_table(text):
        return read_requests_table(text, source, horizon)
    document = parse_document(text, source)
    if isinstance(document, Mapping) and document.get("kind") == "requests" and "bayplan" in document:
        with faults_with_lines(text, source):
            return read_requests_file(document, source, horizon)
    clusters = ({"ServiceList"}, {"bayplan", "machines"})
    is_cluster = isinstance(document, Mapping) and any(keys <= document.keys() for keys in clusters)
    raise InputError(source, [_fault(KINDS[Snapshot], TIMED) if is_cluster else unknown_kind(document, TIMED)])


def read_admission(path: PathLike) -> ClusterRequests:
    """The zones and cluster requests in a file."""
    return _read_as(path, ClusterRequests, ADMISSION)


def _read_as(path: PathLike, kind: type[D], expected: str, start: PathLike | None = None) -> D:
    value = read_any(path, start)
    if not isinstance(value, kind):
        raise InputError(os.fspath(path), [_fault(KINDS[type(value)], expected)])
    return value


def read_any(path: PathLike, start: PathLike | None = None, zones: PathLike | None = None) -> Document:
    """The snapshot, the timed requests or the admission in a file; `start` as for `read`, `zones` those of a stream."""
    whole = read_whole(path, start, zones)
    return whole.requests if isinstance(whole, RequestsFile) else whole


def read_whole(path: PathLike, start: PathLike | None = None, zones: PathLike | None = None) -> Whole:
    """As `read_any`, but timed requests come with their fleet and notes, as snapshots do with theirs."""
    source, data = os.fspath(path), read_bytes(path)
    if data.startswith(ZIP_MAGIC):
        from bayplan.formats.parquet import read_tables

        return read_tables(data, source)
    text = text_in(data, source)
    del data  # of a large file, not kept beside its text
    if INTEGERS.match(text):
        from bayplan.formats.gmrp import read_gmrp

        assignment = _assignment(start)
        if source == STDIO and assignment is None:
            expected = "its file, beside which the initial assignment stands, or --start with the assignment"
            raise InputError(source, [_fault("a GMRP model", expected)])
        return read_gmrp(source, assignment, text=text)
    from bayplan.formats.requests.table import is_requests_table, read_requests_table
    from bayplan.formats.streams import is_stream, stream_in

    if zones is None and is_requests_table(text):
        return read_requests_table(text, source)
    if zones is not None or is_stream(text, source):
        return stream_in(text, source, zones=zones).admission
    with _collector_paused(len(text)):
        document = parse_document(text, source)
        with faults_with_lines(text, source):
            return _cluster_or_requests(document, source)


def _cluster_or_requests(document: object, source: str) -> Whole:
    if isinstance(document, Mapping) and "bayplan" in document:
        return _native(document, source)
    if isinstance(document, Mapping) and "ServiceList" in document:
        from bayplan.formats.rasa import read_rasa

        return read_rasa(document, source)
    raise InputError(source, [unknown_kind(document, KNOWN)])


@contextmanager
def _collector_paused(size: int) -> Iterator[None]:
    """Without Python's search for cycles while a large document is built, which has none: a third of the time."""
    if size < LARGE or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _assignment(start: PathLike | None) -> str | None:
    """The file of a start if it is a GMRP assignment, which can stand for the one beside the model."""
    if start is None or os.fspath(start) == STDIO:
        return None
    data = read_bytes(start)
    return os.fspath(start) if not data.startswith(ZIP_MAGIC) and INTEGERS.match(text_in(data, start)) else None


def _native(document: Mapping[str, Any], source: str) -> Whole:
    kind = document.get("kind")
    if kind is None:
        return read_native(document, source)
    if kind == "requests":
        return read_requests_file(document, source)
    if kind == "admission":
        from bayplan.formats.streams.document import read_admission

        return read_admission(document, source)
    raise InputError(source, [unknown_kind(document, KNOWN)])


def read_placement(path: PathLike, cluster: Cluster) -> Placement:
    """The placement in a file: native, a whole snapshot (native or RASA), a RASA solution or a GMRP solution."""
    source, data = os.fspath(path), read_bytes(path)
    if (snapshot := tables_in(data, source)) is not None:
        return placed_as(snapshot, cluster, source)
    text = text_in(data, source)
    if INTEGERS.match(text):
        from bayplan.formats.gmrp import read_gmrp_solution

        return read_gmrp_solution(text, cluster, source)
    with faults_with_lines(text, source):
        return placement_in(parse_document(text, source), cluster, source)


def tables_in(data: bytes, source: str) -> Snapshot | None:
    """The snapshot that Parquet tables hold, whether its rules can hold or not; None: this is no archive of tables."""
    if not data.startswith(ZIP_MAGIC):
        return None
    from bayplan.formats.parquet import build_tables

    return build_tables(data, source)


def placement_in(document: object, cluster: Cluster, source: str) -> Placement:
    """The placement that a document says, for this cluster."""
    if isinstance(document, Mapping) and "placement" in document:
        return read_native_placement(document, cluster, source)
    if (snapshot := snapshot_in(document, source)) is not None:
        return placed_as(snapshot, cluster, source)
    if isinstance(document, Mapping) and document and all(isinstance(value, list) for value in document.values()):
        from bayplan.formats.rasa import read_rasa_solution

        return read_rasa_solution(document, cluster, source)
    raise InputError(source, [unknown_kind(document, KNOWN_PLACEMENTS)])


def snapshot_in(document: object, source: str) -> Snapshot | None:
    """The snapshot of which a document says where its containers run, whether its rules can hold or not; None: it is none."""
    if isinstance(document, Mapping) and "placement" not in document and "bayplan" in document:
        return build(document, source)
    if isinstance(document, Mapping) and "ServiceList" in document and "MachineList" in document:
        from bayplan.formats.rasa import read_rasa

        return read_rasa(document, source)
    return None


def write_placement(path: PathLike, cluster: Cluster, placement: Placement) -> None:
    """Write a placement in the native format."""
    _write(path, placement_document(cluster, placement))


def write(value: Whole | Solution, path: PathLike, *, of: Whole | Cluster | None = None, form: str = "native") -> None:
    """Write a snapshot, timed requests, zones with cluster requests, or a solution `of` one of them, to be read back.

    JSON, or YAML if the suffix says so; `.gz` compresses; '-' is standard output. With the suffix .zip or `form="parquet"` a
    snapshot becomes Parquet tables in a zip file, with `form="rasa"` a RASA cluster, if it fits into one. Cluster requests are
    written as JSON lines if the suffix is .jsonl. A placement of a snapshot has the form of the file that the snapshot came
    from: native, RASA or GMRP.
    """
    if isinstance(value, Placement | Plan | Schedule | Acceptance):
        from bayplan.formats.solutions import write_solution_of

        write_solution_of(value, of, path)
        return
    expect_one_of(form, FORMS, "form")
    if form == "parquet" or (form == "native" and os.fspath(path).lower().endswith(".zip")):
        from bayplan.formats.parquet import archive_of

        if not isinstance(value, Snapshot):
            kind = KINDS[type(value.requests if isinstance(value, RequestsFile) else value)]
            raise UsageError(f"{kind}: this has no Parquet form (.zip); expected a cluster")
        write_bytes_atomically(path, archive_of(value))
    elif form == "rasa":
        from bayplan.formats.rasa import rasa_text

        if not isinstance(value, Snapshot):
            raise UsageError(f"{KINDS.get(type(value), 'this')} has no RASA form; expected a cluster")
        write_text_atomically(path, rasa_text(value))
    elif isinstance(value, Snapshot):
        with _collector_paused(len(value.placement.machine_of)):
            _write(path, native_document(value))
    elif isinstance(value, TimedRequests):
        write_requests(path, value)
    elif isinstance(value, RequestsFile):
        write_requests(path, value.requests, value.fleet)
    else:
        from bayplan.formats.streams import has_lines, json_lines
        from bayplan.formats.streams.document import write_admission

        if has_lines(path):
            write_text_atomically(path, json_lines(value))
        else:
            write_admission(path, value)


def _write(path: PathLike, document: Mapping[str, Any]) -> None:
    as_yaml = os.fspath(path).removesuffix(".gz").lower().endswith((".yaml", ".yml"))
    write_text_atomically(path, text_of(document, as_yaml=as_yaml))


def unknown_kind(document: object, expected: str) -> Fault:
    """The fault of a document that is something else than expected."""
    if isinstance(document, Mapping):
        if "bayplan" in document and isinstance(document.get("kind"), str):
            return _fault(f"a native file of {document['kind'][:40]}", expected)
        solution = next((SOLUTIONS[key] for key in SOLUTIONS if key in document), None)
        if solution is not None:
            return _fault(solution, expected)
        content = "an object with the keys " + ", ".join(map(repr, list(document)[:5])) if document else "an empty object"
    else:
        content = {list: "a list", str: "a text", type(None): "null"}.get(type(document), "a number")
    return _fault(content[:200], expected)


def _fault(content: str, expected: str) -> Fault:
    problem = "is not of a kind that can be read here"
    return Fault(code="E1011", kind="file", name="", problem=problem, value=content, expected=expected)
