"""Online cells: a method goes through one stream of clusters ([Online clusters] Figures 6 to 11)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bayplan.check import check_admission
from bayplan.decide.admit import ADMITTERS, AdmitOptions
from bayplan.generate import GENERATORS
from bayplan.generate.container_clusters import UNIT
from bayplan.model import Budget, ClusterRequests, ints, silent
from experiments.calibration.data import real_file
from experiments.online_clusters.settings import AZURE, COUNTED, OFFLINE, ONLINE, Scope, Setting

KEY = ("data", "members", "zones", "ratio", "requests", "capacity", "slots", "seed", "method")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A stream, and the method that admits it."""

    setting: Setting
    seed: int
    method: str

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its row."""
        return (*self.setting.key, str(self.seed), self.method)


def cells(scope: Scope) -> Iterator[Cell]:
    """All cells, those of one stream side by side."""
    for seed in scope.trials:
        for data in scope.data:
            for setting in scope.compared(data):
                for method in (*ONLINE, OFFLINE):
                    yield Cell(setting=setting, seed=seed, method=method)
        for setting in scope.counted():
            for method in COUNTED:
                yield Cell(setting=setting, seed=seed, method=method)


def stream(setting: Setting, seed: int) -> ClusterRequests:
    """The requests of one seed."""
    chosen = {
        "zones": setting.zones,
        "members_least": setting.members,
        "members_most": setting.members,
        "value_ratio": float(setting.ratio),
        "count": setting.requests,
        "seed": seed,
    }
    if setting.data == AZURE:
        made = GENERATORS["azure-clusters"].make(**chosen, slots=setting.slots, folder=str(real_file("traces")))
    else:
        made = GENERATORS["container-clusters"].make(**chosen, slots=setting.slots)
    assert isinstance(made, ClusterRequests)
    if not setting.capacity:
        return made
    amount = ints(np.full(made.zones.capacity.shape, setting.capacity * UNIT))
    return replace(made, zones=replace(made.zones, capacity=amount))


def measured(cell: Cell, scope: Scope) -> dict[str, str]:
    """What came out, as text."""
    made = stream(cell.setting, cell.seed)
    if cell.method == OFFLINE:
        method, options, budget = OFFLINE, AdmitOptions(), Budget(seconds=scope.offline_seconds)
    else:
        method, options = ONLINE[cell.method]
        budget = Budget()
        if cell.method != "ours":
            options = replace(options, value_ratio=float(cell.setting.ratio), slots=cell.setting.slots)
    clock = budget.clock()
    result = ADMITTERS[method](made, options, budget=budget, seed=cell.seed, progress=silent)
    seconds = clock.seconds
    assert result.solution is not None
    return {
        "value": f"{result.score['value']:.9g}",
        "winners": str(len(result.solution.accepted)),
        "bound": "" if result.bound is None else f"{result.bound:.9g}",
        "broken": str(len(check_admission(made, result.solution))),
        "seconds": f"{seconds:.4f}",
    }
