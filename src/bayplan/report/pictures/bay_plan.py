"""The bay plan: where every container stands."""

from bayplan.model import Cluster, IntArray, Placement


def bay_plan(
    cluster: Cluster,
    placement: Placement,
    *,
    width: int = 1120,
    group_by: str | None = None,
    highlight: IntArray | None = None,
) -> str:
    """Each machine a stack, each container a block."""
    raise NotImplementedError
