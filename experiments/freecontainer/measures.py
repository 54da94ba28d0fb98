"""A placement in numbers: the columns of the CSV files."""

from collections.abc import Iterator, Mapping

import numpy as np

from bayplan.check import check
from bayplan.model import Cluster, FloatArray, Objective, Placement
from bayplan.score.normalise import normalised
from bayplan.score.terms import score
from bayplan.score.utilisation import machine_utilisation, mean_of_top

HOTTEST = 300  # machines: [FreeContainer] §VI-B1 looks at that many
HOT = 0.6  # CPU utilisation; the same section counts the machines above
TERMS = ("utilisation", "balance", "communication")
COSTS = (*TERMS, *(f"{term}_normalised" for term in TERMS), "total")
CPU = ("cpu_mean", "cpu_max", "cpu_top1", "cpu_top5", "cpu_top10", "cpu_top300", "cpu_hot")
PERCENTS = range(101)


def costs(cluster: Cluster, placement: Placement, objective: Objective) -> dict[str, float]:
    """U, B, C, raw and between their bounds, and the total of equation (6)."""
    raw, between = score(cluster, placement, objective), normalised(cluster, placement, objective)
    return {
        **{term: raw[term] for term in TERMS},
        **{f"{term}_normalised": between[term] for term in TERMS},
        "total": raw["total"],
    }


def cpu(cluster: Cluster, placement: Placement) -> dict[str, float]:
    """How hot the hottest machines are ([FreeContainer] Table VII). The mean over all is the lower bound of each."""
    used = _used(cluster, placement, 0)
    hottest = np.sort(used)[::-1][:HOTTEST]
    return {
        "cpu_mean": float(used.mean()),
        "cpu_max": float(used.max()),
        **{f"cpu_top{percent}": mean_of_top(used, percent) for percent in (1, 5, 10)},
        "cpu_top300": float(hottest.mean()),
        "cpu_hot": float((used > HOT).sum()),
    }


def quantiles(cluster: Cluster, placement: Placement) -> Iterator[dict[str, str]]:
    """One row per percent of the machines: which utilisation they stay below, per resource ([FreeContainer] Figures 4 and 5)."""
    used = [_used(cluster, placement, r) for r in range(len(cluster.resources))]
    for percent in PERCENTS:
        values = {
            resource.name: f"{np.quantile(of, percent / 100):.4f}" for resource, of in zip(cluster.resources, used, strict=True)
        }
        yield {"percent": str(percent), **values}


def violated(cluster: Cluster, placement: Placement, before: Placement) -> Mapping[str, tuple[int, float]]:
    """For each kind of rule: in how many places it is violated, and by how much in total."""
    by_kind: dict[str, tuple[int, float]] = {}
    for violation in check(cluster, placement, before):
        count, excess = by_kind.get(violation.rule, (0, 0.0))
        by_kind[violation.rule] = count + 1, excess + violation.excess
    return by_kind


def _used(cluster: Cluster, placement: Placement, r: int) -> FloatArray:
    used = machine_utilisation(cluster, placement)[:, r]
    return used[~np.isnan(used)]
