"""Nonempty clusters of 003 section 6.1.1: pack an empty cluster, evict a share of every service, ask for a target.

A layout is an array (machine, workload) of containers that run there.
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

Pack: TypeAlias = "Callable[[PackProblem], Placement]"

ROUNDS = 10_000  # of column generation, far more than it needs
FACTOR = {"scale-down": 0.87, "scale-up": 1.05}  # target counts over initial counts; docs/verbs/ucac.md has how they were set


def csp_ucac(problem: "PackProblem", *, seed: int = 0, progress: Progress = silent) -> Placement:
    """The placement of `csp-ucac`, which made the initial layouts of 003.

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
    """The layout's containers run, what is missing to `target` (workload,) waits; what is beyond it leaves, at random."""
    kept = evicted(layout, np.maximum(0, layout.sum(axis=0) - target), rng)
    containers = Containers.replicas_of(cluster.workloads.name, target)
    machine_of = np.full(len(containers.name), UNPLACED)
    first = np.cumsum(target) - target
    for w, start in enumerate(first.tolist()):
        seats = np.repeat(np.arange(len(kept)), kept[:, w])
        machine_of[start : start + len(seats)] = seats
    grown = replace(cluster, containers=containers)
    return Snapshot(cluster=grown, placement=Placement(machine_of=ints(machine_of)), objective=Objective.default(grown))


def scaled(replicas: IntArray, factor: float) -> IntArray:
    """(workload,) the target counts: so many times the initial ones, rounded, at least one."""
    return ints(np.maximum(1, np.round(factor * replicas)))
