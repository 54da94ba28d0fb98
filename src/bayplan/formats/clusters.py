"""Fleets of clusters: a file with the names and files of many clusters, what is wanted of each, and the moves of all."""

import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bayplan.errors import Fault, InputError, did_you_mean
from bayplan.formats.document.lines import document_of
from bayplan.formats.document.partial_document import PartialDocument, well_shaped
from bayplan.formats.document.schemas import one_of_known, schema
from bayplan.formats.document.text import GZIP_MAGIC, STDIO, PathLike, write_text_atomically

KIND = "clusters"
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
LIMIT = re.compile(r"\d+(\.\d+)?%|\d+")  # of moves
START = 4096  # letters at the start of a file by which it is told
STATED = re.compile(rf"""^\s*["']?kind["']?\s*:\s*["']?{KIND}["']?\s*,?\s*(#.*)?$|["']kind["']\s*:\s*["']{KIND}["']""", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextState:
    """What was collected of a Kubernetes cluster beside its snapshot, or why nothing was."""

    needed: Mapping[str, int] = field(default_factory=dict)  # workload -> how many must be ready by its disruption budgets
    resting: tuple[str, ...] = ()  # containers that do not move now
    fault: str = ""  # why it could not be collected


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetCluster:
    """One cluster of a fleet: a file, or a Kubernetes context that is collected into one. None: as the fleet or the goal says."""

    name: str
    file: str = ""  # as it can be opened from here; of a context, once it is collected
    context: str = ""  # of a kubeconfig
    namespaces: tuple[str, ...] = ()  # of the context, whose pods may move; all of them by default
    collected: ContextState | None = None  # of the context; not in files
    goal: str | None = None
    max_moves: int | str | None = None
    freeze: tuple[str, ...] = ()
    weight: float = 1.0  # of one of its containers, beside those of other clusters

    @property
    def source(self) -> str:
        """For messages: its file, or its context."""
        return f"context {self.context}" if self.context else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFleet:
    """Many clusters that are planned at once. Their files are read when each of them is planned, not before."""

    clusters: tuple[FleetCluster, ...]
    name: str = "fleet"
    goal: str | None = None
    max_moves: int | str | None = None  # of all clusters together
    links: tuple[tuple[str, str, int], ...] = ()  # from, to, bandwidth


def read_clusters(path: PathLike) -> ClusterFleet:
    """The fleet of clusters in a file; InputError with all that is wrong with it. The clusters' own files are not opened."""
    source = os.fspath(path)
    with document_of(path) as document:
        faults, part = well_shaped(document, schema("clusters"))
        if part is not None:
            faults += _faults(part)
        if faults or part is None:
            raise InputError(source, faults)
    file: Mapping[str, Any] = part.document
    folder = Path() if source == STDIO else Path(source).parent
    return ClusterFleet(
        name=file.get("name", "fleet" if source == STDIO else Path(source).name.split(".")[0]),
        goal=file.get("goal"),
        max_moves=file.get("max_moves"),
        clusters=tuple(_cluster(entry, folder) for entry in file["clusters"]),
        links=tuple((a, b, bandwidth) for a, b, bandwidth in file.get("links", ())),
    )


def write_clusters(fleet: ClusterFleet, path: PathLike) -> None:
    """Write a file that `read_clusters` reads back as the same fleet; files of clusters are named from its folder."""
    folder = Path(os.fspath(path)).parent
    document: dict[str, Any] = {"bayplan": 1, "kind": KIND, "name": fleet.name}
    document |= {key: value for key in ("goal", "max_moves") if (value := getattr(fleet, key)) is not None}
    document["clusters"] = [_entry(cluster, folder) for cluster in fleet.clusters]
    if fleet.links:
        document["links"] = [list(link) for link in fleet.links]
    as_yaml = os.fspath(path).removesuffix(".gz").lower().endswith((".yaml", ".yml"))
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True) if as_yaml else json.dumps(document, indent=1) + "\n"
    write_text_atomically(path, text)


