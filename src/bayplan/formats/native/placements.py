"""Native placement files, and snapshots as a source of placements."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bayplan.errors import Fault, InputError
from bayplan.formats.document.naming import one_of_known
from bayplan.formats.document.salvage import Salvage, repaired
from bayplan.formats.document.subject import shown
from bayplan.formats.native.reader import MISSING, Reader
from bayplan.formats.native.schema import PLACEMENT
from bayplan.model import UNPLACED, Cluster, Placement, Snapshot, ints


def read_native_placement(document: Mapping[str, Any], cluster: Cluster, source: str) -> Placement:
    """The placement that {"placement": {container: machine}} says; who is not named has no machine."""
    found, part = repaired(document, PLACEMENT)
    faults = [misfit.fault for misfit in found]
    if part is None:
        raise InputError(source, faults)
    return _placed(Reader(part, whole=document, faults=faults), cluster, part.document["placement"].items(), source)


def placed_as(snapshot: Snapshot, cluster: Cluster, source: str) -> Placement:
    """Where another snapshot says that its containers run; its names are those of `cluster`."""
    machine: list[str | None] = [*snapshot.cluster.machines.name, None]  # UNPLACED is -1, the last
    names = (machine[m] for m in snapshot.placement.machine_of.tolist())
    reader = Reader(Salvage(document={}), whole={})
    return _placed(reader, cluster, zip(snapshot.cluster.containers.name, names, strict=True), source)


def _fault(code: str, container: str, problem: str, value: str, expected: str) -> Fault:
    return Fault(code=code, kind="container", name=container, problem=problem, value=value, expected=expected)


def _placed(reader: Reader, cluster: Cluster, pairs: Iterable[tuple[str, str | None]], source: str) -> Placement:
    container = {name: c for c, name in enumerate(cluster.containers.name)}
    machine = {name: m for m, name in enumerate(cluster.machines.name)}
    machine_of = np.full(len(container), UNPLACED, dtype=np.int64)
    for name, where in pairs:
        c = container.get(name, MISSING)
        m = UNPLACED if where is None else machine.get(where, MISSING)
        if c == MISSING:
            expected = one_of_known("container", container) + reader.hint(name, container)
            reader.faults.append(_fault("E1402", name, "is not in this cluster", shown(where), expected))
        if m == MISSING and where is not None:
            expected = one_of_known("machine", machine) + reader.hint(where, machine)
            reader.faults.append(_fault("E1403", name, "runs on an unknown machine", shown(where), expected))
        machine_of[c] = m
    if reader.faults:
        raise InputError(source, reader.faults)
    return Placement(machine_of=ints(machine_of))
