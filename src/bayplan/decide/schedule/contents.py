"""What wide requests may run together on one machine: each such set has a number, so that a state is a row of numbers."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.decide.schedule.bound import best_cell_prices
from bayplan.decide.schedule.market import Market, wide_in
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.model import BoolArray, Clock, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WideTask:
    """Requests that take more than half of a machine, those machines, and prices that tell which states cannot win."""

    market: Market
    demand: IntArray  # (bidder, resource)
    capacity: IntArray  # (kind, resource)
    alike: IntArray  # (bidder,) the first bidder that ends at the same instant and needs the same
    paid: FloatArray  # (kind, instant + 1, row) running sum of prices
    room: FloatArray  # (instant + 1,) price of all machines from there on
    surplus: FloatArray  # (bidder,) value less the least cost, if that is positive
    hope: FloatArray  # (bidder + 1,) surplus of this one and all later ones
    places: IntArray  # (kind,) machines that can be busy at the same time


def wide_pairs(problem: ScheduleProblem) -> BoolArray:
    """(kind, request) does it run on that kind, and take more than half of some resource there?"""
    pairs = np.zeros((len(problem.fleet.kind), len(problem.requests.name)), dtype=np.bool_)
    for q in np.flatnonzero(problem.fleet.machines).tolist():
        pairs[q] = problem.fits(q) & wide_in(problem, q).any(axis=1)
    return pairs


def wide_task(problem: ScheduleProblem, *, clock: Clock) -> WideTask:
    """The task of all wide pairs of request and kind."""
    market, prices = best_cell_prices(problem, wide_pairs(problem), clock=clock)
    n_t = len(market.instants.time)
    paid = prices.on(np.arange(n_t + 1)).for_kernel.paid
    price_of = paid[:, market.instants.past] - paid[:, market.instants.first]  # (kind, bidder, row)
    cost = np.where(market.allowed, (market.share * price_of).sum(axis=2), np.inf)
    surplus = np.maximum(0.0, market.value - cost.min(axis=0, initial=np.inf))
    demand = problem.requests.demand[market.request]
    key = np.column_stack([market.instants.past, demand])
    _, first, which = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return WideTask(
        market=market,
        demand=demand,
        capacity=problem.fleet.capacity,
        alike=first[which.ravel()],
        paid=paid,
        room=((paid[:, -1:] - paid).sum(axis=2) * market.machines[:, None]).sum(axis=0),
        surplus=surplus,
        hope=np.append(np.cumsum(surplus[::-1])[::-1], 0.0),
        places=np.array([_busiest(market, q) for q in range(len(market.machines))]),
    )


def _busiest(market: Market, q: int) -> int:
    """The most machines of a kind that can be busy at the same time."""
    change = np.zeros(len(market.instants.time) + 1, dtype=np.int64)
    np.add.at(change, market.instants.first[market.allowed[q]], 1)
    np.add.at(change, market.instants.past[market.allowed[q]], -1)
    return int(min(market.machines[q], np.cumsum(change).max(initial=0)))


class Content(NamedTuple):
    """What runs on a machine of this kind."""

    kind: int
    members: tuple[int, ...]  # ascending; equal ones are called by one name


class Contents:
    """All sets that were met so far, by number. The first are the empty ones, by kind."""

    def __init__(self, task: WideTask) -> None:
        self.task = task
        self.known: list[Content] = []
        self.number: dict[Content, int] = {}
        self.used: list[IntArray] = []  # (resource,)
        self.at_end: list[float] = []  # what the members pay, counted from instant 0 to their ends
        self.share: list[FloatArray] = []  # (row,)
        for q in range(len(task.capacity)):
            self.of(Content(q, ()))

    def of(self, content: Content) -> int:
        """The number of a set."""
        found = self.number.get(content)
        if found is None:
            found = self.number[content] = len(self.known)
            q, members = content
            task, many = self.task, list(members)
            share = task.market.share[q, many]
            self.known.append(content)
            self.used.append(task.demand[many].sum(axis=0))
            self.at_end.append(float((share * task.paid[q, task.market.instants.past[many]]).sum()))
            self.share.append(share.sum(axis=0))
        return found

    def rest(self, used: IntArray, t: int) -> FloatArray:
        """(used,) what the members of these sets still pay from instant t on."""
        kind = np.array([self.known[c].kind for c in used.tolist()], dtype=np.int64)
        share = np.array([self.share[c] for c in used.tolist()])
        paid: FloatArray = (share * self.task.paid[kind, t]).sum(axis=1)
        return np.array([self.at_end[c] for c in used.tolist()]) - paid

    def after(self, used: IntArray, t: int) -> IntArray:
        """(used,) the sets without those that have ended at instant t."""
        past = self.task.market.instants.past
        return np.array([self._without_ended(self.known[c], past, t) for c in used.tolist()], dtype=np.int64)

    def _without_ended(self, content: Content, past: IntArray, t: int) -> int:
        return self.of(Content(content.kind, tuple(i for i in content.members if past[i] > t)))

    def joined(self, used: IntArray, j: int) -> IntArray:
        """(used,) the sets with bidder j; -1 where it does not fit."""
        return np.array([self._with(c, j) for c in used.tolist()], dtype=np.int64)

    def _with(self, c: int, j: int) -> int:
        task, content = self.task, self.known[c]
        free = task.capacity[content.kind] - self.used[c]
        if not task.market.allowed[content.kind, j] or (task.demand[j] > free).any():
            return -1
        return self.of(Content(content.kind, tuple(sorted((*content.members, int(task.alike[j]))))))
