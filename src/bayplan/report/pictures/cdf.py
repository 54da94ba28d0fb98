"""How many machines are how full, per resource."""

from bayplan.model import Cluster, Placement


def utilisation_cdf(cluster: Cluster, placement: Placement, *, before: Placement | None = None, width: int = 1120) -> str:
    """One curve per resource: the share of machines that use at most so much of it."""
    raise NotImplementedError
