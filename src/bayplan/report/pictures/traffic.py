"""Who talks to whom, and how much of it leaves the machine."""

from bayplan.model import Cluster, Placement


def traffic_bars(cluster: Cluster, placement: Placement, *, width: int = 1120, top: int = 12) -> str:
    """One bar per pair with the most traffic between machines."""
    raise NotImplementedError
