"""A problem as the kernels see it, in units of the largest machine; and machines that are alike."""

from dataclasses import dataclass

import numpy as np

from bayplan.decide.pack.problem import PackProblem
from bayplan.kernels.pack.fill import Bins, Sizes
from bayplan.model import FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """Machines that have the same left: one row of the master problem for each."""

    of_machine: IntArray  # (machine,)
    machines: list[IntArray]  # (group,) its machines, ascending
    bins: Bins  # one bin per group


def sizes_of(problem: PackProblem) -> Sizes:
    """What containers need; amounts of each chance resource over its largest machine."""
    unit = _unit(problem)
    limited = _limited(problem)
    return Sizes(
        mean=np.array([chance.mean / u for chance, u in zip(problem.chances, unit, strict=True)]),
        variance=np.array([chance.variance / (u * u) for chance, u in zip(problem.chances, unit, strict=True)]),
        d=np.array([chance.d for chance in problem.chances]),
        request=np.ascontiguousarray(problem.request[:, limited].T),
    )


def bins_of(problem: PackProblem) -> Bins:
    """What machines have left."""
    unit, running = _unit(problem), problem.running
    busy = running > 0
    room, variance, d = [], [], []
    for chance, u in zip(problem.chances, unit, strict=True):
        room.append((chance.room - running @ chance.mean) / u)
        variance.append(running @ chance.variance / (u * u))
        d.append(np.where(busy, chance.d, 0.0).max(axis=1, initial=0.0))
    return Bins(
        full=np.column_stack([chance.room / u for chance, u in zip(problem.chances, unit, strict=True)]),
        room=np.column_stack(room),
        variance=np.column_stack(variance),
        d=np.column_stack(d),
        free=np.ascontiguousarray(problem.free[:, _limited(problem)]),
        most=np.ascontiguousarray(np.where(problem.allowed.T, problem.waiting, 0)),
    )


def groups_of(problem: PackProblem, bins: Bins) -> Groups:
    """Machines with the same capacity, the same containers and the same permissions are alike."""
    capacity = np.column_stack([chance.room for chance in problem.chances])
    key = np.column_stack([capacity, problem.running, bins.free, bins.most])
    _, first, of_machine = np.unique(key, axis=0, return_index=True, return_inverse=True)
    of_machine = np.asarray(of_machine).ravel()
    order = np.argsort(of_machine, kind="stable")
    machines = np.split(order, np.cumsum(np.bincount(of_machine))[:-1]) if len(order) else []
    return Groups(of_machine=of_machine, machines=machines, bins=chosen(bins, first))


def ucac_of(sizes: Sizes, bins: Bins, count: IntArray) -> FloatArray:
    """(bin,) d sqrt(variance) of the main resource with `count` (bin, service) more: the part of UCaC that one can change."""
    d = np.maximum(bins.d[:, 0], np.where(count > 0, sizes.d[0], 0.0).max(axis=1, initial=0.0))
    uncertain: FloatArray = d * np.sqrt(np.maximum(0.0, bins.variance[:, 0] + count @ sizes.variance[0]))
    return uncertain


def copied(bins: Bins) -> Bins:
    """Bins that may be filled."""
    return chosen(bins, np.arange(len(bins.room)))


def chosen(bins: Bins, some: IntArray) -> Bins:
    """Copies of some bins."""
    return Bins(
        full=bins.full[some],
        room=bins.room[some],
        variance=bins.variance[some],
        d=bins.d[some],
        free=bins.free[some],
        most=bins.most[some],
    )


def _unit(problem: PackProblem) -> list[float]:
    return [float(chance.room.max(initial=1.0)) or 1.0 for chance in problem.chances]


def _limited(problem: PackProblem) -> IntArray:
    """Resources of which somebody asks for something that is limited."""
    return np.flatnonzero((problem.request > 0).any(axis=0))
