"""Ctrl-C that is not lost: Python swallows an interrupt that arrives inside of a destructor or a C callback."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 0.5  # seconds until the interrupt is raised once more, if nobody has caught it


@contextmanager
def stubborn_interrupts() -> Iterator[None]:
    """Within, SIGINT raises KeyboardInterrupt again and again until the block is left."""
    try:
        old = signal.signal(signal.SIGINT, _interrupt), signal.signal(signal.SIGALRM, _interrupt)
    except (ValueError, AttributeError):  # not the main thread, or a system without SIGALRM
        yield
        return
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGINT, old[0])
        signal.signal(signal.SIGALRM, old[1])


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.setitimer(signal.ITIMER_REAL, AGAIN)
    raise KeyboardInterrupt
