"""An orchestrator that may be used only while its user holds the right to act: asked before every call, not once per turn."""

from collections.abc import Callable, Sequence

from bayplan.operate.orchestrator import Observation, Orchestrator, StepOrder, StepReport

SLICE = 1.0  # seconds of one wait
WATCH = 5.0  # seconds of one watch: it ends early when something happens


class GuardedOrchestrator:
    """The same port. `expect` raises when nothing more may be done; it is also called between the parts of a long wait."""

    def __init__(self, inner: Orchestrator, expect: Callable[[], None]) -> None:
        self.inner, self.expect = inner, expect

    def now(self) -> float:
        """The time."""
        return self.inner.now()

    def wait(self, seconds: float) -> None:
        """Let time pass, in parts."""
        left = seconds
        self.expect()
        while left > 0:
            part = min(left, SLICE)
            self.inner.wait(part)
            left -= part
            self.expect()

    def observe(self) -> Observation:
        """What runs where."""
        self.expect()
        return self.inner.observe()

    def prepare(self, reservation: str, orders: Sequence[StepOrder], until: float) -> None:
        """Reserve for the steps of a batch."""
        self.expect()
        self.inner.prepare(reservation, orders, until)

    def release(self, reservation: str) -> None:
        """End a reservation."""
        self.expect()
        self.inner.release(reservation)

    def execute(self, order: StepOrder) -> StepReport:
        """Begin a step."""
        self.expect()
        return self.inner.execute(order)

    def watch(self, tokens: Sequence[str], seconds: float) -> Sequence[StepReport]:
        """Wait for the end of a step; for a few seconds only, so that the right to act is looked at in between."""
        self.expect()
        return self.inner.watch(tokens, min(seconds, WATCH))

    def cancel(self, token: str) -> StepReport:
        """Give a step up."""
        self.expect()
        return self.inner.cancel(token)
