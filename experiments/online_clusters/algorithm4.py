"""[Online clusters] Algorithm 4, A_r and SWMOA to the letter, with traffic inside of a zone free or limited by D_ss.

`bayplan admit` reads (1e) as one over links between zones. Here D_ss is the capacity of traffic inside of zone s, which then
has a price as any other; where it is infinite, decisions are those of `bayplan admit` (tested). Plain arrays: about a
millisecond for a request.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from bayplan.decide.admit.one_shot.kernel_tables import question_of
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotPlacement, OneShotProblem
from bayplan.model import Acceptance, ClusterRequest, ClusterRequests, FloatArray, IntArray, ints
from experiments.online_clusters.fitting import cheapest_fit, first_fit, greedy_fit

NODES = 10_000  # of A_r, as `bayplan admit --method available`
BEST_NODES = 100_000  # of the search for the best placement that fits
Place = Callable[[OneShotProblem, int], OneShotPlacement]  # a one-shot method and the seed


@dataclass
class Ledger:
    """What is booked of each zone and link in each slot, and the prices (8)."""

    stream: ClusterRequests
    inside: FloatArray  # (zone,) D_ss, the capacity of traffic inside of a zone
    slots: int
    base: float = 1.0  # lambda; 1: nothing has a price
    capacity: FloatArray = field(init=False)  # (amount,) of zones by resource, then links by zone
    load: FloatArray = field(init=False)  # (slot, amount)
    price: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        zones = self.stream.zones
        link = zones.bandwidth.astype(np.float64)
        np.fill_diagonal(link, self.inside)
        self.capacity = np.concatenate([zones.capacity.astype(np.float64).ravel(), link.ravel()])
        self.load, self.price = np.zeros((self.slots, len(self.capacity))), np.zeros((self.slots, len(self.capacity)))

    def split(self, amounts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(zone, resource) and (zone, zone)."""
        n_z, n_r = self.stream.zones.capacity.shape
        return amounts[: n_z * n_r].reshape(n_z, n_r), amounts[n_z * n_r :].reshape(n_z, n_z)

    def use(self, request: ClusterRequest, zone: IntArray) -> FloatArray:
        """(amount,) what a placement takes in each of its slots."""
        taken = np.zeros(len(self.capacity))
        demand, traffic = self.split(taken)
        np.add.at(demand, zone, request.demand)
        np.add.at(traffic, np.ix_(zone, zone), request.traffic)
        return taken

    def problem(self, request: ClusterRequest, *, fitting: bool) -> OneShotProblem:
        """IQP (4) at the current prices (Algorithm 4 line 3). If not `fitting`, all of B is free and no link has a limit."""
        during, members = slots_of(request), len(request.members)
        zone, link = self.split(self.price[during].sum(axis=0))
        free, bandwidth = self.split(self.capacity - self.load[during].max(axis=0))
        cap = self.stream.zones.request_cap
        return OneShotProblem(
            cost=request.demand @ zone.T,
            demand=request.demand,
            free=ints(np.minimum(cap, free)) if fitting else cap,
            traffic=request.traffic,
            link=link[None],
            pair=ints(np.zeros((members, members))),
            bandwidth=bandwidth if fitting else np.full(link.shape, np.inf),
        )

    def book(self, request: ClusterRequest, zone: IntArray) -> bool:
        """Book a placement and raise prices (lines 9 to 12), unless it exceeds what is free. Does it fit?"""
        during = slots_of(request)
        after = self.load[during] + self.use(request, zone)
        if (after > self.capacity).any():
            return False
        self.load[during] = after
        self.price[during] = self.base ** (after / self.capacity) - 1.0
        return True


def slots_of(request: ClusterRequest) -> slice:
    """The slots that it takes."""
    return slice(int(request.start), int(request.end))


def algorithm4(ledger: Ledger, place: Place, *, alpha: float, seed: int, fitting: bool) -> Acceptance:
    """Algorithm 4 with a one-shot method, and a test that what is accepted fits. `fitting`: it is placed only where it does."""
    zone_of: list[IntArray | None] = []
    for number, request in enumerate(ledger.stream.requests):
        found = place(ledger.problem(request, fitting=fitting), seed + number)  # line 4
        worth = found.zone is not None and request.value - found.cost / alpha > 0  # line 5
        zone_of.append(found.zone if worth and found.zone is not None and ledger.book(request, found.zone) else None)
    return Acceptance(zone_of=tuple(zone_of))


def first_found(problem: OneShotProblem, seed: int) -> OneShotPlacement:
    """A_r: the first placement that fits, at no cost."""
    zone = np.zeros(len(problem.cost), dtype=np.int64)
    found = first_fit(question_of(problem), NODES, zone)
    return OneShotPlacement(zone=ints(zone) if found else None, cost=0.0 if found else np.inf)


def greedy_found(problem: OneShotProblem, seed: int) -> OneShotPlacement:
    """Algorithm 3, with the limits inside of zones."""
    zone = np.zeros(len(problem.cost), dtype=np.int64)
    cost = float(greedy_fit(question_of(problem), zone))
    return OneShotPlacement(zone=ints(zone) if cost < np.inf else None, cost=cost)


def cheapest_found(problem: OneShotProblem, seed: int) -> OneShotPlacement:
    """The best placement, with the limits inside of zones, or the best of `BEST_NODES` nodes. Members that talk most go first."""
    order = np.argsort(-(problem.traffic.sum(axis=0) + problem.traffic.sum(axis=1)), kind="stable")
    square = np.ix_(order, order)
    members = {"cost": problem.cost[order], "demand": problem.demand[order]}
    sorted_problem = replace(problem, **members, traffic=problem.traffic[square], pair=problem.pair[square])
    placed: IntArray = np.zeros(len(order), dtype=np.int64)
    cost, proven = cheapest_fit(question_of(sorted_problem), BEST_NODES, placed)
    zone = np.empty_like(placed)
    zone[order] = placed
    return OneShotPlacement(zone=ints(zone) if cost < np.inf else None, cost=float(cost), complete=bool(proven))


def overfull(ledger: Ledger, acceptance: Acceptance) -> int:
    """How many amounts, counted once per slot, are exceeded: summed anew from the answer."""
    load = np.zeros_like(ledger.load)
    for request, zone in zip(ledger.stream.requests, acceptance.zone_of, strict=True):
        if zone is not None:
            load[slots_of(request)] += ledger.use(request, zone)
    return int((load > ledger.capacity).sum())
