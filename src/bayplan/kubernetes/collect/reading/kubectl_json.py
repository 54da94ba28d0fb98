"""What `kubectl get ... -o json` prints, read object by object: a large list never stands in memory as a whole."""

import json
import os
import re
import sys
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Never

from bayplan.errors import Fault, InputError
from bayplan.formats.document.text import GZIP_MAGIC, STDIO, PathLike
from bayplan.kubernetes.client import Json
from bayplan.kubernetes.collect.reading.slim import SharedSpecs

_LIST = re.compile(r'\s*\{\s*(?:"apiVersion"\s*:\s*"[^"]*"\s*,\s*)?"(?:items|kind|metadata)"\s*:')
_KUBERNETES = re.compile(r'"(?:apiVersion|items)"\s*:')
_SPACE = re.compile(r"[\s]*")
_LISTED_KIND = re.compile(r"(?:^|\.)([A-Z]\w*)List$")
_START = 4096  # letters at the start of a text by which it is told


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadText:
    """The objects of a text by kind, and the versions of lists that state one."""

    items: dict[str, list[Json]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)


def is_kubectl_json(text: str) -> bool:
    """Does a text look like objects of Kubernetes? By its start alone."""
    start = text[:_START]
    return bool(_LIST.match(start) and _KUBERNETES.search(start)) and '"bayplan"' not in start


def is_kubectl_file(path: PathLike) -> bool:
    """Does a file look like objects of Kubernetes? Of standard input only what has arrived is looked at; nothing is used up."""
    try:
        return is_kubectl_json(_start(os.fspath(path)))
    except (OSError, EOFError, ValueError, zlib.error):
        return False  # whoever reads it will say what is wrong with it


def _start(source: str) -> str:
    """The first letters of a file, unpacked if it is gzipped."""
    if source == STDIO:
        peek = getattr(sys.stdin.buffer, "peek", None)
        data: bytes = b"" if peek is None else peek(_START)
    else:
        with Path(source).open("rb") as file:
            data = file.read(_START)
    if data.startswith(GZIP_MAGIC):
        data = zlib.decompressobj(wbits=31).decompress(data, _START)
    return data.decode(errors="replace").removeprefix("\ufeff")


def objects_in_text(text: str, source: str) -> ReadText:
    """Every object of a text; InputError if it is malformed, or has no nodes or no pods."""
    read, specs = ReadText(), SharedSpecs()
    for item in _items(text, source, read.versions):
        kind = item.get("kind")
        if not isinstance(kind, str) or not isinstance(item.get("metadata"), dict):
            _refuse(source, "E2202", "an entry of the list is no object", json.dumps(item)[:60], "keys 'kind' and 'metadata'")
        read.items.setdefault(kind, []).append(specs.slim_as(kind)(item))
    for kind, plural in (("Node", "nodes"), ("Pod", "pods")):
        if kind not in read.items:
            have = ", ".join(f"{len(items):,} {name}" for name, items in read.items.items()) or "nothing"
            _refuse(source, "E2203", f"has no {plural}", have, "kubectl get nodes,pods,... -A -o json")
    return read


def _items(text: str, source: str, versions: dict[str, str]) -> Iterator[Json]:
    """The objects of all documents in a text, those of lists one by one."""
    at = _skip(text, 0)
    while at < len(text):
        if text[at] != "{":
            _malformed(text, source, at, "an object")
        at = yield from _document(text, source, at, versions)
        at = _skip(text, at)


def _document(text: str, source: str, at: int, versions: dict[str, str]) -> Generator[Json, None, int]:
    """The objects of one document: a list's, or the document itself. Ends with the position behind it."""
    rest: Json = {}
    listed = False
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        key, at = _decoded(text, source, at)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            _malformed(text, source, at, "':'")
        at = _skip(text, at + 1)
        if key == "items" and text[at : at + 1] == "[":
            listed = True
            at = yield from _entries(text, source, at, rest)
        else:
            rest[key], at = _decoded(text, source, at)
        at = _after_entry(text, source, at, "}")
    if not listed:
        yield rest
    elif (match := _LISTED_KIND.search(str(rest.get("kind", "")))) and isinstance(rest.get("metadata"), dict):
        versions[match[1]] = str(rest["metadata"].get("resourceVersion", ""))
    return at + 1


def _entries(text: str, source: str, at: int, document: Json) -> Generator[Json, None, int]:
    """The entries of a list; those of a typed list, as an API server answers, get the kind that the list states."""
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]":
        item, at = _decoded(text, source, at)
        if not isinstance(item, dict):
            _refuse(source, "E2202", "an entry of the list is no object", json.dumps(item)[:60], "keys 'kind' and 'metadata'")
        match = _LISTED_KIND.search(str(document.get("kind", "")))
        yield {"kind": match[1], **item} if match and "kind" not in item else item
        at = _after_entry(text, source, at, "]")
    return at + 1


def _after_entry(text: str, source: str, at: int, end: str) -> int:
    """The position of the next entry, or of the end."""
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] != end:
        _malformed(text, source, at, f"',' or '{end}'")
    return at


_decoder = json.JSONDecoder()


def _decoded(text: str, source: str, at: int) -> tuple[Any, int]:
    try:
        return _decoder.raw_decode(text, at)
    except (json.JSONDecodeError, RecursionError) as error:
        position = error.pos if isinstance(error, json.JSONDecodeError) else at
        _malformed(text, source, position, "JSON as kubectl prints it")


def _skip(text: str, at: int) -> int:
    """The position of the next letter that is no space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _malformed(text: str, source: str, at: int, expected: str) -> Never:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    seen = text[at : at + 20].split("\n", maxsplit=1)[0] or "the end"
    _refuse(source, "E2201", f"line {line} column {column}: the JSON is malformed or cut off", seen, expected)


def _refuse(source: str, code: str, problem: str, value: str, expected: str) -> Never:
    raise InputError(
        source, [Fault(code=code, kind="file", name=source, problem=problem, value=value, expected=expected)]
    ) from None
