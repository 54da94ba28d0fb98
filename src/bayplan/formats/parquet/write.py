"""A snapshot -> the bytes of a zip file of Parquet tables."""

from typing import Any

import numpy as np

from bayplan.formats.native.write import containers_numbered, head_document, services_implied, text_of
from bayplan.formats.parquet.archive import packed, pyarrow
from bayplan.model import NO_LIMIT, UNPLACED, Cluster, IntArray, Placement, Snapshot
from bayplan.model.arrays import NameArray


def archive_of(snapshot: Snapshot) -> bytes:
    """The archive, with all amounts in base units; columns and tables that say nothing are left out."""
    arrow, cluster = pyarrow("writing"), snapshot.cluster
    columns = {
        "machines": _machines(arrow, cluster),
        "workloads": _workloads(arrow, cluster),
        "containers": _containers(arrow, cluster, snapshot.placement),
        "services": {} if services_implied(cluster) else _services(arrow, cluster),
        "traffic": _traffic(arrow, cluster) if len(cluster.traffic.a) else {},
    }
    return packed(text_of(head_document(snapshot)), {name: arrow.table(given) for name, given in columns.items() if given})


def _machines(arrow: Any, cluster: Cluster) -> dict[str, Any]:
    machines, every = cluster.machines, [resource.name for resource in cluster.resources]
    columns = {"name": arrow.array(machines.name, arrow.string())}
    columns |= {f"capacity.{name}": arrow.array(machines.capacity[:, r]) for r, name in enumerate(every)}
    safer = (machines.safety != machines.capacity).any(axis=0)
    columns |= {f"safety.{name}": arrow.array(machines.safety[:, r]) for r, name in enumerate(every) if safer[r]}
    return columns | {f"at.{level.name}": _named(arrow, level.group_of, level.group) for level in cluster.levels[1:]}


def _workloads(arrow: Any, cluster: Cluster) -> dict[str, Any]:
    workloads, columns = cluster.workloads, {"name": arrow.array(cluster.workloads.name, arrow.string())}
    own = tuple(cluster.services.name[s] for s in workloads.service.tolist())
    if own != workloads.name:
        columns["service"] = _named(arrow, workloads.service, cluster.services.name)
    for r, resource in enumerate(cluster.resources):
        request, limit = workloads.request[:, r], workloads.limit[:, r]
        mean, std = workloads.usage_mean[:, r], workloads.usage_std[:, r]
        columns[f"request.{resource.name}"] = arrow.array(request)
        if (mean != request).any():
            columns[f"usage.{resource.name}"] = arrow.array(mean)
        if std.any():
            columns[f"std.{resource.name}"] = arrow.array(std)
        if (limit != NO_LIMIT).any():
            columns[f"limit.{resource.name}"] = arrow.array(limit, mask=limit == NO_LIMIT)
    return columns


def _containers(arrow: Any, cluster: Cluster, placement: Placement) -> dict[str, Any]:
    containers = cluster.containers
    columns = {"workload": _named(arrow, containers.workload, cluster.workloads.name)}
    if not containers_numbered(cluster):
        given = NameArray.of(containers.name)
        buffers = [None, arrow.py_buffer(given.start), arrow.py_buffer(given.block)]
        columns["name"] = arrow.Array.from_buffers(arrow.large_string(), len(given), buffers)
    if len(placement.placed):
        columns["machine"] = _named(arrow, placement.machine_of, cluster.machines.name)
    return columns


def _services(arrow: Any, cluster: Cluster) -> dict[str, Any]:
    columns = {"name": arrow.array(cluster.services.name, arrow.string())}
    return columns | ({"clique": arrow.array(cluster.services.clique)} if cluster.services.clique.any() else {})


def _traffic(arrow: Any, cluster: Cluster) -> dict[str, Any]:
    traffic, name = cluster.traffic, cluster.workloads.name
    return {
        "from": _named(arrow, traffic.a, name),
        "to": _named(arrow, traffic.b, name),
        "weight": arrow.array(traffic.weight),
    }


def _named(arrow: Any, index: IntArray, names: tuple[str, ...]) -> Any:
    """(row,) names by their numbers, each stored once; UNPLACED is null."""
    code = arrow.array(index.astype(np.int32), mask=index == UNPLACED)
    return arrow.DictionaryArray.from_arrays(code, arrow.array(names, arrow.string()))
