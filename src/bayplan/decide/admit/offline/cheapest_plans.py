"""The cheapest plan of each request at given prices: from a list where there are few plans, else by search."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bayplan.decide.admit.offline.time_expanded import TimeExpandedStream, flat_amounts, use_of_plans
from bayplan.decide.admit.one_shot.one_shot_problem import IMPOSSIBLE, OneShotOptions, OneShotPlacement
from bayplan.decide.admit.one_shot.tree_search import exact, local
from bayplan.model import FloatArray, IntArray, ints

LISTED = 1000  # plans of one request at most, for them to be listed
ENTRIES = 2e7  # numbers in all lists together at most
NODES = 200_000  # of one exact search; a bound that is proven within them is used as it is


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plans:
    """Ways to place one request, and what each takes."""

    zone: IntArray  # (plan, member)
    use: FloatArray  # (plan, amount) as a share of the capacity


def count_plans(expanded: TimeExpandedStream, i: int) -> float:
    """The number of plans of a request, S^V, including those that do not fit."""
    return float(len(expanded.stream.zones.name)) ** len(expanded.stream.requests[i].members)


def enumerate_plans(expanded: TimeExpandedStream, i: int) -> Plans:
    """All plans of a request within (1d) and, if the request were alone, within all capacities."""
    zones = expanded.stream.zones
    candidates = _all_placements(len(zones.name), len(expanded.stream.requests[i].members))
    demand, traffic = use_of_plans(expanded.stream, i, candidates)
    free = np.minimum(zones.request_cap, zones.capacity)
    fits = (demand <= free).all(axis=(1, 2)) & (traffic <= expanded.bandwidth).all(axis=(1, 2))
    return Plans(zone=ints(candidates[fits]), use=flat_amounts(demand[fits], traffic[fits]) * expanded.share)


@lru_cache(maxsize=8)
def _all_placements(zones: int, members: int) -> IntArray:
    return ints(np.indices((zones,) * members).reshape(members, -1).T)


class CheapestPlans:
    """The cheapest plans of the requests of a stream; requests with few plans have them listed once."""

    def __init__(self, expanded: TimeExpandedStream, *, nodes: int = NODES) -> None:
        self.expanded = expanded
        self.listed: dict[int, Plans] = {}
        self.infeasible: set[int] = set()  # requests without any plan, even alone
        self._nodes = nodes
        left = ENTRIES
        for i in range(len(expanded.value)):
            count = count_plans(expanded, i)
            if count <= LISTED and count * expanded.amounts <= left:
                left -= count * expanded.amounts
                self._list(i)

    def _list(self, i: int) -> None:
        plans = enumerate_plans(self.expanded, i)
        if len(plans.zone):
            self.listed[i] = plans
        else:
            self.infeasible.add(i)

    @property
    def candidates(self) -> list[int]:
        """Requests that may have a plan."""
        return [i for i in range(len(self.expanded.value)) if i not in self.infeasible]

    def cheapest(self, i: int, price: FloatArray, *, quick: bool = False, seed: int = 0) -> OneShotPlacement:
        """The plan of least cost at prices (amount,), with a bound of its cost. `quick`: a good plan without a bound."""
        if i in self.listed:
            plans = self.listed[i]
            cost = plans.use @ price
            best = int(cost.argmin())
            return OneShotPlacement(zone=plans.zone[best], cost=float(cost[best]), bound=float(cost[best]))
        problem = self.expanded.one_shot_problem(i, price)
        if quick:
            return local(problem, OneShotOptions(), seed=seed)
        placement = exact(problem, OneShotOptions(nodes=self._nodes), seed=seed)
        if placement.zone is None and placement.complete:
            self.infeasible.add(i)
            return OneShotPlacement(zone=None, cost=IMPOSSIBLE, bound=IMPOSSIBLE)
        return placement

    def floor(self, i: int, price: FloatArray) -> OneShotPlacement:
        """No plan, but a fast bound of its cost: each member where it is cheapest, traffic at no cost."""
        cost = self.expanded.one_shot_problem(i, price).cost.min(axis=1).sum()
        return OneShotPlacement(zone=None, cost=IMPOSSIBLE, bound=float(cost), complete=False)
