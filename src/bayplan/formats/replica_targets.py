"""Target numbers of replicas: how many containers each workload must have, from a document (JSON, YAML)."""

import os
from collections.abc import Iterator, Mapping

import numpy as np

from bayplan.errors import Fault, InputError, did_you_mean
from bayplan.formats.document.lines import document_of
from bayplan.formats.document.location import Path, fault_at
from bayplan.formats.document.partial_document import item, well_shaped
from bayplan.formats.document.schemas import one_of_known, schema
from bayplan.formats.document.text import PathLike
from bayplan.model import Cluster

KEEP = "keep"


def read_replica_targets(path: PathLike, cluster: Cluster) -> Mapping[str, int]:
    """Workload -> containers that it must have, of every workload of the cluster; InputError with all faults of the file.

    A name is that of a workload, or of a service that has one workload. All workloads must be named, unless the file says
    `others: keep`: one that was forgotten is a fault, and not a service that stays as large as it was.
    """
    with document_of(path) as document:
        faults, part = well_shaped(document, schema("targets"), item)
        stated = part.document["targets"] if part is not None else {}
        named: dict[str, str] = {}  # workload -> the name that it was called by
        for name in stated:
            fault = _fault(document, name, cluster, named)
            faults += [fault] if fault else []
        if part is not None and not faults and part.document.get("others") != KEEP:
            faults += _missing(document, cluster, named)
        if faults:
            raise InputError(os.fspath(path), faults)
    replicas = dict(zip(cluster.workloads.name, cluster.replicas.tolist(), strict=True))
    return {workload: stated[named[workload]] if workload in named else number for workload, number in replicas.items()}


def workloads_called(cluster: Cluster, name: str) -> list[str]:
    """The workload of that name, or else those of the service of that name."""
    if name in cluster.workloads.name:
        return [name]
    if name not in cluster.services.name:
        return []
    s = cluster.services.name.index(name)
    return [cluster.workloads.name[w] for w in np.flatnonzero(cluster.workloads.service == s).tolist()]


def _fault(document: object, name: str, cluster: Cluster, named: dict[str, str]) -> Fault | None:
    """What is wrong with one name; if nothing is, it is entered."""
    workloads = workloads_called(cluster, name)
    place: Path = ("targets", name)
    if not workloads:
        expected = one_of_known("workload", cluster.workloads.name) + did_you_mean(name, cluster.workloads.name)
        return fault_at(document, place, "E1202", "names an unknown workload", expected=expected)
    if len(workloads) > 1:
        expected = one_of_known("workload", workloads)
        return fault_at(document, place, "E1202", f"is a service of {len(workloads)} workloads", expected=expected)
    if workloads[0] in named:
        problem = f"is the same workload as '{named[workloads[0]]}'"
        return fault_at(document, place, "E1203", problem, expected="each workload once")
    named[workloads[0]] = name
    return None


def _missing(document: object, cluster: Cluster, named: Mapping[str, str]) -> Iterator[Fault]:
    """A fault for each workload without a number."""
    for workload in cluster.workloads.name:
        if workload not in named:
            expected = f"its number of containers, or 'others: {KEEP}'"
            yield fault_at(document, ("targets",), "E1107", f"has no number for '{workload}'", expected=expected)
