"""Configurations: sets of wide requests that run together on one machine, each with a number; a state is a row of numbers."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.decide.schedule.bound import best_cell_prices
from bayplan.decide.schedule.priced_requests import PricedRequests, wide_requests
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.model import BoolArray, Clock, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WideSubproblem:
    """Requests that take more than half of a machine, the machines, and prices that tell which states cannot win."""

    priced: PricedRequests
    demand: IntArray  # (candidate, resource)
    capacity: IntArray  # (kind, resource)
    representative: IntArray  # (candidate,) the first candidate of the same end and the same demand
    paid: FloatArray  # (kind, time + 1, row) running sum of prices
    capacity_price: FloatArray  # (time + 1,) price of all machines from there on
    surplus: FloatArray  # (candidate,) value less the least cost, 0 if that is negative
    surplus_to_come: FloatArray  # (candidate + 1,) surplus of this candidate and all later ones
    busy_machines: IntArray  # (kind,) the most machines that can be busy at the same time


def wide_pairs(problem: ScheduleProblem) -> BoolArray:
    """(kind, request) does it fit on that kind, and take more than half of some resource there?"""
    pairs = np.zeros((len(problem.fleet.kind), len(problem.requests.name)), dtype=np.bool_)
    for q in np.flatnonzero(problem.fleet.machines).tolist():
        pairs[q] = problem.fits(q) & wide_requests(problem, q).any(axis=1)
    return pairs


def wide_subproblem(problem: ScheduleProblem, *, clock: Clock) -> WideSubproblem:
    """The subproblem of all pairs of request and kind in which the request is wide."""
    priced, prices = best_cell_prices(problem, wide_pairs(problem), clock=clock)
    n_t = len(priced.critical.time)
    paid = prices.on(np.arange(n_t + 1)).for_kernel.running_sum
    price_of = paid[:, priced.critical.past] - paid[:, priced.critical.first]  # (kind, candidate, row)
    cost = np.where(priced.allowed, (priced.share * price_of).sum(axis=2), np.inf)
    surplus = np.maximum(0.0, priced.value - cost.min(axis=0, initial=np.inf))
    demand = problem.requests.demand[priced.request]
    key = np.column_stack([priced.critical.past, demand])
    _, first, which = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return WideSubproblem(
        priced=priced,
        demand=demand,
        capacity=problem.fleet.capacity,
        representative=first[which.ravel()],
        paid=paid,
        capacity_price=((paid[:, -1:] - paid).sum(axis=2) * priced.machines[:, None]).sum(axis=0),
        surplus=surplus,
        surplus_to_come=np.append(np.cumsum(surplus[::-1])[::-1], 0.0),
        busy_machines=np.array([_busiest(priced, q) for q in range(len(priced.machines))]),
    )


def _busiest(priced: PricedRequests, q: int) -> int:
    """The most machines of a kind that can be busy at the same time."""
    change = np.zeros(len(priced.critical.time) + 1, dtype=np.int64)
    np.add.at(change, priced.critical.first[priced.allowed[q]], 1)
    np.add.at(change, priced.critical.past[priced.allowed[q]], -1)
    return int(min(priced.machines[q], np.cumsum(change).max(initial=0)))


class Configuration(NamedTuple):
    """Candidates that run together on a machine of one kind."""

    kind: int
    members: tuple[int, ...]  # ascending; equal candidates by their representative


class Configurations:
    """All configurations met so far, by number. The first are the empty ones, by kind."""

    def __init__(self, subproblem: WideSubproblem) -> None:
        self.subproblem = subproblem
        self.known: list[Configuration] = []
        self.number: dict[Configuration, int] = {}
        self.used: list[IntArray] = []  # (resource,)
        self.at_end: list[float] = []  # what the members pay from critical time 0 to their ends
        self.share: list[FloatArray] = []  # (row,)
        for q in range(len(subproblem.capacity)):
            self.of(Configuration(q, ()))

    def of(self, configuration: Configuration) -> int:
        """The number of a configuration."""
        number = self.number.get(configuration)
        if number is None:
            number = self.number[configuration] = len(self.known)
            q, members, subproblem = configuration.kind, list(configuration.members), self.subproblem
            share = subproblem.priced.share[q, members]
            self.known.append(configuration)
            self.used.append(subproblem.demand[members].sum(axis=0))
            self.at_end.append(float((share * subproblem.paid[q, subproblem.priced.critical.past[members]]).sum()))
            self.share.append(share.sum(axis=0))
        return number

    def still_to_pay(self, used: IntArray, t: int) -> FloatArray:
        """(used,) what the members of these configurations pay from critical time t on."""
        kind = np.array([self.known[c].kind for c in used.tolist()], dtype=np.int64)
        share = np.array([self.share[c] for c in used.tolist()])
        paid: FloatArray = (share * self.subproblem.paid[kind, t]).sum(axis=1)
        return np.array([self.at_end[c] for c in used.tolist()]) - paid

    def after(self, used: IntArray, t: int) -> IntArray:
        """(used,) these configurations without the members that have ended at critical time t."""
        past = self.subproblem.priced.critical.past
        return np.array([self._without_ended(self.known[c], past, t) for c in used.tolist()], dtype=np.int64)

    def _without_ended(self, configuration: Configuration, past: IntArray, t: int) -> int:
        return self.of(Configuration(configuration.kind, tuple(i for i in configuration.members if past[i] > t)))

    def joined(self, used: IntArray, j: int) -> IntArray:
        """(used,) these configurations with candidate j; -1 where it does not fit."""
        return np.array([self._with(c, j) for c in used.tolist()], dtype=np.int64)

    def _with(self, c: int, j: int) -> int:
        subproblem, configuration = self.subproblem, self.known[c]
        free = subproblem.capacity[configuration.kind] - self.used[c]
        if not subproblem.priced.allowed[configuration.kind, j] or (subproblem.demand[j] > free).any():
            return -1
        members = sorted((*configuration.members, int(subproblem.representative[j])))
        return self.of(Configuration(configuration.kind, tuple(members)))