def is_clusters_file(path: PathLike) -> bool:
    """Does a file say near its start that it is a fleet of clusters? Standard input never is one."""
    source = os.fspath(path)
    if source == STDIO:
        return False
    try:
        with Path(source).open("rb") as file:
            data = file.read(START)
        if data.startswith(GZIP_MAGIC):
            data = zlib.decompressobj(wbits=31).decompress(data, START)
    except (OSError, ValueError, zlib.error):
        return False  # whoever reads it says what is wrong with it
    return bool(STATED.search(data.decode(errors="replace")))


def _cluster(entry: Mapping[str, Any], folder: Path) -> FleetCluster:
    return FleetCluster(
        name=entry["name"],
        file=str(folder / entry["file"]) if "file" in entry else "",
        context=entry.get("context", ""),
        namespaces=tuple(entry.get("namespaces", ())),
        goal=entry.get("goal"),
        max_moves=entry.get("max_moves"),
        freeze=tuple(entry.get("freeze", ())),
        weight=float(entry.get("weight", 1.0)),
    )


def _entry(cluster: FleetCluster, folder: Path) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": cluster.name}
    entry |= {"context": cluster.context} if cluster.context else {"file": os.path.relpath(cluster.file, folder)}
    entry |= {"namespaces": list(cluster.namespaces)} if cluster.namespaces else {}
    entry |= {key: value for key in ("goal", "max_moves") if (value := getattr(cluster, key)) is not None}
    entry |= {"freeze": list(cluster.freeze)} if cluster.freeze else {}
    return entry | ({"weight": cluster.weight} if cluster.weight != 1.0 else {})


# ---- faults --------------------------------------------------------------------------------------------------------------------


def _faults(part: PartialDocument) -> Iterator[Fault]:
    document = part.document
    yield from _limit_faults(document, "fleet", "")
    entries = document.get("clusters", ())
    for entry in entries:
        yield from _limit_faults(entry, "cluster", entry["name"])
        yield from _source_faults(entry)
        if not FILE_NAME.fullmatch(entry["name"]):
            expected = "letters, digits, '.', '-' and '_', the first a letter or a digit"
            problem = "the name cannot be that of a file"
            yield Fault(code="E1523", kind="cluster", name=entry["name"], problem=problem, expected=expected)
    names = Counter(entry["name"] for entry in entries)
    for name, count in names.items():
        if count > 1:
            problem = "the name occurs more than once"
            yield Fault(
                code="E1201", kind="cluster", name=name, problem=problem, value=f"{count} times", expected="each name once"
            )
    if not part.lacks("clusters"):
        yield from _link_faults(document.get("links", ()), names)


def _source_faults(entry: Mapping[str, Any]) -> Iterator[Fault]:
    if ("file" in entry) == ("context" in entry):
        problem = "has a file and a context" if "file" in entry else "has no file and no context"
        yield Fault(code="E1525", kind="cluster", name=entry["name"], problem=problem, expected="one of the two")
    elif "namespaces" in entry and "context" not in entry:
        problem, expected = "has namespaces and no context", "namespaces with a context"
        yield Fault(code="E1525", kind="cluster", name=entry["name"], problem=problem, expected=expected)


def _limit_faults(entry: Mapping[str, Any], kind: str, name: str) -> Iterator[Fault]:
    limit = entry.get("max_moves")
    if isinstance(limit, str) and not LIMIT.fullmatch(limit):
        problem, expected = "max_moves is no limit of moves", "a whole number such as 50, or a share such as 5%"
        yield Fault(code="E1524", kind=kind, name=name, problem=problem, value=f'"{limit[:40]}"', expected=expected)


def _link_faults(links: Any, names: Mapping[str, int]) -> Iterator[Fault]:
    seen = set()
    for a, b, _ in links:
        link = f"{a} -> {b}"
        for name in (a, b):
            if name not in names:
                expected = one_of_known("cluster", names) + did_you_mean(name, names)
                problem = "names a cluster that does not exist"
                yield Fault(code="E1507", kind="link", name=link, problem=problem, value=name, expected=expected)
        if a == b or link in seen:
            problem = "leads back to its own cluster" if a == b else "occurs twice"
            yield Fault(code="E1508", kind="link", name=link, problem=problem, expected="one link from a cluster to another")
        seen.add(link)
