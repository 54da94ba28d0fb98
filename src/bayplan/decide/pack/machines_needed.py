"""How many machines of which type do all containers need, from empty?"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bayplan.decide.pack.cutting_stock import csp_machines
from bayplan.decide.pack.options import PackOptions
from bayplan.decide.pack.problem import PackProblem, pack_problem
from bayplan.engine import Engine
from bayplan.model import Budget, Cluster, FloatArray, IntArray, Machines, Placement, Progress, Result, floats, machine_level

MOST_THAT_FIT = 1e9  # containers on one machine


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MachinesNeeded:
    """A packing onto machines that the cluster may not have."""

    problem: PackProblem  # with as many machines of each type as could be needed
    result: Result[Placement]
    type_of: IntArray  # (machine,) of that problem
    capacity: IntArray  # (type, resource)

    @property
    def by_type(self) -> IntArray:
        """(type,) machines that run something."""
        placement = self.result.solution
        used = np.zeros(0, dtype=np.int64) if placement is None else np.unique(placement.machine_of[placement.placed])
        return np.bincount(self.type_of[used], minlength=len(self.capacity))


def machines_needed(
    problem: PackProblem,
    *,
    alpha_of: FloatArray | None = None,
    budget: Budget,
    seed: int,
    progress: Progress,
    engine: str | Engine | None = None,
) -> MachinesNeeded:
    """The fewest machines for all containers, placed or not, on empty machines of the types that the cluster has.

    A type is a capacity. The bound is proven (the LP bound of pattern generation, rounded up).
    """
    cluster = problem.cluster
    capacity, type_of = np.unique(cluster.machines.capacity, axis=0, return_inverse=True)
    new_types = np.repeat(np.arange(len(capacity)), _enough(problem))
    allowed = {name: np.unique(np.asarray(type_of).ravel()[machines]) for name, machines in cluster.machine_sets.items()}
    sets = {name: np.flatnonzero(np.isin(new_types, types)) for name, types in allowed.items()}
    new_cluster = _with_machines(cluster, capacity[new_types], sets)
    empty = pack_problem(new_cluster, Placement.empty(len(cluster.containers.name)), alpha_of=alpha_of)
    result = csp_machines(empty, PackOptions(engine=engine), budget=budget, seed=seed, progress=progress)
    return MachinesNeeded(problem=empty, result=result, type_of=new_types, capacity=capacity)


def _enough(problem: PackProblem) -> int:
    """Enough machines of any type: each filled by one workload, every container at its full deviation, in every resource."""
    count = problem.running.sum(axis=0) + problem.unplaced
    capacity = problem.cluster.machines.capacity
    fit = np.full(len(count), np.inf)  # (workload,) containers on one machine
    for constraint in problem.chance_constraints:
        size = constraint.mean + constraint.deviate * np.sqrt(constraint.variance)
        fit = np.minimum(fit, _that_fit(size, constraint.capacity))
    for r in range(len(problem.cluster.resources)):
        fit = np.minimum(fit, _that_fit(floats(problem.request[:, r]), floats(capacity[:, r])))
    return int(min(count.sum(), np.ceil(count / np.maximum(1.0, fit)).sum() + 1))


def _that_fit(size: FloatArray, capacity: FloatArray) -> FloatArray:
    """(workload,) how many of this size fit on the smallest machine that has any of a resource; infinite for next to nothing."""
    smallest = float(capacity[capacity > 0].min(initial=np.inf))
    some = size > smallest / MOST_THAT_FIT if np.isfinite(smallest) else np.zeros(len(size), dtype=np.bool_)
    return floats(np.floor(np.divide(smallest, size, out=np.full(len(size), np.inf), where=some)))


def _with_machines(cluster: Cluster, capacity: IntArray, sets: Mapping[str, IntArray]) -> Cluster:
    names = tuple(f"new-{m}" for m in range(len(capacity)))
    return replace(
        cluster,
        machines=Machines(name=names, capacity=capacity, safety=capacity),
        levels=(machine_level(names),),
        machine_sets=sets,
        rules=tuple(rule for rule in cluster.rules if rule.kind in ("capacity", "confidence", "allow")),
    )
