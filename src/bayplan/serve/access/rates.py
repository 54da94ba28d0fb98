"""How fast one client may ask: a bucket of tokens for each name, that fills at the stated rate."""

import time
from collections.abc import Callable

BURST = 2.0  # seconds of the rate that may come at once
MOST_NAMES = 10_000


class Rates:
    """One bucket for each name. Used by one thread: that of the event loop."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self._clock = rate, clock
        self._most = max(1.0, BURST * rate)
        self._buckets: dict[str, tuple[float, float]] = {}  # name -> what was left, and when

    def allows(self, name: str) -> bool:
        """May this client ask once more now? Counts it if so."""
        now = self._clock()
        left, at = self._buckets.get(name, (self._most, now))
        left = min(self._most, left + (now - at) * self.rate)
        if left < 1.0:
            return False
        if name not in self._buckets and len(self._buckets) >= MOST_NAMES:
            self._forget_full(now)
        self._buckets[name] = (left - 1.0, now)
        return True

    def _forget_full(self, now: float) -> None:
        """Drop buckets that are full again, or else all: what is dropped is only forgiven."""
        kept = {name: (left, at) for name, (left, at) in self._buckets.items() if left + (now - at) * self.rate < self._most}
        self._buckets = kept if len(kept) < MOST_NAMES else {}
