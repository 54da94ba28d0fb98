"""A problem as the kernels take it, in units of the largest machine; and groups of equal machines."""

from dataclasses import dataclass

import numpy as np

from bayplan.decide.pack.problem import PackProblem
from bayplan.kernels.pack.fill import Bins, Sizes
from bayplan.model import AntiAffinity, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MachineGroups:
    """Machines with the same capacity, containers and permissions: one row of the master problem for each group."""

    of_machine: IntArray  # (machine,)
    machines: list[IntArray]  # (group,) its machines, ascending
    bins: Bins  # one bin per group


def sizes_of(problem: PackProblem) -> Sizes:
    """What one container of each workload needs; amounts of a random resource relative to its largest machine."""
    unit = _unit(problem)
    constraints = list(zip(problem.chance_constraints, unit, strict=True))
    return Sizes(
        mean=np.array([constraint.mean / u for constraint, u in constraints]),
        variance=np.array([constraint.variance / (u * u) for constraint, u in constraints]),
        d=np.array([constraint.deviate for constraint in problem.chance_constraints]),
        request=np.ascontiguousarray(problem.request[:, _requested(problem)].T),
    )


def bins_of(problem: PackProblem) -> Bins:
    """What each machine has free. One that is too full already may still take what uses nothing."""
    running = problem.running
    capacity, free_mean, variance, deviate = [], [], [], []
    for constraint, u in zip(problem.chance_constraints, _unit(problem), strict=True):
        capacity.append(constraint.capacity / u)
        variance.append(running @ constraint.variance / (u * u))
        deviate.append(np.where(running > 0, constraint.deviate, 0.0).max(axis=1, initial=0.0))
        free_mean.append(np.maximum((constraint.capacity - running @ constraint.mean) / u, deviate[-1] * np.sqrt(variance[-1])))
    return Bins(
        capacity=np.column_stack(capacity),
        free_mean=np.column_stack(free_mean),
        variance=np.column_stack(variance),
        d=np.column_stack(deviate),
        free=np.ascontiguousarray(np.maximum(0, problem.free[:, _requested(problem)])),
        max_count=np.ascontiguousarray(np.minimum(np.where(problem.allowed.T, problem.unplaced, 0), _most_beside(problem))),
    )


def _most_beside(problem: PackProblem) -> IntArray:
    """(machine, workload) new containers at most by anti-affinity on machines, beside what runs; each workload by itself."""
    most = np.broadcast_to(problem.unplaced, problem.running.shape).copy()
    for rule in problem.cluster.rules:
        if isinstance(rule, AntiAffinity) and rule.level == 0:
            named = list(rule.workloads)
            left = np.maximum(0, rule.limit - problem.running[:, named].sum(axis=1))
            most[:, named] = np.minimum(most[:, named], left[:, None])
    return most


def groups_of(problem: PackProblem, bins: Bins) -> MachineGroups:
    """The groups of equal machines."""
    capacity = np.column_stack([constraint.capacity for constraint in problem.chance_constraints])
    first, of_machine = equal_rows(np.column_stack([capacity, problem.running, bins.free, bins.max_count]))
    order = np.argsort(of_machine, kind="stable")
    machines = np.split(order, np.cumsum(np.bincount(of_machine))[:-1]) if len(order) else []
    return MachineGroups(of_machine=of_machine, machines=machines, bins=select_bins(bins, first))


def equal_rows(table: FloatArray) -> tuple[IntArray, IntArray]:
    """(group,) the first row of each group of equal rows, groups in the order of their rows; (row,) the group of each.

    Sorting whole rows takes long, and most machines are like many others: rows of the same sum, with odd weights modulo 2^64, are
    compared with the first of them, and only such first rows are sorted. If rows of the same sum differ, all are.
    """
    bits = np.ascontiguousarray(table, dtype=np.float64).view(np.uint64)
    weight = np.random.default_rng(0).integers(0, 2**63, size=bits.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    _, first, alike = np.unique((bits * weight).sum(axis=1, dtype=np.uint64), return_index=True, return_inverse=True)
    if not np.array_equal(table[first[alike]], table):
        first, alike = np.arange(len(table)), np.arange(len(table))
    _, group = np.unique(table[first], axis=0, return_inverse=True)
    of_row: IntArray = np.asarray(group).ravel()[alike]
    return np.unique(of_row, return_index=True)[1], of_row


def uncertainty_of(sizes: Sizes, bins: Bins, count: IntArray) -> FloatArray:
    """(bin,) d sqrt(variance) of the main resource with `count` (bin, workload) more: the part of UCaC that packing changes."""
    d = np.maximum(bins.d[:, 0], np.where(count > 0, sizes.d[0], 0.0).max(axis=1, initial=0.0))
    uncertain: FloatArray = d * np.sqrt(np.maximum(0.0, bins.variance[:, 0] + count @ sizes.variance[0]))
    return uncertain


def with_containers(sizes: Sizes, bins: Bins, count: IntArray) -> Bins:
    """The bins with `count` (bin, workload) more containers in them."""
    deviate = [np.where(count > 0, d, 0.0).max(axis=1, initial=0.0) for d in sizes.d]
    return Bins(
        capacity=bins.capacity,
        free_mean=bins.free_mean - count @ sizes.mean.T,
        variance=bins.variance + count @ sizes.variance.T,
        d=np.maximum(bins.d, np.column_stack(deviate)),
        free=bins.free - count @ sizes.request.T,
        max_count=bins.max_count - count,
    )


def copy_bins(bins: Bins) -> Bins:
    """Bins that may be filled."""
    return select_bins(bins, np.arange(len(bins.free_mean)))


def select_bins(bins: Bins, index: IntArray) -> Bins:
    """Copies of the bins at `index`."""
    return Bins(
        capacity=bins.capacity[index],
        free_mean=bins.free_mean[index],
        variance=bins.variance[index],
        d=bins.d[index],
        free=bins.free[index],
        max_count=bins.max_count[index],
    )


def _unit(problem: PackProblem) -> list[float]:
    return [float(constraint.capacity.max(initial=1.0)) or 1.0 for constraint in problem.chance_constraints]


def _requested(problem: PackProblem) -> IntArray:
    """Limited resources that some workload requests."""
    return np.flatnonzero((problem.request > 0).any(axis=0))
