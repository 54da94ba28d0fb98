"""Services with uncertain cpu usage that ask for room (003 section 6.1 and Table 5)."""

from dataclasses import replace

import numpy as np

from bayplan.generate.registry import require
from bayplan.generate.ucac_layout import FACTOR, csp_ucac, initial_layout, scaled, share_evicted, towards
from bayplan.generate.ucac_services import LIMIT_STD, TABLE_5, cluster_of, drawn_columns, drawn_workloads, replicas_of
from bayplan.model import Cluster, FloatArray, IntArray, Objective, Placement, Progress, Snapshot, floats, silent

CASES = ("empty", *FACTOR)


def ucac(
    *,
    services: int = 17,
    alpha: float = 0.999,
    scale: float = 1.0,
    machines: int = 4000,
    case: str = "empty",
    seed: int = 0,
    progress: Progress = silent,
) -> Snapshot:
    """`services` services of Table 5 that ask for room, on empty or half-empty machines.

    Up to 17 services are drawn without replacement and keep the table's order; more are drawn with
    replacement (003 runs K = 20). `scale` multiplies the numbers of containers; 0 sets it so that all
    services together use on average what those of Table 5 use, as in 003 Table 3, where the totals
    hardly depend on K. Containers have no request: the one rule is the chance constraint (003 (2)).

    `case` "empty": all containers wait. "scale-down" and "scale-up" (section 6.1.1): the empty cluster is
    packed by `csp-ucac`, the share of Table 5 is evicted from each service at random, and services ask for
    what is missing to `FACTOR` times their initial numbers. 003 states no factors: docs/verbs/ucac.md has how
    ours were set.
    """
    require(
        "ucac",
        (1 <= services <= 1000, f"services is {services}; expected 1 to 1,000"),
        (0.5 <= alpha < 1, f"alpha is {alpha}; expected 0.5 or more and below 1"),
        (
            0 <= scale * services <= 10_000,
            f"scale is {scale} for {services} services; expected a product of 0 to 10,000",
        ),
        (1 <= machines <= 1_000_000, f"machines is {machines}; expected 1 to 1,000,000"),
        (case in CASES, f"case is '{case}'; expected one of {', '.join(CASES)}"),
    )
    cluster, rate = base(services=services, alpha=alpha, scale=scale, machines=machines, seed=seed)
    notes = (f"limit = mean + {LIMIT_STD:g} std: 003 states none", "containers request nothing: only the confidence rule binds")
    if case == "empty":
        placement = Placement.empty(len(cluster.containers.name))
        return Snapshot(cluster=cluster, placement=placement, objective=Objective.default(cluster), notes=notes)
    layout = initial_layout(cluster, lambda problem: csp_ucac(problem, seed=seed, progress=progress))
    snapshot = nonempty(cluster, layout, rate, factor=FACTOR[case], seed=seed)
    return replace(snapshot, notes=(*notes, f"{case}: {FACTOR[case]:g} of the initial containers; 003 states no factor"))


def nonempty(cluster: Cluster, layout: IntArray, rate: FloatArray, *, factor: float, seed: int) -> Snapshot:
    """The layout without the share `rate` (workload,) of each service; what is missing to `factor` times its counts waits."""
    rng = np.random.default_rng([seed, 1])
    return towards(cluster, share_evicted(layout, rate, rng), scaled(cluster.replicas, factor), rng)


def base(*, services: int, alpha: float, scale: float, machines: int, seed: int) -> tuple[Cluster, FloatArray]:
    """The empty cluster with its initial numbers of containers, and (workload,) the remove rate of Table 5."""
    rng = np.random.default_rng(seed)
    column = drawn_columns(services, rng)
    cluster = cluster_of(drawn_workloads(column, rng), replicas_of(column, scale), machines, alpha)
    return cluster, floats([TABLE_5[j].remove_rate for j in column])
