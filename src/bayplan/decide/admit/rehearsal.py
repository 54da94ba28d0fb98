"""Which alpha earns most: the stream so far is rehearsed with several, beside the real admission.

001 sums the prices of all resources and slots of a request, but takes U from its largest use alone. So with the alpha of the
one-shot method prices are far too high: what is worth least is refused although there is room. How much too high depends on the
stream. Each rehearsal hears every offer, has zones of its own and one alpha, and places greedily. An accepted request earns its
value evenly during its interval, so that long requests of little value do not look good before their time. The real admission
takes the alpha of the rehearsal that has earned most; another takes the lead only if it is ahead by a margin.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from bayplan.decide.admit.signature import AdmitOptions
from bayplan.decide.admit.verdict import Verdict
from bayplan.errors import InputError
from bayplan.model import ClusterRequest

ALPHAS = (1.0, 16.0, 256.0, 4096.0, 65536.0, 1048576.0)  # with the last, nearly all that fits is let in
FIRST = 2  # which of them leads at the beginning
MARGIN = 0.02  # by which another has to be ahead
KEPT = 0.999  # of what was earned before, at each offer: about a thousand offers are remembered


class Rehearsed(Protocol):
    """An admission of its own."""

    def offer(self, request: ClusterRequest) -> Verdict:
        """Accepted or not."""
        ...

    def release(self, name: str, at: float | None = None) -> None:
        """End a request early."""
        ...

    def snapshot(self) -> dict[str, Any]:
        """As plain data."""
        ...


Make = Callable[[AdmitOptions], Rehearsed]


class Earnings:
    """What accepted requests have earned up to a time, each its value evenly over its interval."""

    def __init__(
        self, total: float = 0.0, rate: float = 0.0, since: float | None = None, changes: Sequence[Sequence[float]] = ()
    ) -> None:
        self.total, self.rate, self.since = total, rate, since
        self.changes = [(time, change) for time, change in changes]  # heap of (time, change of the rate)

    def let_in(self, request: ClusterRequest) -> None:
        """It earns from its start on."""
        rate = request.value / (request.end - request.start)
        heapq.heappush(self.changes, (request.start, rate))
        heapq.heappush(self.changes, (request.end, -rate))

    def upto(self, time: float) -> float:
        """All that is remembered of what was earned until then."""
        while self.changes and self.changes[0][0] <= time:
            at, change = heapq.heappop(self.changes)
            self._earn(at)
            self.rate = self.rate + change if self.changes else 0.0  # nobody is left: no rounding is, either
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
    """One admission per alpha, and who leads."""

    def __init__(self, make: Make, options: AdmitOptions) -> None:
        plain = replace(options, oneshot="greedy", literal=False)
        self.shadows = [make(replace(plain, alpha=alpha)) for alpha in ALPHAS]
        self.earned = [Earnings() for _ in ALPHAS]
        self.lead = FIRST

    @property
    def alpha(self) -> float:
        """Of the one that leads."""
        return ALPHAS[self.lead]

    def hear(self, request: ClusterRequest) -> None:
        """An offer that the real admission has judged."""
        for shadow, earned in zip(self.shadows, self.earned, strict=True):
            earned.upto(request.arrival)
            earned.total *= KEPT
            if _accepts(shadow, request):
                earned.let_in(request)
        totals = [earned.total for earned in self.earned]
        best = max(range(len(totals)), key=totals.__getitem__)
        if totals[best] > totals[self.lead] * (1 + MARGIN):
            self.lead = best

    def release(self, name: str, at: float | None) -> None:
        """Whoever has let it in ends it early, too. What it is worth is earned as before: the value stays accepted."""
        for shadow in self.shadows:
            try:
                shadow.release(name, at)
            except InputError:  # it was refused there
                continue

    def data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "shadows": [shadow.snapshot() for shadow in self.shadows],
            "earned": [earned.data() for earned in self.earned],
            "lead": self.lead,
        }

    def fill(self, data: Mapping[str, Any], restore: Callable[[Mapping[str, Any]], Rehearsed]) -> None:
        """The way back."""
        self.shadows = [restore(one) for one in data["shadows"]]
        self.earned = [Earnings(*one) for one in data["earned"]]
        self.lead = int(data["lead"])
        if len(self.shadows) != len(ALPHAS) or len(self.earned) != len(ALPHAS) or not 0 <= self.lead < len(ALPHAS):
            raise ValueError(f"expected {len(ALPHAS)} rehearsals, and one of them in the lead")


def _accepts(shadow: Rehearsed, request: ClusterRequest) -> bool:
    """A name that still runs here, though it is free in the real admission, counts as refused."""
    try:
        return shadow.offer(request).accepted
    except InputError:
        return False
