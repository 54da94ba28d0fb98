"""Ctrl-C as a wish, not as an exception: a method that is asked to stop ends in order and gives its best so far."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """Has somebody asked to stop?"""

    def __init__(self) -> None:
        self.asked = False


_current: list[Stop] = []  # the one that listens now, if any


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Within, the first Ctrl-C only sets `asked`; the second one does what Ctrl-C did before.

    Blocks within a block share one flag, so that who calls a method sees what the method saw. Outside of the main thread,
    where signals cannot be handled, the flag of the main thread is given, or one that nobody sets.
    """
    if _current or threading.current_thread() is not threading.main_thread():
        yield _current[0] if _current else Stop()
        return
    stop = Stop()
    before = signal.getsignal(signal.SIGINT)

    def ask(number: int, frame: FrameType | None) -> None:
        stop.asked = True
        signal.signal(signal.SIGINT, before)

    _current.append(stop)
    signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        _current.clear()
        signal.signal(signal.SIGINT, before)
