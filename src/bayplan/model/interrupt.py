"""Ctrl-C as a request, not as an exception: the method ends in order and gives its best so far."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopFlag:
    """Was it requested to stop?"""

    def __init__(self) -> None:
        self.requested = False


_current: list[StopFlag] = []  # the one that listens now, if any


def listening() -> StopFlag | None:
    """The flag that Ctrl-C sets now; None outside of `stoppable`."""
    return _current[0] if _current else None


def stop_requested() -> bool:
    """Has the user pressed Ctrl-C within the `stoppable` block that runs now?"""
    return bool(_current) and _current[0].requested


@contextmanager
def set_aside() -> Iterator[None]:
    """Within, an earlier Ctrl-C does not count: for what makes an answer of the best so far. A second one ends everything."""
    flag = listening()
    requested = flag is not None and flag.requested
    if flag is not None:
        flag.requested = False
    try:
        yield
    finally:
        if flag is not None:
            flag.requested |= requested


@contextmanager
def stoppable() -> Iterator[StopFlag]:
    """Within, the first Ctrl-C only sets `requested`; the second one does what Ctrl-C did before.

    Blocks within a block share one flag, so that the caller of a method sees what the method saw. Outside of the main thread,
    where signals cannot be handled, the flag of the main thread is given, or one that is never set.
    """
    if _current or threading.current_thread() is not threading.main_thread():
        yield _current[0] if _current else StopFlag()
        return
    stop = StopFlag()
    before = signal.getsignal(signal.SIGINT)

    def request(number: int, frame: FrameType | None) -> None:
        stop.requested = True
        signal.signal(signal.SIGINT, before)

    _current.append(stop)
    signal.signal(signal.SIGINT, request)
    try:
        yield stop
    finally:
        _current.clear()
        signal.signal(signal.SIGINT, before)
