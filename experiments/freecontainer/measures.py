"""A placement in numbers: the columns of the CSV files."""

from collections.abc import Iterator, Mapping

import numpy as np

from bayplan.check import check
from bayplan.model import Cluster, FloatArray, Objective, Placement
from bayplan.score.counts import loads
from bayplan.score.normalise import normalised
from bayplan.score.terms import score
from bayplan.score.utilisation import machine_utilisation, mean_of_top

HOTTEST = 300  # machines: [FreeContainer] §VI-B1 looks at that many
HOT = 0.6  # CPU utilisation; the same section counts the machines above
TERMS = ("utilisation", "balance", "communication")
COSTS = (*TERMS, *(f"{term}_normalised" for term in TERMS), "total", "balance_level")
CPU = ("cpu_mean", "cpu_max", "cpu_top1", "cpu_top5", "cpu_top10", "cpu_top300", "cpu_hot")
OTHERS = ("memory", "ssd")
USED = (*CPU, *(f"{resource}_{top}" for resource in OTHERS for top in ("mean", "max", "top300")), "largest_cpu")
PERCENTS = range(101)


def costs(cluster: Cluster, placement: Placement, objective: Objective) -> dict[str, float]:
    """U, B, C, raw and between their bounds, the total of (6), and B if all machines had the same utilisation."""
    raw, between = score(cluster, placement, objective), normalised(cluster, placement, objective)
    return {
        **{term: raw[term] for term in TERMS},
        **{f"{term}_normalised": between[term] for term in TERMS},
        "total": raw["total"],
        "balance_level": balance_if_level(cluster, placement),
    }


def balance_if_level(cluster: Cluster, placement: Placement) -> float:
    """B if every machine used the same share of a resource, and all target ratios are 1. Above B: levelling U costs B."""
    capacity = cluster.machines.capacity / cluster.machines.capacity.max(axis=0)
    free = capacity * (1 - loads(cluster, placement).sum(axis=0) / cluster.machines.capacity.sum(axis=0))
    return float(np.abs(free[:, :, None] - free[:, None, :]).sum() / 2)  # both orders of a pair: max(0, x) + max(0, -x)


def used(cluster: Cluster, placement: Placement) -> dict[str, float]:
    """How hot the hottest machines are in each resource ([FreeContainer] Table VII, Figure 5)."""
    others = {}
    for r, resource in enumerate(OTHERS, start=1):
        share = _used(cluster, placement, r)
        others |= {f"{resource}_mean": float(share.mean()), f"{resource}_max": float(share.max())}
        others[f"{resource}_top300"] = _mean_of_hottest(share)
    return {**cpu(cluster, placement), **others, "largest_cpu": largest_on_hottest(cluster, placement)}


def largest_on_hottest(cluster: Cluster, placement: Placement) -> float:
    """The share of the CPU of the hottest machine that its largest container alone takes."""
    share = machine_utilisation(cluster, placement)[:, 0]
    m = int(np.nanargmax(share))
    on = np.flatnonzero(placement.machine_of == m)
    return float(cluster.request_of(on)[:, 0].max(initial=0) / cluster.machines.capacity[m, 0])


def cpu(cluster: Cluster, placement: Placement) -> dict[str, float]:
    """How hot the hottest machines are. The mean over all is the lower bound of each."""
    used = _used(cluster, placement, 0)
    return {
        "cpu_mean": float(used.mean()),
        "cpu_max": float(used.max()),
        **{f"cpu_top{percent}": mean_of_top(used, percent) for percent in (1, 5, 10)},
        "cpu_top300": _mean_of_hottest(used),
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


def _mean_of_hottest(share: FloatArray) -> float:
    return float(np.sort(share)[::-1][:HOTTEST].mean())


def _used(cluster: Cluster, placement: Placement, r: int) -> FloatArray:
    used = machine_utilisation(cluster, placement)[:, r]
    return used[~np.isnan(used)]
