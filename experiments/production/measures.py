"""The figures of one cell, and of the pairs and services within it."""

from collections.abc import Iterator, Sequence

import numpy as np

from bayplan.model import Cluster
from bayplan.score.performance import Walks, pair_performance, performance_of, service_max_load
from bayplan.score.performance.simulation import simulate_walks
from experiments.production.settings import AFTER, BASE, BEFORE, NAMED_SIZES, PAIRS, RASA, SEED, SERVICES, Cell, Scope
from experiments.production.states import study_of, walks_in

Columns = dict[str, str]
UTILISED = (0.6, 0.8, 0.9)


def measured(cell: Cell, scope: Scope) -> Columns:
    """The columns of a row of performance.csv."""
    study, walks = study_of(cell.study, scope), walks_in(cell, scope)
    made = performance_of(walks)
    share = walks.given.load * walks.load.served + walks.load.other
    numbers: dict[str, float] = {
        "containers": len(study.snapshot.cluster.containers.name),
        "moved": len(study.after.moved_from(study.snapshot.placement)) if cell.state != BEFORE else 0,
        "times": walks.given.load,
        "mean_ms": made.mean_ms,
        "p50_ms": made.p50_ms,
        "p95_ms": made.p95_ms,
        "error_rate": made.error_rate,
        "max_load": made.max_load or 0.0,
        "local": made.local_share,
        **_calls(walks),
        "servers": len(share),
        **{f"above_{100 * level:.0f}": float((share > level).sum()) for level in UTILISED},
        "most_used": float(share.max()),
        "saturated": made.saturated,
    }
    name = {"cluster": study.snapshot.cluster.name}
    return {**name, **{key: f"{value:.8g}" for key, value in numbers.items()}, **_simulated(cell, walks, scope)}


def _calls(walks: Walks) -> dict[str, float]:
    """Means over calls between workloads, weighted by traffic: [RASA]'s weighted latency and error rate."""
    pairs, weight = pair_performance(walks), walks.graph.rate[~walks.graph.peers]
    if not len(weight):
        return {"call_ms": 0.0, "call_error": 0.0}
    return {
        "call_ms": float(weight @ pairs.latency_ms / weight.sum()),
        "call_error": float(weight @ pairs.error_rate / weight.sum()),
    }


def _simulated(cell: Cell, walks: Walks, scope: Scope) -> Columns:
    """The same by simulation, of the stated assumptions only."""
    names = ("simulated_mean", "half_width", "simulated_p50", "simulated_p95")
    base = BASE[cell.study]
    if cell.key[2:] != base.key[2:] or cell.state not in (BEFORE, AFTER):
        return dict.fromkeys(names, "")
    run = simulate_walks(walks, requests=scope.simulated, seed=SEED)
    values = (run.mean_ms, run.half_width_ms, run.quantile_ms(0.5), run.quantile_ms(0.95))
    return {name: f"{value:.6g}" for name, value in zip(names, values, strict=True)}


def parts_of(cell: Cell, scope: Scope) -> Iterator[tuple[str, Columns]]:
    """The heavy pairs, or the five services: name and figures."""
    study, walks = study_of(cell.study, scope), walks_in(cell, scope)
    cluster = study.snapshot.cluster
    if cell.study == RASA:
        pairs, weight = pair_performance(walks), cluster.traffic.weight
        for number, e in enumerate(np.argsort(-weight, kind="stable")[:PAIRS].tolist(), start=1):
            yield f"pair {number}", _row(weight[e] / weight.sum(), pairs.latency_ms[e], pairs.error_rate[e], pairs.local[e], 0.0)
        return
    for s in chosen_services(cluster):
        most = service_max_load(cluster, walks, s) or 0.0
        yield cluster.services.name[s], _row(float(service_sizes(cluster)[s]), 0.0, 0.0, 0.0, most)


def _row(size: float, latency: float, error: float, local: float, most: float) -> Columns:
    names = ("size", "latency_ms", "error_rate", "local", "max_load")
    return {name: f"{float(value):.8g}" for name, value in zip(names, (size, latency, error, local, most), strict=True)}


def service_sizes(cluster: Cluster) -> Sequence[int]:
    """(service,) containers."""
    sizes: list[int] = np.bincount(cluster.workloads.service, weights=cluster.replicas).astype(int).tolist()
    return sizes


def chosen_services(cluster: Cluster) -> list[int]:
    """Five services of all sizes: the nearest to those that the paper names, the smallest, the median and the largest."""
    sizes = np.asarray(service_sizes(cluster))
    order = np.argsort(sizes, kind="stable")
    wanted = [int(np.abs(sizes - size).argmin()) for size in NAMED_SIZES]
    wanted += [int(order[0]), int(order[len(order) // 2]), int(order[-1])]
    rest = [int(s) for s in order[::-1]]
    return list(dict.fromkeys([*wanted, *rest]))[: min(SERVICES, len(sizes))]
