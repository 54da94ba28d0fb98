"""Machine x resource, coloured by how full."""

from bayplan.model import Cluster, Placement


def heat_map(cluster: Cluster, placement: Placement, *, width: int = 1120) -> str:
    """One row per resource, one column per machine (or per bunch of machines)."""
    raise NotImplementedError
