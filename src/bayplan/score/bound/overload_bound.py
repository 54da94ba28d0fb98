"""The terms that are sums of positive parts of a machine's loads: overload, GMRP's targets, residual balance.

All of them are the sum over machines m and hinges k of weight_mk max(0, a_k . load_m + b_mk).
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from bayplan.model import BoolArray, Cluster, FloatArray, Objective, Term
from bayplan.score.bound.reachable import Reachable

ROUNDING = 1e-12  # of all that is added up: more than floats lose


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hinges:
    """The hinges of one cluster under one objective."""

    a: FloatArray  # (hinge, resource)
    b: FloatArray  # (machine, hinge)
    weight: FloatArray  # (machine, hinge) one number per hinge, or 0 where a machine does not count
    size: FloatArray  # (machine, hinge) of the amounts that b was added up from: they may cancel, their rounding does not

    @property
    def grows(self) -> BoolArray:
        """(hinge,) more load never makes it smaller."""
        return np.asarray((self.a >= 0).all(axis=1))


def hinges(cluster: Cluster, objective: Objective, within: Reachable) -> Hinges:
    """All hinges of an objective that can ever be above 0, times the weights of their terms."""
    n_m, n_r = cluster.machines.capacity.shape
    parts = [Hinges(a=np.zeros((0, n_r)), b=(none := np.zeros((n_m, 0))), weight=none, size=none)]
    for term, make in ((Term.OVERLOAD, _overload), (Term.TARGETS, _targets), (Term.BALANCE, _balance)):
        if objective.weight.get(term):
            part = make(cluster, objective)
            parts.append(replace(part, weight=objective.weight[term] * part.weight))
    a = np.concatenate([part.a for part in parts])
    b, weight, size = (np.concatenate([getattr(part, name) for part in parts], axis=1) for name in ("b", "weight", "size"))
    return Hinges(a=a, b=b, weight=np.where(_highest(a, b, within) > 0, weight, 0.0), size=size)


def _overload(cluster: Cluster, objective: Objective) -> Hinges:
    """load - safety."""
    safety = cluster.machines.safety.astype(np.float64)
    weight = np.broadcast_to(objective.overload_weight, safety.shape)
    return Hinges(a=np.eye(safety.shape[1]), b=-safety, weight=weight, size=safety)


def _targets(cluster: Cluster, objective: Objective) -> Hinges:
    """target * free(r1) - free(r2)."""
    capacity = cluster.machines.capacity.astype(np.float64)
    a = np.zeros((len(objective.targets), capacity.shape[1]))
    for k, target in enumerate(objective.targets):
        a[k, target.r1] -= target.target
        a[k, target.r2] += 1
    weight = np.array([float(target.weight) for target in objective.targets])
    return _of_free(capacity, a, np.broadcast_to(weight, (len(capacity), len(weight))))


def _balance(cluster: Cluster, objective: Objective) -> Hinges:
    """free(i) / largest(i) - t(i, j) free(j) / largest(j), on machines that have both."""
    capacity = cluster.machines.capacity.astype(np.float64)
    largest = np.maximum(1.0, capacity.max(axis=0, initial=0.0))
    n_r = capacity.shape[1]
    pair = np.array([(i, j) for i in range(n_r) for j in range(n_r) if i != j], dtype=np.int64).reshape(-1, 2)
    a, row = np.zeros((len(pair), n_r)), np.arange(len(pair))
    a[row, pair[:, 0]] = -1.0 / largest[pair[:, 0]]
    a[row, pair[:, 1]] = objective.ratio[pair[:, 0], pair[:, 1]] / largest[pair[:, 1]]
    both = np.asarray((capacity[:, pair] > 0).all(axis=2), dtype=np.float64)
    return _of_free(capacity, a, both)


def _of_free(capacity: FloatArray, a: FloatArray, weight: FloatArray) -> Hinges:
    """Hinges of what is free: -a . (capacity - load)."""
    return Hinges(a=a, b=-capacity @ a.T, weight=weight, size=capacity @ abs(a).T)


def _highest(a: FloatArray, b: FloatArray, within: Reachable) -> FloatArray:
    """(machine, hinge) a . load + b at the worst loads that are possible."""
    return np.asarray(within.most @ np.maximum(a, 0).T + within.least @ np.minimum(a, 0).T + b, dtype=np.float64)


def _lowest(a: FloatArray, b: FloatArray, within: Reachable) -> FloatArray:
    """(machine, hinge) a . load + b at the best loads that are possible."""
    return np.asarray(within.least @ np.maximum(a, 0).T + within.most @ np.minimum(a, 0).T + b, dtype=np.float64)


class InTotal(NamedTuple):
    """A bound of all hinges, and the machines whose hinges it counts as if they were always above 0."""

    bound: float
    share: FloatArray  # (machine, hinge) 0 or 1


def in_total(shapes: Hinges, within: Reachable) -> InTotal:
    """For each hinge the better of two: its sum over all machines that count, and over those where it is above 0 anyway."""
    every = (shapes.weight > 0).astype(np.float64)
    always = every * (_lowest(shapes.a, shapes.b, within) > 0)
    each = np.stack([_sum_over(shapes, within, share) for share in (every, always)])  # (2, hinge)
    best = np.where(each[0] >= each[1], every, always) * (each.max(axis=0) > 0)
    return InTotal(float(np.maximum(0.0, each).max(axis=0).sum()), best)


def _sum_over(shapes: Hinges, within: Reachable, share: FloatArray) -> FloatArray:
    """(hinge,) weight times the least that a . load + b can be over the machines marked 1.

    They hold no less than what does not fit on the others, and no more than what the others need not hold.
    """
    inside, outside = share.T, 1.0 - share.T
    least, most = within.least.astype(np.float64), within.most.astype(np.float64)
    low = np.maximum(inside @ least, within.total - outside @ most)  # (hinge, resource) load on them
    high = np.minimum(inside @ most, within.total - outside @ least)
    load = np.where(shapes.a > 0, shapes.a * low, shapes.a * high)
    added_up = load.sum(axis=1) + (share * shapes.b).sum(axis=0)
    lost = ROUNDING * (abs(shapes.a) @ within.total + (share * shapes.size).sum(axis=0))
    return np.asarray((added_up - lost) * shapes.weight.max(axis=0, initial=0.0), dtype=np.float64)
