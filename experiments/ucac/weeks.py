"""Seven weekdays one after the other, each on what the day before left ([UCaC] §6.2, Table 4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayplan.generate.ucac import layout_of, towards
from bayplan.generate.ucac_services import DAYS, Week, day_cluster, ucac_week
from bayplan.model import Budget, Cluster, IntArray, Placement, Snapshot
from bayplan.score.confidence import violation_probability
from bayplan.score.monte_carlo import violation_rates
from experiments.ucac.cells import answer, busy, packed, used

ALPHA = 0.999
MEASURES = (
    "day",
    "containers",
    "to_pack",
    "deleted",
    "ucac",
    "machines",
    "over",
    "violations",
    "predicted",
    "left_out",
    "seconds",
    "cpu_seconds",
)
ROUNDING = 1e-6  # relative: a machine is over its chance constraint if it is by more than that
NSIGMA = "bf-nsigma"


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """How large a week is, and how often usage is drawn."""

    size: float
    swing: float
    drift: float
    machines: int
    draws: int
    budget: Budget


def week_of(method: str, n_sigma: float | None, seed: int, days: Days) -> list[dict[str, str]]:
    """A row per weekday, with the columns of `MEASURES`."""
    week = ucac_week(size=days.size, swing=days.swing, drift=days.drift, seed=seed)
    layout = np.zeros((days.machines, week.mean.shape[1]), dtype=np.int64)
    measured = []
    for day, snapshot, deleted in _days(week, layout, seed, days):
        result, spent = packed(snapshot, method, seed, days.budget, n_sigma)
        after = answer(result)
        layout[:] = layout_of(snapshot.cluster, after)
        measured.append({"day": DAYS[day], "deleted": str(deleted), **spent.columns, **_row(snapshot, after, days, seed)})
    return measured


def _days(week: Week, layout: IntArray, seed: int, days: Days) -> Iterator[tuple[int, Snapshot, int]]:
    """Each weekday, its problem given the layout at that time, and how many containers are deleted."""
    for day in week.weekdays:
        cluster = day_cluster(week, day, machines=days.machines, alpha=ALPHA)
        deleted = int(np.maximum(0, layout.sum(axis=0) - week.replicas[day]).sum())
        yield day, towards(cluster, layout, week.replicas[day], np.random.default_rng([seed, 11, day])), deleted


def _row(snapshot: Snapshot, after: Placement, days: Days, seed: int) -> dict[str, str]:
    cluster = snapshot.cluster
    runs = busy(cluster, after)
    return {
        "containers": str(len(after.machine_of)),
        "to_pack": str(len(snapshot.placement.unplaced)),
        "ucac": f"{used(cluster, after, ALPHA).sum():.3f}",
        "machines": str(runs.sum()),
        "over": str(_over(cluster, after)),
        "violations": f"{violation_rates(cluster, after, 0, draws=days.draws, seed=seed).sum():.4f}",
        "predicted": f"{violation_probability(cluster, after, 0)[runs > 0].sum():.4f}",
        "left_out": str(len(after.unplaced)),
    }


def _over(cluster: Cluster, placement: Placement) -> int:
    """Machines whose chance constraint does not hold: the usage of what runs there has grown, or n was too small."""
    capacity = cluster.machines.capacity[:, 0] / cluster.resources[0].scale
    return int((used(cluster, placement, ALPHA) > capacity * (1 + ROUNDING)).sum())
