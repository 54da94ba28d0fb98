"""Fleets whose clusters are Kubernetes contexts: each is collected into a snapshot in a folder, from where it is planned."""

from dataclasses import replace
from pathlib import Path

from bayplan.errors import BayplanError
from bayplan.formats import ClusterFleet, FleetCluster, write
from bayplan.formats.clusters import ContextState
from bayplan.formats.document.text import PathLike
from bayplan.kubernetes.snapshots import collect_cluster
from bayplan.model import Progress, Tick, silent


def collected_fleet(fleet: ClusterFleet, folder: PathLike, *, kubeconfig: str = "", progress: Progress = silent) -> ClusterFleet:
    """The fleet with a snapshot in the folder for each cluster that is a context; nothing in the clusters is changed.

    A context that cannot be collected does not stop the others: `plan_fleet` reports why. On Ray, workers must see the folder
    under the same path.
    """
    clusters = list(fleet.clusters)
    for number, cluster in enumerate(fleet.clusters):
        if cluster.context:
            progress(Tick(stage=f"collecting {cluster.name}", done=number / len(clusters)))
            clusters[number] = _collected(cluster, Path(folder) / f"{cluster.name}.json", kubeconfig)
    return replace(fleet, clusters=tuple(clusters))


def _collected(cluster: FleetCluster, file: Path, kubeconfig: str) -> FleetCluster:
    try:
        found = collect_cluster(context=cluster.context, kubeconfig=kubeconfig, namespaces=cluster.namespaces)
        write(found.snapshot, file)
    except BayplanError as error:
        return replace(cluster, collected=ContextState(fault=str(error)))
    state = ContextState(needed=found.needed, resting=tuple(found.resting))
    return replace(cluster, file=str(file), collected=state)
