"""Requests and machines as a market: who would pay what for which room at which instant."""

from dataclasses import dataclass

import numpy as np

from bayplan.decide.schedule.instants import Instants, instants_of
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.kernels.schedule.bound import Bidders
from bayplan.model import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Market:
    """Requests that may run somewhere, in the order of their start.

    A row is something of which each machine has 1: a resource, or the right to run a request that takes more than half of one.
    """

    request: IntArray  # (bidder,) index of the request
    value: FloatArray  # (bidder,)
    share: FloatArray  # (kind, bidder, row)
    allowed: BoolArray  # (kind, bidder)
    machines: FloatArray  # (kind,)
    instants: Instants

    @property
    def shape(self) -> tuple[int, int]:
        """Kinds, rows."""
        return self.share.shape[0], self.share.shape[2]

    def bidders(self, edge: IntArray, chosen: slice = slice(None)) -> Bidders:
        """The kernel's view: prices change at `edge`, instants from 0 to the number of instants."""
        ends = (self.instants.first[chosen], self.instants.past[chosen])
        cell = [np.searchsorted(edge, instant, side="right") - 1 for instant in ends]
        return Bidders(
            value=np.ascontiguousarray(self.value[chosen]),
            share=np.ascontiguousarray(self.share[:, chosen]),
            allowed=np.ascontiguousarray(self.allowed[:, chosen]),
            cell=np.stack(cell).astype(np.int32),
            offset=np.stack([instant - edge[where] for instant, where in zip(ends, cell, strict=True)]).astype(np.float64),
        )


def wide_in(problem: ScheduleProblem, kind: int) -> BoolArray:
    """(request, resource) does it take more than half of a machine of this kind (002 section III-B)?"""
    demand = problem.requests.demand
    return np.asarray(demand > problem.fleet.capacity[kind] - demand, dtype=np.bool_)


def market_of(problem: ScheduleProblem, allowed: BoolArray | None = None, *, wide_rows: bool = False) -> Market:
    """All that fit somewhere; only where `allowed` (kind, request) says so, if given.

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
        share[q] = np.hstack([of_one, wide_in(problem, q)[request]]) if wide_rows else of_one
    return Market(
        request=request,
        value=problem.requests.value[request],
        share=share,
        allowed=np.ascontiguousarray(may[:, request]),
        machines=problem.fleet.machines.astype(np.float64),
        instants=instants_of(problem.requests.start[request], problem.requests.end[request]),
    )
