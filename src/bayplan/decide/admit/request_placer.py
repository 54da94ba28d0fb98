"""Place the members of one request at the current prices: the one-shot problem over the slots that it takes."""

from typing import NamedTuple

import numpy as np

from bayplan.decide.admit.booking_calendar import BookingCalendar
from bayplan.decide.admit.one_shot import ONE_SHOTS
from bayplan.decide.admit.one_shot.kernel_tables import LocalScratch, is_too_large
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotPlacement, OneShotProblem
from bayplan.decide.admit.one_shot.tree_search import search_locally, starts_scratch
from bayplan.decide.admit.options import AdmitOptions
from bayplan.kernels.admit.decide import RequestScratch, decide_greedily, measure_use, price_members
from bayplan.kernels.admit.decide import fill_view as read_view
from bayplan.kernels.admit.first_feasible import FOUND, OUT_OF_NODES, first_feasible
from bayplan.kernels.admit.zone_problem import ZoneProblem
from bayplan.model import ClusterRequest, IntArray

FIRST_FOUND_NODES = 10_000  # of A_r, unless the options give a limit


class PricedPlacement(NamedTuple):
    """A placement and its cost: zones in `scratch.zone`, what it takes in the first `taken` entries of its lists."""

    scratch: RequestScratch
    cost: float  # infinite: no placement
    taken: int = 0
    over: int = -1  # the first entry that exceeds what is free; -1: none
    most: int = -1  # the entry that costs most; -1: none
    complete: bool = True  # False: no placement was found, and it is not proven that there is none


class RequestPlacer:
    """Calls the one-shot method, or, for A_r, takes the first placement that fits."""

    def __init__(self, calendar: BookingCalendar, options: AdmitOptions, method: str, seed: int) -> None:
        self.calendar, self.options, self.seed = calendar, options, seed
        self.first_found = method == "available"
        self.greedy = options.one_shot == "greedy"
        self.literal = options.literal and not self.first_found
        self.scratches: dict[int, RequestScratch] = {}
        self.local_scratches: dict[int, LocalScratch] = {}

    def scratch(self, members: int) -> RequestScratch:
        """The work arrays for requests of that many members."""
        if members not in self.scratches:
            n_z, n_r = self.calendar.zones.capacity.shape
            entries = members * n_r + members * members
            self.scratches[members] = RequestScratch(
                cost=np.zeros((members, n_z)),
                pair=np.zeros((members, members), dtype=np.int64),
                zone=np.zeros(members, dtype=np.int64),
                resource=np.zeros(entries, dtype=np.int64),
                amount=np.zeros(entries, dtype=np.int64),
            )
        return self.scratches[members]

    def place(self, request: ClusterRequest, first: int, last: int, number: int) -> PricedPlacement:
        """A placement for slots first..last; slots beyond the last booking are empty. `number` of the offer varies the seed."""
        scratch, calendar, last = self.scratch(len(request.members)), self.calendar, min(last, self.calendar.booked)
        if self.greedy and not self.first_found:
            needs = request.demand, request.traffic
            cost, taken, over, most = decide_greedily(calendar.ledger, first, last, self.literal, *needs, calendar.view, scratch)
            return PricedPlacement(scratch, cost, taken, over, most, complete=cost < np.inf)  # a failure of greedy proves nothing
        read_view(calendar.ledger, first, last, self.literal, calendar.view)
        price_members(calendar.view, request.demand, scratch.cost)
        return self._first(request, scratch) if self.first_found else self._cheapest(request, scratch, number)

    def problem_of(self, request: ClusterRequest, first: int, last: int) -> OneShotProblem:
        """The one-shot problem of a request in slots first..last."""
        calendar, scratch = self.calendar, self.scratch(len(request.members))
        read_view(calendar.ledger, first, min(last, calendar.booked), self.literal, calendar.view)
        price_members(calendar.view, request.demand, scratch.cost)
        return self._problem(request, scratch)

    def _problem(self, request: ClusterRequest, scratch: RequestScratch) -> OneShotProblem:
        """The one-shot problem of the view."""
        view = self.calendar.view
        return OneShotProblem(
            cost=scratch.cost,
            demand=request.demand,
            free=view.free,
            traffic=request.traffic,
            link=view.link,
            pair=scratch.pair,
            bandwidth=view.bandwidth,
        )

    def _cheapest(self, request: ClusterRequest, scratch: RequestScratch, number: int) -> PricedPlacement:
        if self.options.one_shot == "local" and not is_too_large(*scratch.cost.shape):
            placement = self._local(request, scratch)
        else:
            problem, method = self._problem(request, scratch), ONE_SHOTS[self.options.one_shot]
            placement = method(problem, self.options.one_shot_options, seed=self.seed + number)
        return self._weighed(request, scratch, placement.zone, placement.cost, placement.complete)

    def _local(self, request: ClusterRequest, scratch: RequestScratch) -> OneShotPlacement:
        """As `local`, without a test of arrays that are known to be good, and in the same work arrays as before."""
        view, members = self.calendar.view, len(request.members)
        question = ZoneProblem(scratch.cost, request.demand, view.free, request.traffic, view.link, scratch.pair, view.bandwidth)
        if members not in self.local_scratches:
            self.local_scratches[members] = starts_scratch(question, self.options.one_shot_options)
        return search_locally(question, self.local_scratches[members])

    def _first(self, request: ClusterRequest, scratch: RequestScratch) -> PricedPlacement:
        limit = self.options.one_shot_options.nodes
        nodes, view = FIRST_FOUND_NODES if limit is None else limit, self.calendar.view
        links = scratch.pair, view.link, view.bandwidth
        state = first_feasible(request.demand, view.free, request.traffic, *links, nodes, scratch.zone)
        return self._weighed(request, scratch, scratch.zone if state == FOUND else None, 0.0, state != OUT_OF_NODES)

    def _weighed(
        self, request: ClusterRequest, scratch: RequestScratch, zone: IntArray | None, cost: float, complete: bool
    ) -> PricedPlacement:
        if zone is None:
            return PricedPlacement(scratch, np.inf, complete=complete)
        scratch.zone[:] = zone
        return PricedPlacement(
            scratch, cost, *measure_use(self.calendar.ledger, request.demand, request.traffic, self.calendar.view, scratch)
        )
