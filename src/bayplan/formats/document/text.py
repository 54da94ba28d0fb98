"""Files as text and as documents: opened, unpacked and parsed, with a numbered fault for all that can go wrong.

A path is a file name, or '-' for standard input and output. Files may be gzipped (seen by their first bytes).
"""

import errno
import gzip
import os
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Never, TypeAlias

from bayplan.errors import Fault, InputError, WorldError
from bayplan.formats.document.parse import parse_json, parse_yaml

PathLike: TypeAlias = str | os.PathLike[str]
STDIO = "-"
GZIP_MAGIC = b"\x1f\x8b"


def read_document(path: PathLike) -> object:
    """The JSON or YAML document in a file: dicts, lists, strings, numbers, booleans and None."""
    return parse_document(read_text(path), path)


def read_text(path: PathLike) -> str:
    """The text of a file, unpacked if it is gzipped."""
    return text_in(read_bytes(path), path)


def read_bytes(path: PathLike) -> bytes:
    """The content of a file, unpacked if it is gzipped."""
    source = os.fspath(path)
    data = _read_bytes(source)
    return _unpacked(source, data) if data.startswith(GZIP_MAGIC) else data


def text_in(data: bytes, path: PathLike) -> str:
    """The text that the content of a file is; `path` is named in the faults."""
    return _decoded(os.fspath(path), data)


def parse_document(text: str, path: PathLike) -> object:
    """The document that `text` holds; `path` tells JSON from YAML and is named in the faults.

    YAML by the suffix .yaml or .yml, JSON by .json; otherwise JSON if the text starts like it.
    """
    source = os.fspath(path)
    return parse_json(text, source) if is_json(text, source) else parse_yaml(text, source)


def is_json(text: str, source: str) -> bool:
    """Is this text JSON, not YAML? By the suffix of its file, else by its first letter."""
    suffix = Path(source.removesuffix(".gz")).suffix.lower()
    return suffix == ".json" if suffix in (".yaml", ".yml", ".json") else text.lstrip()[:1] in ("{", "[")


def write_text_atomically(path: PathLike, text: str) -> None:
    """Write all of `text`, or nothing: a reader never sees half a file. '.gz' compresses, the same bytes every time."""
    if os.fspath(path) == STDIO:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_bytes_atomically(path, text.encode())


def write_bytes_atomically(path: PathLike, data: bytes) -> None:
    """As `write_text_atomically`, for what is no text."""
    target = os.fspath(path)
    if target == STDIO:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    data = gzip.compress(data, mtime=0) if target.endswith(".gz") else data
    try:
        path = Path(target).resolve()  # a link stays a link
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a pipe or a device: nothing to replace
        else:
            _replace(path, data)
    except OSError as error:
        raise WorldError(f"cannot write '{target}': {error.strerror or error}; {_advice(error)}") from error


def expect_writable(path: PathLike) -> None:
    """Raise WorldError if a file of this path cannot be written: to be called before the work, not after. Creates nothing."""
    name = os.fspath(path)
    if name == STDIO:
        return
    try:
        target = Path(name).resolve()  # a link is written through
        problem, advice = _obstacle(target)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        problem, advice = str(getattr(error, "strerror", None) or error), "check the folder and the permissions"
    if problem:
        raise WorldError(f"cannot write '{name}': {problem}; {advice}")


def _obstacle(target: Path) -> tuple[str, str]:
    """What is in the way of writing this file, and what to do about it; two empty texts if nothing is."""
    if target.is_dir():
        return "it is a folder", "give the name of a file in it"
    if target.exists() and not target.is_file():  # a pipe or a device is written to, not replaced
        return ("", "") if os.access(target, os.W_OK) else ("it is not writable", "check the permissions")
    folder = target.parent
    if not folder.exists():
        return f"there is no folder '{folder}'", "make it, or check the path"
    if not folder.is_dir():
        return f"'{folder}' is not a folder", "check the path"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"the folder '{folder}' is not writable", "check the permissions, or write to another folder"
    return "", ""


def make_folder(path: PathLike) -> None:
    """Make a folder, with those above it; one that is there already is fine."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise WorldError(f"cannot make folder '{os.fspath(path)}': {reason}; {_advice(error)}") from error


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def _advice(error: OSError) -> str:
    """What can be done about a file that cannot be written."""
    return "free some space, or write to another disk" if error.errno in _FULL else "check the folder and the permissions"


def _replace(target: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(0o666 & ~_umask())  # mkstemp makes files that only the owner reads
        temporary.replace(target)
    except BaseException:
        temporary.unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_used: list[object] = []  # the standard input that has been read: there is nothing more in it


def _read_bytes(source: str) -> bytes:
    try:
        return _read_stdin() if source == STDIO else Path(source).read_bytes()
    except IsADirectoryError:
        _refuse(source, "E1002", "is a folder", expected="a file")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        _refuse(source, "E1001", "cannot be opened", value=reason, expected="a file that can be read")


def _read_stdin() -> bytes:
    if any(stream is sys.stdin for stream in _used):
        _refuse(STDIO, "E1001", "standard input can be read only once", expected="a file for one of the two")
    _used[:] = [sys.stdin]
    return sys.stdin.buffer.read()


def _unpacked(source: str, data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        _refuse(source, "E1008", "the gzip stream is damaged or cut off", value=str(error))


def _decoded(source: str, data: bytes) -> str:
    if not data or data.isspace():
        _refuse(source, "E1003", "is empty", value=f"{len(data)} bytes", expected="a document")
    try:
        text = data.decode("utf-8-sig")  # a byte order mark is fine
    except UnicodeDecodeError as error:
        if b"\0" in data[:4096] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
            _refuse(source, "E1004", "is binary", value=f"starts with {data[:8]!r}", expected="text")
        line = data.count(b"\n", 0, error.start) + 1
        where = f"line {line}: byte 0x{data[error.start]:02x}"
        _refuse(source, "E1005", "is not UTF-8 text", value=where, expected="UTF-8")
    if "\0" in text:
        _refuse(source, "E1004", "is binary", value=f"a zero byte at {text.index(chr(0))}", expected="text")
    return text


def _refuse(source: str, code: str, problem: str, *, value: str = "", expected: str = "") -> Never:
    raise InputError(
        source, [Fault(code=code, kind="file", name=source, problem=problem, value=value, expected=expected)]
    ) from None
