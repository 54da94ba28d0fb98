"""Where the members of one request go at the prices of now: the one-shot question, asked of the slots that it takes."""

from typing import NamedTuple

import numpy as np

from bayplan.decide.admit.oneshot.case import Case
from bayplan.decide.admit.oneshot.registry import ONE_SHOTS
from bayplan.decide.admit.signature import AdmitOptions
from bayplan.decide.admit.window import Window
from bayplan.kernels.admit.decide import Desk, decide_greedily, price_members, view, weigh
from bayplan.kernels.admit.first_found import FOUND, OUT_OF_NODES, first_found
from bayplan.model import ClusterRequest, IntArray

FIRST_FOUND_NODES = 10_000  # of A_r, unless another limit is asked for


class Found(NamedTuple):
    """The placement in the desk's `zone`, and what it takes: the first `taken` places of its lists."""

    desk: Desk
    cost: float  # infinite: no placement
    taken: int = 0
    over: int = -1  # the first place of the lists that is too much
    most: int = -1  # the place that costs most
    complete: bool = True  # no placement: is it proven that there is none?


class Placer:
    """Asks the one-shot method, or, for A_r, takes the first placement that fits."""

    def __init__(self, window: Window, options: AdmitOptions, method: str, seed: int) -> None:
        self.window, self.options, self.seed = window, options, seed
        self.first_found = method == "available"
        self.greedy = options.oneshot == "greedy"
        self.literal = options.literal and not self.first_found
        self.desks: dict[int, Desk] = {}

    def desk(self, members: int) -> Desk:
        """One for each number of members."""
        if members not in self.desks:
            n_z, n_r = self.window.zones.capacity.shape
            entries = members * n_r + members * members
            self.desks[members] = Desk(
                cost=np.zeros((members, n_z)),
                pair=np.zeros((members, members), dtype=np.int64),
                zone=np.zeros(members, dtype=np.int64),
                resource=np.zeros(entries, dtype=np.int64),
                amount=np.zeros(entries, dtype=np.int64),
            )
        return self.desks[members]

    def place(self, request: ClusterRequest, first: int, last: int, number: int) -> Found:
        """Slots first..last; what is beyond those booked is free. `number` of the offer varies the seed."""
        desk, window, last = self.desk(len(request.members)), self.window, min(last, self.window.booked)
        if self.greedy and not self.first_found:
            asked = request.demand, request.traffic
            cost, taken, over, most = decide_greedily(window.ledger, first, last, self.literal, *asked, window.view, desk)
            return Found(desk, cost, taken, over, most, complete=cost < np.inf)  # a failure of greedy proves nothing
        view(window.ledger, first, last, self.literal, window.view)
        price_members(window.view, request.demand, desk.cost)
        return self._first(request, desk) if self.first_found else self._cheap(request, desk, number)

    def case(self, request: ClusterRequest, desk: Desk) -> Case:
        """The question as it was last asked."""
        seen = self.window.view
        return Case(
            cost=desk.cost,
            demand=request.demand,
            room=seen.room,
            traffic=request.traffic,
            link=seen.link,
            pair=desk.pair,
            bandwidth=seen.bandwidth,
        )

    def _cheap(self, request: ClusterRequest, desk: Desk, number: int) -> Found:
        placing = ONE_SHOTS[self.options.oneshot](self.case(request, desk), self.options.placing, seed=self.seed + number)
        return self._weighed(request, desk, placing.zone, placing.cost, placing.complete)

    def _first(self, request: ClusterRequest, desk: Desk) -> Found:
        limit = self.options.placing.nodes
        nodes, seen = FIRST_FOUND_NODES if limit is None else limit, self.window.view
        links = desk.pair, seen.link, seen.bandwidth
        state = first_found(request.demand, seen.room, request.traffic, *links, nodes, desk.zone)
        return self._weighed(request, desk, desk.zone if state == FOUND else None, 0.0, state != OUT_OF_NODES)

    def _weighed(self, request: ClusterRequest, desk: Desk, zone: IntArray | None, cost: float, complete: bool) -> Found:
        if zone is None:
            return Found(desk, np.inf, complete=complete)
        desk.zone[:] = zone
        return Found(desk, cost, *weigh(self.window.ledger, request.demand, request.traffic, self.window.view, desk))
