"""A snapshot as columns for a canvas: machines, workloads, and the machine of every container."""

from typing import Any

from bayplan.api.inspect import grouping
from bayplan.model import Cluster, Snapshot
from bayplan.report.change_page.encoding import MOST_NAMED, SHORT, odd_names, printable_names
from bayplan.report.names import printable, told_apart
from bayplan.report.pictures.placement.bay_plan_data import in_order


def bay_plan_columns(snapshot: Snapshot) -> dict[str, Any]:
    """What a bay plan is drawn from, in the types of JSON. Amounts are base units; -1 is no machine.

    The containers of a workload are adjacent, in the order of the workloads, and are called as it with a number (`web-0`), unless
    `names` says otherwise. Amounts by machine or workload and resource are flat: the resources of the first machine come first.
    """
    cluster = snapshot.cluster
    return {
        "name": printable(cluster.name),
        "resources": [
            {"name": printable(resource.name), "scale": resource.scale, "unit": printable(resource.unit)}
            for resource in cluster.resources
        ],
        "machines": _machines(cluster),
        "services": printable_names(cluster.services.name),
        "workloads": {
            "name": printable_names(cluster.workloads.name),
            "service": cluster.workloads.service.tolist(),
            "request": cluster.workloads.request.ravel().tolist(),
            "replicas": cluster.replicas.tolist(),
        },
        "containers": {
            "workload": cluster.containers.workload.tolist(),
            "machine": snapshot.placement.machine_of.tolist(),
            "names": {str(w): names for w, names in odd_names(cluster).items()},
        },
    }


def _machines(cluster: Cluster) -> dict[str, Any]:
    group_by = grouping(cluster, None)
    return {
        "name": printable_names(cluster.machines.name),
        "short": told_apart(cluster.machines.name, SHORT) if len(cluster.machines.name) <= MOST_NAMED else [],
        "capacity": cluster.machines.capacity.ravel().tolist(),
        "safety": cluster.machines.safety.ravel().tolist(),
        "levels": [
            {"name": printable(level.name), "group": printable_names(level.group), "of": level.group_of.tolist()}
            for level in cluster.levels[1:]
        ],
        "grouped_by": None if group_by is None else printable(group_by),
        "order": in_order(cluster, group_by).tolist(),
    }
