"""Requests as the price-based bounds see them: values, shares of machines, and the critical times at which they run.

A critical time is a start after which some request ends before the next start. Capacity has to be checked only there: between
two starts requests only end, so the load is highest just after a start ([Cradle] checks all of T); and if no request ends
between two starts, all that run after the first still run after the second. Critical times are the maximal cliques of the
interval graph: at most half as many as there are starts and ends.
"""

from dataclasses import dataclass

import numpy as np

from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.kernels.schedule.bound import PricedRequestArrays
from bayplan.model import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CriticalTimes:
    """Request j runs at critical times first[j], ..., past[j] - 1: at one at least."""

    time: FloatArray  # (time,) ascending; a request runs just after t if start <= t < end
    first: IntArray  # (request,)
    past: IntArray  # (request,)


def critical_times(start: FloatArray, end: FloatArray) -> CriticalTimes:
    """The critical times of requests that run during (start, end]. O(n log n)."""
    starts, ends = np.unique(start), np.unique(end)
    if not len(starts):
        return CriticalTimes(time=np.zeros(0), first=np.zeros(0, dtype=np.int64), past=np.zeros(0, dtype=np.int64))
    until = np.append(starts[1:], np.inf)
    a_request_ends = np.searchsorted(ends, until, side="right") > np.searchsorted(ends, starts, side="right")
    time = starts[a_request_ends]
    return CriticalTimes(time=time, first=np.searchsorted(time, start), past=np.searchsorted(time, end))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PricedRequests:
    """Requests that fit on some machine and have a value, in the order of their start: the candidates.

    A row is a capacity of which each machine has 1: a resource, or the right to run a request that takes more than half of it.
    """

    request: IntArray  # (candidate,) index of the request
    value: FloatArray  # (candidate,)
    share: FloatArray  # (kind, candidate, row)
    allowed: BoolArray  # (kind, candidate)
    machines: FloatArray  # (kind,)
    critical: CriticalTimes

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of kinds and of rows."""
        return self.share.shape[0], self.share.shape[2]

    def for_kernel(self, edge: IntArray, chosen: slice = slice(None)) -> PricedRequestArrays:
        """The arrays of the kernel. `edge`: critical times, from 0 to their number, at which prices change."""
        ends = (self.critical.first[chosen], self.critical.past[chosen])
        cell = [np.searchsorted(edge, index, side="right") - 1 for index in ends]
        return PricedRequestArrays(
            value=np.ascontiguousarray(self.value[chosen]),
            share=np.ascontiguousarray(self.share[:, chosen]),
            allowed=np.ascontiguousarray(self.allowed[:, chosen]),
            cell=np.stack(cell).astype(np.int32),
            offset=np.stack([index - edge[where] for index, where in zip(ends, cell, strict=True)]).astype(np.float64),
        )


def wide_requests(problem: ScheduleProblem, kind: int) -> BoolArray:
    """(request, resource) does it take more than half of a machine of this kind ([Cradle] §III-B)?"""
    demand = problem.requests.demand
    return np.asarray(demand > problem.fleet.capacity[kind] - demand, dtype=np.bool_)


def priced_requests(problem: ScheduleProblem, allowed: BoolArray | None = None, *, wide_rows: bool = False) -> PricedRequests:
    """All candidates, on all kinds of machines or only where `allowed` (kind, request).

    With `wide_rows` there is one more row per resource: at most one request that takes more than half of a machine runs on it.
    """
    kinds = np.flatnonzero(problem.fleet.machines).tolist()
    fits = np.zeros((len(problem.fleet.kind), len(problem.requests.name)), dtype=np.bool_)
    for q in kinds:
        fits[q] = problem.fits(q)
    may = fits if allowed is None else fits & allowed
    request = np.flatnonzero(may.any(axis=0) & (problem.requests.value > 0))
    request = request[np.argsort(problem.requests.start[request], kind="stable")]
    share = np.zeros((len(fits), len(request), problem.requests.demand.shape[1] * (1 + wide_rows)))
    for q in kinds:
        of_one = np.where(fits[q][request][:, None], problem.share(q)[request], 0.0)
        share[q] = np.hstack([of_one, wide_requests(problem, q)[request]]) if wide_rows else of_one
    return PricedRequests(
        request=request,
        value=problem.requests.value[request],
        share=share,
        allowed=np.ascontiguousarray(may[:, request]),
        machines=problem.fleet.machines.astype(np.float64),
        critical=critical_times(problem.requests.start[request], problem.requests.end[request]),
    )
