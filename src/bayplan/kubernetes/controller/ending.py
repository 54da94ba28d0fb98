"""The orderly end of a process: asked for by a signal, over when its grace is."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from bayplan.errors import WorldError
from bayplan.kubernetes.controller.election import steady_clock
from bayplan.model.interrupt import StopFlag

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class GraceOverError(WorldError):
    """The process was asked to end, and what it had begun did not come to its end in time: it is cancelled."""


class Ending:
    """Was the process asked to end, and how long may it still take?"""

    def __init__(self, grace: float, clock: Callable[[], float] = steady_clock) -> None:
        self.grace, self._clock = grace, clock
        self._deadline: float | None = None

    def ask(self) -> None:
        """Ask for the end; asked again, the deadline stays."""
        if self._deadline is None:
            self._deadline = self._clock() + self.grace

    @property
    def asked(self) -> bool:
        """Was it asked for?"""
        return self._deadline is not None

    @property
    def left(self) -> float:
        """Seconds until everything must have ended; infinite while nothing was asked."""
        return float("inf") if self._deadline is None else self._deadline - self._clock()

    def expect_time(self) -> None:
        """GraceOverError if there is no time left."""
        if self.left <= 0:
            raise GraceOverError(f"asked to end {self.grace:g} s ago: what has not ended is cancelled")


@contextmanager
def ended_by_signals(ending: Ending, flag: StopFlag) -> Iterator[None]:
    """Within, SIGTERM and the first Ctrl-C ask for the end, and stop a method that is solving; a second Ctrl-C ends at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def ask(number: int, frame: FrameType | None) -> None:
        ending.ask()
        flag.requested = True
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, before[signal.SIGINT])

    for number in SIGNALS:
        signal.signal(number, ask)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
