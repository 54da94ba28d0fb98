"""Ctrl-C that is not lost: Python swallows an interrupt that arrives inside of a destructor or a C callback."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 0.5  # seconds until the interrupt is raised once more, if it was not caught


@contextmanager
def stubborn_interrupts() -> Iterator[None]:
    """Within, SIGINT raises KeyboardInterrupt again and again until the block is left."""
    if not _ours():
        yield
        return
    old = signal.signal(signal.SIGINT, _interrupt), signal.signal(signal.SIGALRM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old[0])  # first: from here on nothing sets the timer again
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old[1])


def _ours() -> bool:
    """May we handle signals? Not in another thread, not without SIGALRM, not while the caller uses the timer."""
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "SIGALRM") and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.setitimer(signal.ITIMER_REAL, AGAIN)
    raise KeyboardInterrupt
