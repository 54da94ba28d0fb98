"""What a file says: the cluster, where its containers run now, and what its owner wants."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bayplan.errors import ModelError
from bayplan.model.arrays import IntArray, ints
from bayplan.model.cluster import Cluster
from bayplan.model.objective import Objective
from bayplan.model.placement import Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A cluster with its current placement and objective.

    >>> import bayplan as bp
    >>> shop = bp.generate("boutique")
    >>> len(shop.cluster.machines.name), len(shop.placement.unplaced), len(shop.cluster.rules) > 0
    (12, 2, True)
    """

    cluster: Cluster
    placement: Placement
    objective: Objective
    notes: tuple[str, ...] = ()  # what the reader had to decide: scales, rounding, merged edges
    format: str = "native"  # of the file it came from: "native", "rasa", "gmrp"; solutions are written in the same

    def __post_init__(self) -> None:
        misfits = self.objective.misfits(self.cluster)
        if misfits:
            raise ModelError(f"the objective does not fit the cluster: {', '.join(misfits)}")
        n_c, n_m = len(self.cluster.containers.name), len(self.cluster.machines.name)
        if self.placement.machine_of.shape != (n_c,) or self.placement.machine_of.max(initial=-1) >= n_m:
            raise ModelError(f"the placement does not fit {n_c} containers and {n_m} machines")

    def placed_as(self, machine_of: IntArray | Sequence[int]) -> "Snapshot":
        """The same snapshot with its containers on these machines: one index for each, -1 for none."""
        return replace(self, placement=Placement(machine_of=ints(machine_of)))
