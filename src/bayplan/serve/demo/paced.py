"""A simulated cluster whose time passes while people look at it: fast, but not at once."""

import math
import time
from collections.abc import Callable, Sequence

from bayplan.operate.orchestrator import Observation, StepOrder, StepReport
from bayplan.operate.simulated import SimulatedOrchestrator

SLICE = 0.1  # seconds of a person's time after which is looked again how fast it is to be


class PacedOrchestrator:
    """A simulated orchestrator that waits, in a person's time too: `pace` says how many of its seconds pass in one of theirs.

    `looked` is called after each slice of time, with the cluster at rest.
    """

    def __init__(
        self,
        inner: SimulatedOrchestrator,
        pace: Callable[[], float],
        looked: Callable[[], None] = lambda: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.inner, self._pace, self._looked, self._sleep = inner, pace, looked, sleep

    def now(self) -> float:
        """The virtual time."""
        return self.inner.now()

    def wait(self, seconds: float) -> None:
        """Let virtual time pass, slice by slice."""
        left = seconds
        while left > 0:
            pace = self._pace()
            part = left if math.isinf(pace) else min(left, SLICE * pace)
            self.inner.wait(part)
            self._rest(part, pace)
            left -= part

    def watch(self, tokens: Sequence[str], seconds: float) -> Sequence[StepReport]:
        """Wait until a step has ended; a person waits, too."""
        began, pace = self.inner.now(), self._pace()
        reports = self.inner.watch(tokens, seconds)
        self._rest(self.inner.now() - began, pace)
        return reports

    def _rest(self, virtual: float, pace: float) -> None:
        if not math.isinf(pace):
            self._sleep(virtual / pace)
        self._looked()

    def observe(self) -> Observation:
        """The cluster as it is."""
        return self.inner.observe()

    def prepare(self, reservation: str, orders: Sequence[StepOrder], until: float) -> None:
        """Reserve for these orders until a time."""
        self.inner.prepare(reservation, orders, until)

    def release(self, reservation: str) -> None:
        """End a reservation."""
        self.inner.release(reservation)

    def execute(self, order: StepOrder) -> StepReport:
        """Begin a step."""
        return self.inner.execute(order)

    def cancel(self, token: str) -> StepReport:
        """Give a step up."""
        return self.inner.cancel(token)
