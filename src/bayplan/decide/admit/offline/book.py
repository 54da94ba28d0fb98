"""The cheapest plan of each request at given prices: looked up where the plans are few, searched for where not."""

from bayplan.decide.admit.offline.ground import Ground
from bayplan.decide.admit.offline.plans import Plans, how_many, plans_of
from bayplan.decide.admit.oneshot.case import NOWHERE, Placing
from bayplan.decide.admit.oneshot.exact import exact
from bayplan.decide.admit.oneshot.local import local
from bayplan.decide.admit.oneshot.signature import OneShotOptions
from bayplan.model import FloatArray

LISTED = 1000  # plans of one request, at most, that are written out
ENTRIES = 2e7  # numbers in all lists together, at most
NODES = 200_000  # of one exact search; a bound that is proven before that is used as it is


class Book:
    """Plans of the requests of a ground, listed once for those that have few."""

    def __init__(self, ground: Ground, *, nodes: int = NODES) -> None:
        self.ground = ground
        self.listed: dict[int, Plans] = {}
        self.out: set[int] = set()  # requests that fit nowhere even alone
        self._nodes = nodes
        left = ENTRIES
        for i in range(len(ground.value)):
            many = how_many(ground, i)
            if many <= LISTED and many * ground.amounts <= left:
                left -= many * ground.amounts
                self._list(i)

    def _list(self, i: int) -> None:
        plans = plans_of(self.ground, i)
        if len(plans.zone):
            self.listed[i] = plans
        else:
            self.out.add(i)

    @property
    def candidates(self) -> list[int]:
        """Requests that may fit."""
        return [i for i in range(len(self.ground.value)) if i not in self.out]

    def cheapest(self, i: int, price: FloatArray, *, quick: bool = False, seed: int = 0) -> Placing:
        """The plan of least cost at prices (amount,), with a bound of it. `quick`: a good plan, and no bound."""
        if i in self.listed:
            plans = self.listed[i]
            cost = plans.use @ price
            best = int(cost.argmin())
            return Placing(zone=plans.zone[best], cost=float(cost[best]), bound=float(cost[best]))
        case = self.ground.case(i, price)
        if quick:
            return local(case, OneShotOptions(), seed=seed)
        placing = exact(case, OneShotOptions(nodes=self._nodes), seed=seed)
        if placing.zone is None and placing.complete:
            self.out.add(i)
            return Placing(zone=None, cost=NOWHERE, bound=NOWHERE)
        return placing

    def floor(self, i: int, price: FloatArray) -> Placing:
        """No plan, but at once a bound of its cost: each member where it is cheapest, and traffic for nothing."""
        cost = self.ground.case(i, price).cost.min(axis=1).sum()
        return Placing(zone=None, cost=NOWHERE, bound=float(cost), complete=False)
