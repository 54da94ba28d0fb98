"""Files of timed requests and of fleets by their path: JSON, YAML or a table."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from bayplan.errors import Fault, InputError
from bayplan.formats import fleets
from bayplan.formats.document.text import parse_document, read_document, read_text
from bayplan.formats.files import KINDS, unknown_kind
from bayplan.formats.requests import RequestsFile, read_requests_file
from bayplan.formats.requests_table import is_requests_table, read_requests_table
from bayplan.model import Fleet, Resource, Snapshot

PathLike: TypeAlias = str | os.PathLike[str]
EXPECTED = 'timed requests ("kind": "requests", or a table with the columns start and end)'


def read_timed(path: PathLike, horizon: float | None = None) -> RequestsFile:
    """The timed requests in a file, its fleet if it has one, and what there is to say about it.

    `horizon`: ends that are later or not known become this time, requests that start then or later are left out.
    """
    source, text = os.fspath(path), read_text(path)
    if is_requests_table(text):
        return read_requests_table(text, source, horizon)
    document = parse_document(text, source)
    if isinstance(document, Mapping) and document.get("kind") == "requests" and "bayplan" in document:
        return read_requests_file(document, source, horizon)
    raise InputError(source, [_other(document)])


def read_fleet(path: PathLike, resources: Sequence[Resource]) -> Fleet:
    """The fleet in a file, in the base units of these resources."""
    return fleets.read_fleet(read_document(path), resources, os.fspath(path))


def _other(document: object) -> Fault:
    """The fault of a file of another kind."""
    fault = unknown_kind(document, EXPECTED)
    clusters = ({"ServiceList"}, {"bayplan", "machines"})
    is_cluster = isinstance(document, Mapping) and any(keys <= document.keys() for keys in clusters)
    return replace(fault, value=KINDS[Snapshot]) if is_cluster else fault
