"""The line at which each fault of a document stands: a second look at the text, only when there are faults."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import yaml

from bayplan.errors import Fault, InputError
from bayplan.formats.document.location import NAME_KEYS, Path, scalars
from bayplan.formats.document.parse import PlainLoader
from bayplan.formats.document.text import PathLike, is_json, parse_document, read_text
from bayplan.words import plural

MOST_CHARACTERS = 5_000_000  # a second look at more would take seconds
MAPS = ("placement", "served", "accepted")  # keys under which names are keys
TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


@contextmanager
def document_of(path: PathLike) -> Iterator[object]:
    """The document in a file; an InputError about it, raised in the block, says the line of each fault."""
    source, text = os.fspath(path), read_text(path)
    document = parse_document(text, source)
    with faults_with_lines(text, source):
        yield document


@contextmanager
def faults_with_lines(text: str, source: str) -> Iterator[None]:
    """Let an InputError about the document in `text` say the line of each fault, where that is known."""
    try:
        yield
    except InputError as error:
        if error.source != source or len(text) > MOST_CHARACTERS:
            raise
        faults = list(located(error.faults, text, source))
        raise InputError(source, faults) from error.__cause__


def located(faults: Iterable[Fault], text: str, source: str) -> Iterator[Fault]:
    """The faults with their lines; with columns if the text has one line only."""
    faults = list(faults)
    try:
        document = parse_document(text, source)
    except InputError:  # of the text itself: such faults say their line already
        yield from faults
        return
    places = [fault.place or place_by_name(document, fault.kind, fault.name) for fault in faults]
    known = _positions(text, source, places)
    one_line = "\n" not in text.strip()
    for fault, place in zip(faults, places, strict=True):
        position = next((known[place[:n]] for n in range(len(place), 0, -1) if place[:n] in known), None)
        if position is None:
            yield fault
        else:
            yield replace(fault, where=f"column {position.column}" if one_line else f"line {position.line}")


def place_by_name(document: object, kind: str, name: str) -> Path:
    """Where in a document the thing of this kind and name stands; () if that is not clear."""
    if not isinstance(document, Mapping) or not name:
        return ()
    for key in (plural(kind), kind, f"{kind.capitalize()}List"):
        members = document.get(key)
        if isinstance(members, Mapping) and name in members:
            return key, name
        if isinstance(members, list) and (index := _index(members, name)) is not None:
            return key, index
    in_map = next((key for key in MAPS if isinstance(document.get(key), Mapping) and name in document[key]), None)
    if in_map is not None:
        return in_map, name
    if step := re.fullmatch(r"(\d+) of batch (\d+)", name):
        return "batches", int(step[2]) - 1, int(step[1]) - 1
    return next((path for path, value in scalars(document) if value == name), ()) if kind in ("container", "request") else ()


def _index(members: list[Any], name: str) -> int | None:
    """The position of the item of this name, or of this number, counted from 1: '3', '3 (spread)'."""
    for index, member in enumerate(members):
        if isinstance(member, Mapping) and any(member.get(key) == name for key in NAME_KEYS):
            return index
    number = re.match(r"(\d+)( \(|$)", name)
    return int(number[1]) - 1 if number and 0 < int(number[1]) <= len(members) else None


# ---- places -> lines and columns of the text ----------------------------------------------------------------------------------


class _Position(NamedTuple):
    line: int
    column: int  # both counted from 1


@dataclass(slots=True)
class _Wanted:
    """A tree of the places to look for."""

    path: Path
    below: dict[str | int, "_Wanted"] = field(default_factory=dict)

    @classmethod
    def of(cls, places: Iterable[Path]) -> "_Wanted":
        root = cls(())
        for place in places:
            node = root
            for step in place:
                node = node.below.setdefault(step, cls((*node.path, step)))
        return root


def _positions(text: str, source: str, places: Iterable[Path]) -> dict[Path, _Position]:
    """Where in the text each place and all that holds it begins: a member of an object with its key."""
    wanted = _Wanted.of(places)
    if not wanted.below:
        return {}
    return dict(_json_positions(text, wanted) if is_json(text, source) else _yaml_positions(text, wanted))


def _yaml_positions(text: str, wanted: _Wanted) -> Iterator[tuple[Path, _Position]]:
    pending = [(yaml.compose(text, Loader=PlainLoader), wanted)]
    while pending:
        node, here = pending.pop()
        members: Iterable[tuple[str | int, yaml.Node, yaml.Node]] = ()
        if isinstance(node, yaml.MappingNode):
            members = ((key.value, key, value) for key, value in node.value)
        elif isinstance(node, yaml.SequenceNode):
            members = ((index, value, value) for index, value in enumerate(node.value))
        for step, first, value in members:
            if step in here.below:
                yield here.below[step].path, _Position(first.start_mark.line + 1, first.start_mark.column + 1)
                pending.append((value, here.below[step]))


@dataclass(slots=True)
class _Open:
    """An object or a list that has begun and not ended."""

    is_object: bool
    wanted: _Wanted | None
    index: int = 0  # of the next item
    key: str | None = None  # of the next value of an object


def _json_positions(text: str, wanted: _Wanted) -> Iterator[tuple[Path, _Position]]:
    """One pass over the tokens of a JSON text that has been parsed before, so it is well formed."""
    stack: list[_Open] = []
    for match in TOKEN.finditer(text):
        token = match[0]
        if token in "]}":
            stack.pop()
        elif token == ",":
            stack[-1].index += 1
            stack[-1].key = None
        elif token == ":":
            continue
        elif stack and stack[-1].is_object and stack[-1].key is None:
            stack[-1].key = token
            child = _child(stack[-1])
            if child is not None:
                yield child.path, _position(text, match.start())
        else:
            here = _child(stack[-1]) if stack else wanted
            if here is not None and stack and not stack[-1].is_object:
                yield here.path, _position(text, match.start())
            if token in "[{":
                stack.append(_Open(token == "{", here))


def _position(text: str, offset: int) -> _Position:
    return _Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def _child(holder: _Open) -> _Wanted | None:
    """What is wanted of the member that comes now."""
    if holder.wanted is None or not holder.wanted.below:
        return None
    return holder.wanted.below.get(json.loads(holder.key or '""') if holder.is_object else holder.index)
