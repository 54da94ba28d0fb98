"""Services with uncertain cpu usage that need machines ([UCaC] §6.1 and Table 5).

Nonempty clusters (§6.1.1): an empty cluster is packed, a share of every service is evicted, and a target number of containers is
stated. A layout is an array (machine, workload) of the containers that run there.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from bayplan.errors import UsageError
from bayplan.model import (
    UNPLACED,
    Budget,
    Cluster,
    Containers,
    FloatArray,
    IntArray,
    Objective,
    Placement,
    Progress,
    Snapshot,
    ints,
    silent,
)

if TYPE_CHECKING:
    from bayplan.decide.pack import PackProblem
from bayplan.generate.generator import require
from bayplan.generate.ucac_services import LIMIT_STD, TABLE_5, cluster_of, drawn_columns, drawn_workloads, replicas_of
from bayplan.model import floats

Pack: TypeAlias = "Callable[[PackProblem], Placement]"

ROUNDS = 10_000  # of column generation, far more than it needs
FACTOR = {"scale-down": 0.87, "scale-up": 1.05}  # target counts over initial counts; docs/verbs/ucac.md has how they were set


def csp_ucac(problem: "PackProblem", *, seed: int = 0, progress: Progress = silent) -> Placement:
    """The placement of `csp-ucac`, which made the initial layouts of [UCaC].

    Its rounds are limited, not its seconds, so that a seed is an instance.
    """
    from bayplan.decide.pack import PACKERS, PackOptions

    result = PACKERS["csp-ucac"](problem, PackOptions(), budget=Budget(iterations=ROUNDS), seed=seed, progress=progress)
    return result.solution if result.solution is not None else problem.before


def initial_layout(cluster: Cluster, pack: Pack = csp_ucac) -> IntArray:
    """(machine, workload) every container of the cluster, packed onto its empty machines."""
    from bayplan.decide.pack import pack_problem

    placement = pack(pack_problem(cluster, Placement.empty(len(cluster.containers.name))))
    if len(placement.unplaced):
        raise UsageError(
            f"generator 'ucac': machines is {len(cluster.machines.name)}; expected more: "
            f"{len(placement.unplaced)} of {len(placement.machine_of)} containers of the initial layout have none"
        )
    return layout_of(cluster, placement)


def layout_of(cluster: Cluster, placement: Placement) -> IntArray:
    """(machine, workload) containers that run there."""
    layout = np.zeros((len(cluster.machines.name), len(cluster.workloads.name)), dtype=np.int64)
    placed = placement.placed
    np.add.at(layout, (placement.machine_of[placed], cluster.containers.workload[placed]), 1)
    return ints(layout)


def evicted(layout: IntArray, leaving: IntArray, rng: np.random.Generator) -> IntArray:
    """The layout without `leaving` (workload,) containers of each service, drawn at random."""
    left = layout.copy()
    for w, count in enumerate(leaving.tolist()):
        seats = np.repeat(np.arange(len(layout)), layout[:, w])
        np.subtract.at(left[:, w], rng.choice(seats, size=count, replace=False), 1)
    return ints(left)


def share_evicted(layout: IntArray, rate: FloatArray, rng: np.random.Generator) -> IntArray:
    """The layout without the share `rate` (workload,) of each service, rounded."""
    return evicted(layout, ints(np.round(rate * layout.sum(axis=0))), rng)


def towards(cluster: Cluster, layout: IntArray, target: IntArray, rng: np.random.Generator) -> Snapshot:
    """The layout's containers run, what is missing to `target` (workload,) has no machine; what exceeds it leaves, at random."""
    kept = evicted(layout, np.maximum(0, layout.sum(axis=0) - target), rng)
    containers = Containers.replicas_of(cluster.workloads.name, target)
    machine_of = np.full(len(containers.name), UNPLACED)
    first = np.cumsum(target) - target
    for w, start in enumerate(first.tolist()):
        seats = np.repeat(np.arange(len(kept)), kept[:, w])
        machine_of[start : start + len(seats)] = seats
    grown = replace(cluster, containers=containers)
    return Snapshot(cluster=grown, placement=Placement(machine_of=ints(machine_of)), objective=Objective.default(grown))


def scaled_replicas(replicas: IntArray, factor: float) -> IntArray:
    """(workload,) the target counts: `factor` times the initial ones, rounded, at least one."""
    return ints(np.maximum(1, np.round(factor * replicas)))


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
    """`services` services of Table 5 that need machines, on empty or half-empty machines.

    Up to 17 services are drawn without replacement and keep the table's order; more are drawn with
    replacement ([UCaC] runs K = 20). `scale` multiplies the numbers of containers; 0 sets it so that all
    services together use on average what those of Table 5 use, as in [UCaC] Table 3, where the totals
    hardly depend on K. Containers have no request: the one rule is the chance constraint ([UCaC] (2)).

    `case` "empty": no container has a machine. "scale-down" and "scale-up" (section 6.1.1): the empty cluster is
    packed by `csp-ucac`, the share of Table 5 is evicted from each service at random, and services request
    what is missing to `FACTOR` times their initial numbers. [UCaC] states no factors: docs/verbs/ucac.md has how
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
    notes = (
        f"limit = mean + {LIMIT_STD:g} std: [UCaC] states none",
        "containers request nothing: only the confidence rule binds",
    )
    if case == "empty":
        placement = Placement.empty(len(cluster.containers.name))
        return Snapshot(cluster=cluster, placement=placement, objective=Objective.default(cluster), notes=notes)
    layout = initial_layout(cluster, lambda problem: csp_ucac(problem, seed=seed, progress=progress))
    snapshot = nonempty(cluster, layout, rate, factor=FACTOR[case], seed=seed)
    return replace(snapshot, notes=(*notes, f"{case}: {FACTOR[case]:g} of the initial containers; [UCaC] states no factor"))


def nonempty(cluster: Cluster, layout: IntArray, rate: FloatArray, *, factor: float, seed: int) -> Snapshot:
    """The layout without the share `rate` (workload,) of each service; what `factor` times its counts misses is unplaced."""
    rng = np.random.default_rng([seed, 1])
    return towards(cluster, share_evicted(layout, rate, rng), scaled_replicas(cluster.replicas, factor), rng)


def base(*, services: int, alpha: float, scale: float, machines: int, seed: int) -> tuple[Cluster, FloatArray]:
    """The empty cluster with its initial numbers of containers, and (workload,) the remove rate of Table 5."""
    rng = np.random.default_rng(seed)
    column = drawn_columns(services, rng)
    cluster = cluster_of(drawn_workloads(column, rng), replicas_of(column, scale), machines, alpha)
    return cluster, floats([TABLE_5[j].remove_rate for j in column])
