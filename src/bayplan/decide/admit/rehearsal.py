"""Which alpha earns most: several shadow admissions, each with its own alpha, rehearse the stream beside the real admission.

[Online clusters] sums the prices of all resources and slots of a request, but takes U from its largest use alone. So with the
alpha of the one-shot method prices are far too high: requests of low value are refused although they would fit. How much too
high depends on the stream. Each shadow admission gets every offer, has empty zones of its own, and places greedily. An accepted
request earns its value evenly during its interval, so that long requests of little value do not look good before their time. The
real admission takes the alpha of the shadow that has earned most; another takes the lead only if it is ahead by a margin.
"""

import heapq
from collections.abc import Mapping, Sequence
from typing import Any

from bayplan.decide.admit.shadow_admissions import ShadowAdmissions
from bayplan.model import ClusterRequest, Zones

ALPHAS = (1.0, 16.0, 256.0, 4096.0, 65536.0, 1048576.0)  # with the last, nearly every request that fits is accepted
FIRST_LEAD = 2  # index of the alpha that leads at the beginning
MARGIN = 0.02  # relative: how far another alpha must be ahead to take the lead
DECAY = 0.999  # of what was earned before, at each offer: about a thousand offers are remembered


class Earnings:
    """The value that accepted requests have earned up to a time, each evenly over its interval."""

    def __init__(
        self, total: float = 0.0, rate: float = 0.0, since: float | None = None, changes: Sequence[Sequence[float]] = ()
    ) -> None:
        self.total, self.rate, self.since = total, rate, since
        self.changes = [(time, change) for time, change in changes]  # heap of (time, change of the rate)

    def accept(self, request: ClusterRequest) -> None:
        """Add an accepted request, which earns from its start to its end."""
        rate = request.value / (request.end - request.start)
        heapq.heappush(self.changes, (request.start, rate))
        heapq.heappush(self.changes, (request.end, -rate))

    def upto(self, time: float) -> float:
        """The total earned until then, older earnings decayed."""
        while self.changes and self.changes[0][0] <= time:
            at, change = heapq.heappop(self.changes)
            self._earn(at)
            self.rate = self.rate + change if self.changes else 0.0  # none runs: drop what rounding has left
        self._earn(time)
        return self.total

    def _earn(self, time: float) -> None:
        if self.since is not None and time > self.since:
            self.total += self.rate * (time - self.since)
        self.since = time if self.since is None else max(self.since, time)

    def data(self) -> list[Any]:
        """As plain data: the arguments of `Earnings`."""
        return [self.total, self.rate, self.since, [list(change) for change in self.changes]]


class Rehearsal:
    """One shadow admission per alpha, and the alpha that leads."""

    def __init__(self, zones: Zones, slot: float) -> None:
        self.shadows = ShadowAdmissions(zones, slot, ALPHAS)
        self.earned = [Earnings() for _ in ALPHAS]
        self.lead = FIRST_LEAD

    @property
    def alpha(self) -> float:
        """The alpha that leads."""
        return ALPHAS[self.lead]

    def offer(self, request: ClusterRequest, first: int, last: int, value_ratio: float) -> None:
        """Give every shadow an offer that the real admission has decided, at that U; the lead may change."""
        accepted = self.shadows.offer(request, first, last, value_ratio)
        for earned, is_accepted in zip(self.earned, accepted, strict=True):
            earned.upto(request.arrival)
            earned.total *= DECAY
            if is_accepted:
                earned.accept(request)
        totals = [earned.total for earned in self.earned]
        best = max(range(len(totals)), key=totals.__getitem__)
        if totals[best] > totals[self.lead] * (1 + MARGIN):
            self.lead = best

    def release(self, name: str, until: float) -> None:
        """End a request early in every shadow that has accepted it. It still earns its whole value."""
        self.shadows.release(name, until)

    def data(self) -> dict[str, Any]:
        """As plain data."""
        return {"shadows": self.shadows.data(), "earned": [earned.data() for earned in self.earned], "lead": self.lead}

    def fill(self, data: Mapping[str, Any], value_ratio: float) -> None:
        """Continue from the data of a snapshot."""
        self.shadows.fill(data["shadows"], value_ratio)
        self.earned = [Earnings(*earned) for earned in data["earned"]]
        self.lead = int(data["lead"])
        if len(self.earned) != len(ALPHAS) or not 0 <= self.lead < len(ALPHAS):
            raise ValueError(f"expected {len(ALPHAS)} rehearsals, and one of them in the lead")
