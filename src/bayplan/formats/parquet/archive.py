"""The zip file: `snapshot.json` and one Parquet table for each long list. All of zipfile and pyarrow that can fail is here."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from bayplan.errors import Fault, InputError, UsageError
from bayplan.formats.document.parse import parse_json

HEAD = "snapshot.json"
NEEDED, OPTIONAL = ("machines", "workloads", "containers"), ("services", "traffic")
TEXTS = {"containers": ["workload", "machine"], "traffic": ["from", "to"], "workloads": ["service"]}  # that repeat
MADE = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file knows: equal snapshots are equal bytes
DAMAGED = "E1014"
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError, RuntimeError, NotImplementedError)


class Archive(NamedTuple):
    """What an archive holds, before anything is checked."""

    head: Mapping[str, Any]
    tables: Mapping[str, Any]  # name -> pyarrow.Table


def pyarrow(action: str) -> Any:
    """pyarrow with its Parquet part; UsageError that names the extra if it is not installed."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError(f"{action} Parquet tables needs pyarrow: pip install 'bayplan[data]'") from error
    return pyarrow


def unpacked(data: bytes, source: str) -> Archive:
    """The head and the tables; InputError if a part is missing or damaged."""
    arrow = pyarrow("reading")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            there = set(archive.namelist())
            missing = [name for name in (HEAD, *map(_file, NEEDED)) if name not in there]
            if missing:
                expected = f"{HEAD} and the tables {', '.join(NEEDED)}"
                _refuse(source, f"the archive has no {missing[0]}", ", ".join(sorted(there)[:5]), expected)
            names = [name for name in (*NEEDED, *OPTIONAL) if _file(name) in there]
            extra = sorted(there - {HEAD, *map(_file, names)})
            if extra:
                _refuse(source, "the archive has a file that is not known", extra[0], ", ".join([HEAD, *map(_file, names)]))
            head, parts = archive.read(HEAD), {name: archive.read(_file(name)) for name in names}
    except BROKEN_ZIP as error:
        _refuse(source, "the archive is damaged or cut off", str(error), "a zip file")
    tables = {name: _table(arrow, part, name, source) for name, part in parts.items()}
    return Archive(_head(head, source), tables)


def _file(table: str) -> str:
    return f"{table}.parquet"


def _head(data: bytes, source: str) -> Mapping[str, Any]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse(source, f"{HEAD} is not UTF-8 text", str(error), "UTF-8")
    head = parse_json(text, source)
    if not isinstance(head, dict):
        _refuse(source, f"{HEAD} is not an object", text[:40], "the keys of a snapshot but its long lists")
    return head


def _table(arrow: Any, data: bytes, name: str, source: str) -> Any:
    try:
        table = arrow.parquet.read_table(arrow.BufferReader(data), read_dictionary=TEXTS.get(name))
        table.validate(full=True)
    except (arrow.ArrowException, OSError, ValueError) as error:
        _refuse(source, f"{_file(name)} cannot be read as Parquet", str(error), "a Parquet table")
    return table


def _refuse(source: str, problem: str, value: str, expected: str) -> NoReturn:
    fault = Fault(code=DAMAGED, kind="file", name=source, problem=problem, value=value.strip()[:80], expected=expected)
    raise InputError(source, [fault]) from None


def packed(head: str, tables: Mapping[str, Any]) -> bytes:
    """The bytes of an archive; the same ones for the same content."""
    arrow, whole = pyarrow("writing"), io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_entry(HEAD, zipfile.ZIP_DEFLATED), head)
        for name, table in tables.items():
            part = io.BytesIO()
            arrow.parquet.write_table(table, part, compression="zstd", use_dictionary=[*_repeating(table, name)])
            archive.writestr(_entry(_file(name), zipfile.ZIP_STORED), part.getvalue())
    return whole.getvalue()


def _repeating(table: Any, name: str) -> Iterator[str]:
    """Columns whose texts come again and again."""
    yield from (column for column in table.column_names if column in TEXTS.get(name, ()) or column.startswith("at."))


def _entry(name: str, compression: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, MADE)
    entry.compress_type, entry.external_attr = compression, 0o644 << 16
    return entry
