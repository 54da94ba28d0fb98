"""Before and after, side by side."""

from bayplan.model import Cluster, Placement


def before_after(cluster: Cluster, before: Placement, after: Placement, *, width: int = 1120, group_by: str | None = None) -> str:
    """Two bay plans on one scale; what moved is outlined, what stayed is pale."""
    raise NotImplementedError
