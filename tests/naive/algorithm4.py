"""[Online clusters] Algorithm 4 to the letter, with an A_sub as bad as its ratio allows; and the dual (3) that it leaves."""

from dataclasses import dataclass, field
from math import log2

from tests.naive.admit_offline import capacity, every_use

from bayplan.model import ClusterRequests


@dataclass
class Ledger:
    """z, u, and what Algorithm 4 has decided; a place is ("zone", z, r) or ("link", y, z), a slot t is (t, t + 1]."""

    stream: ClusterRequests
    value_ratio: float  # U
    alpha: float
    used: dict = field(default_factory=dict)  # (place, slot) -> z
    utility: list = field(default_factory=list)  # u of every request
    value: float = 0.0  # P
    overflows: int = 0  # accepted, but more than there is

    @property
    def base(self) -> float:
        return 2 * (self.alpha * self.value_ratio + 1)  # line 1

    @property
    def factor(self) -> float:
        return (self.alpha + 1) * log2(self.base)

    @property
    def dual(self) -> float:
        return sum(self.utility) + sum(capacity(self.stream, at) * self.price(at, t) for at, t in self.used)  # (3)

    def price(self, at, t) -> float:
        return self.base ** (self.used.get((at, t), 0) / capacity(self.stream, at)) - 1  # (8)

    def cost(self, i, use) -> float:
        return sum(amount * self.price(at, t) for at, amount in use.items() for t in slots(self.stream, i))

    def accept(self, i, use, utility) -> None:
        for at, amount in use.items():
            for t in slots(self.stream, i):
                self.used[at, t] = self.used.get((at, t), 0) + amount  # line 10
                self.overflows += self.used[at, t] > capacity(self.stream, at)
        self.utility.append(utility)
        self.value += self.stream.requests[i].value


def slots(stream: ClusterRequests, i: int) -> range:
    return range(int(stream.requests[i].start), int(stream.requests[i].end))


def algorithm4(stream: ClusterRequests, value_ratio: float, alpha: float) -> Ledger:
    """Every request in turn."""
    ledger = Ledger(stream, value_ratio, alpha)
    for i in range(len(stream.requests)):
        offer(ledger, i)
    return ledger


def offer(ledger: Ledger, i: int) -> dict | None:
    """Decide on one request, on the most expensive plan that costs at most alpha times as much as the cheapest; what it takes."""
    plans = every_use(ledger.stream, i)
    cost = [ledger.cost(i, use) for use in plans]  # line 3
    near = [j for j, some in enumerate(cost) if some <= ledger.alpha * min(cost)]
    chosen = max(near, key=lambda j: cost[j])  # line 4
    utility = ledger.stream.requests[i].value - cost[chosen] / ledger.alpha
    if utility > 0:  # line 5
        ledger.accept(i, plans[chosen], utility)  # lines 6 to 12
        return plans[chosen]
    ledger.utility.append(0.0)  # line 14
    return None
