"""The problem of `place` and `rebalance`: the cluster, where containers run, what is good, and what must stay."""

from dataclasses import dataclass, field

import numpy as np

from bayplan.errors import ModelError
from bayplan.model import BoolArray, Cluster, Objective, Placement, Snapshot


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """One decision about one cluster. Containers without a machine are the new ones."""

    cluster: Cluster
    objective: Objective
    before: Placement  # where the containers run now: moves are counted from here
    start: Placement  # where the search starts; `before` unless told otherwise
    frozen: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))  # (container,) must stay; or empty
    max_moves: int | None = None  # at most this many containers move; None: no limit

    def __post_init__(self) -> None:
        n_c = len(self.cluster.containers.name)
        if self.frozen.shape not in ((0,), (n_c,)):
            raise ModelError(f"frozen marks {len(self.frozen)} containers, not {n_c}")
        if self.max_moves is not None and self.max_moves < 0:
            raise ModelError(f"at most {self.max_moves} moves: that is negative")

    @classmethod
    def of(cls, snapshot: Snapshot, *, frozen: BoolArray | None = None, max_moves: int | None = None) -> "Problem":
        """The problem that a snapshot states."""
        stays = np.zeros(0, dtype=np.bool_) if frozen is None else frozen
        here = snapshot.placement
        return cls(
            cluster=snapshot.cluster, objective=snapshot.objective, before=here, start=here, frozen=stays, max_moves=max_moves
        )
